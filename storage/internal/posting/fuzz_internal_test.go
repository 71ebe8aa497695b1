// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// FuzzChunk decodes any bytes; if they are accepted, encoding gives the same bytes.
func FuzzChunk(f *testing.F) {
	f.Add(packed(nil))
	f.Add(packed([]entry{{place{1, -1}, false}, {place{1, 2}, true}, {place{math.MaxInt64, math.MinInt64}, false}}))
	f.Fuzz(func(t *testing.T, body []byte) {
		entries, err := unpacked(body)
		if err != nil {
			return
		}
		if !slices.IsSortedFunc(entries, func(a, b entry) int { return a.compare(b.place) }) {
			t.Fatalf("%v", entries)
		}
		if again := packed(entries); !bytes.Equal(again, body) {
			t.Fatalf("%x is written as %x", body, again)
		}
	})
}

// FuzzState does the same with the row of the state and parts of indexes.
func FuzzState(f *testing.F) {
	rows := newMemory()
	if err := New(rows, &Cache{}, true).Post(f.Context(), drawn(3000), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(rows.state.Body)
	for _, row := range rows.chunks {
		f.Add(row.Body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if s, err := parseState(body); err == nil && len(body) > 0 {
			if again, err := parseState(s.marshal()); err != nil || !slices.Equal(again.runs, s.runs) {
				t.Fatalf("%+v is read as %+v, %v", s, again, err)
			}
		}
		var x index
		if x.add(body) == nil {
			x.within(place{1, 2})
		}
	})
}
