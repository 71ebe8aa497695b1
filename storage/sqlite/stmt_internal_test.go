// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"slices"
	"strings"
	"testing"
)

// A statement reads back what it was given, and refuses other numbers and types of values. Values of a run that never
// began are not in the next one.
func TestStmt_Binds(t *testing.T) {
	t.Parallel()
	c := openCell(t)
	w := <-c.writer
	defer func() { c.writer <- w }()
	s, err := w.prepare("SELECT ?, ?, ?, ?, ?, ?")
	if err != nil {
		t.Fatal(err)
	}
	read := func(values ...any) (got []any, err error) {
		return got, s.query(t.Context(), func(r row) error { got = r.all(); return nil }, values...)
	}
	long := strings.Repeat("long", keptMemory)
	for _, values := range [][]any{
		{int64(-1), "text", []byte("blob"), nil, "", []byte{}},
		{long, int64(0), []byte(long), "", nil, "end"},
	} {
		w.list.add("of a run that never began")
		got, err := read(values...)
		if err != nil || !slices.EqualFunc(got, values, func(a, b any) bool {
			x, isBlob := a.([]byte)
			y, _ := b.([]byte)
			return isBlob && y != nil && string(x) == string(y) || !isBlob && a == b
		}) {
			t.Errorf("%.60v, %v", got, err)
		}
	}
	if got, err := read([]byte(nil), nil, nil, nil, nil, nil); err != nil || got[0] != nil {
		t.Errorf("no bytes are %v, %v, and not NULL", got, err)
	}
	for _, values := range [][]any{{}, {nil, nil, nil, nil, nil}, {nil, nil, nil, nil, nil, 1.5}, {nil, nil, nil, nil, nil, true}} {
		if _, err := read(values...); err == nil {
			t.Errorf("%v is taken", values)
		}
	}
	if cap(w.list.bytes) > keptMemory {
		t.Errorf("%d bytes are kept", cap(w.list.bytes))
	}
}
