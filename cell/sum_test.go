// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"testing"

	"github.com/locus-db/locus/cell"
)

// Checksums are stored: these vectors must never change. The first is also in the migrations.
func TestSum_Vectors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values []any
		want   int64
	}{
		{[]any{int64(1), int64(0)}, 4179911394},
		{nil, 0},
		{[]any{nil}, 3152373923},
		{[]any{"a", []byte("a"), int64(-1)}, 55042890},
	} {
		if got := cell.Sum(test.values...); got != test.want {
			t.Errorf("the sum of %v is %d, want %d", test.values, got, test.want)
		}
	}
}

// A row without a checksum is damaged; columns in Apart do not count.
func TestTable_Intact(t *testing.T) {
	t.Parallel()
	table := cell.Table{Columns: []string{"id", "body", "anchor", "sum"}, Key: 1, Apart: []string{"anchor"}}
	sum := cell.Sum(int64(1), "b")
	for name, test := range map[string]struct {
		row  []any
		want bool
	}{
		"as written":     {[]any{int64(1), "b", int64(7), sum}, true},
		"another anchor": {[]any{int64(1), "b", int64(8), sum}, true},
		"another body":   {[]any{int64(1), "c", int64(7), sum}, false},
		"another key":    {[]any{int64(2), "b", int64(7), sum}, false},
		"another sum":    {[]any{int64(1), "b", int64(7), sum ^ 1}, false},
		"no sum":         {[]any{int64(1), "b", int64(7), nil}, false},
	} {
		if got := table.Intact(test.row); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
