// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
)

func TestID_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := cell.ID{Gen: rapid.Uint16().Draw(t, "gen"), Index: rapid.Uint32().Draw(t, "index")}
		if back, err := cell.ParseID(id.String()); err != nil || back != id {
			t.Fatalf("ParseID(%q) = %v, %v", id, back, err)
		}
		text, err := json.Marshal(map[cell.ID]cell.ID{id: id})
		if want := `{"` + id.String() + `":"` + id.String() + `"}`; err != nil || string(text) != want {
			t.Fatalf("Marshal = %s, %v, want %s", text, err, want)
		}
		var back map[cell.ID]cell.ID
		if err := json.Unmarshal(text, &back); err != nil || back[id] != id {
			t.Fatalf("Unmarshal(%s) = %v, %v", text, back, err)
		}
	})
}

func TestID_Text(t *testing.T) {
	t.Parallel()
	for want, id := range map[string]cell.ID{
		"g0-0":              {},
		"g1-19":             {Gen: 1, Index: 19},
		"g65535-4294967295": {Gen: math.MaxUint16, Index: math.MaxUint32},
	} {
		if id.String() != want {
			t.Errorf("String = %s, want %s", id, want)
		}
	}
}

func TestParseID_Refuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "g", "g1", "g1-", "g-1", "1-19", "G1-19", "g01-19", "g1-019", "g+1-19", "g1--19", "g1-19 ", " g1-19", "g1-19-2", "g65536-0", "g0-4294967296", "g1_19", "g1-1_9"} {
		if id, err := cell.ParseID(s); !errors.Is(err, cell.ErrID) {
			t.Errorf("ParseID(%q) = %v, %v, want ErrID", s, id, err)
		}
	}
	id := cell.ID{Gen: 1, Index: 2}
	if err := id.UnmarshalText([]byte("x")); err == nil || id.Gen != 1 {
		t.Errorf("UnmarshalText: %v, left %v", err, id)
	}
}

func TestID_Compare(t *testing.T) {
	t.Parallel()
	ids := []cell.ID{{Gen: 2}, {Gen: 1, Index: 9}, {Gen: 0, Index: 10}, {Gen: 1, Index: 10}, {}}
	slices.SortFunc(ids, cell.ID.Compare)
	want := []cell.ID{{}, {Index: 10}, {Gen: 1, Index: 9}, {Gen: 1, Index: 10}, {Gen: 2}}
	if !slices.Equal(ids, want) {
		t.Errorf("sorted: %v, want %v", ids, want)
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{"g1-19", "g0-0", "g65535-4294967295", "g1-+1", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := cell.ParseID(s); err == nil && id.String() != s {
			t.Fatalf("ParseID(%q) = %v", s, id)
		}
	})
}
