// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"log/slog"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// Ids of keys that are near each other lie side by side if they are minted at one time, and always in the cell of their
// key.
func TestMint_GathersWhatComesTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, err := cell.NewMap(cell.Spec{ID: "m",
			Generations: []cell.Generation{{Cells: rapid.Uint64Range(1, 100_000).Draw(t, "cells")}}})
		if err != nil {
			t.Fatal(err)
		}
		now := time.UnixMilli(rapid.Int64Range(0, 1<<47).Draw(t, "now"))
		mint, err := NewMint(locality.Node{}, func() time.Time { return now }, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		position := rapid.Uint32().Draw(t, "position")
		segment := m.Segment(m.Home(position), position)
		least, most := uint32(1<<32-1), uint32(0)
		for range 32 {
			id, err := mint(entity.Ref{}, segment)
			if err != nil || !segment.Contains(id) {
				t.Fatalf("%v in %+v: %v", id, segment, err)
			}
			least, most = min(least, id.Position()), max(most, id.Position())
		}
		if most-least >= 8192 {
			t.Fatalf("ids from %#x to %#x", least, most)
		}
	})
}

// Within some hours ids are minted in every part of a segment, and in any four successive periods in each quarter.
func TestMint_CoversTheSegment(t *testing.T) {
	t.Parallel()
	segment := locality.Segment{Lo: 5 << 23, Hi: 6 << 23}
	parts, quarters := map[uint32]bool{}, map[uint32]bool{}
	for i := range int64(1024) {
		part := gathered(segment, time.UnixMilli(1_700_000_000_000+8192*i))
		if part.Lo < segment.Lo || part.Hi > segment.Hi || part.Hi-uint64(part.Lo) != 8192 {
			t.Fatalf("period %d: %+v", i, part)
		}
		parts[part.Lo] = true
		if quarters[part.Lo>>21] = true; i%4 == 3 {
			if len(quarters) != 4 {
				t.Fatalf("periods up to %d are in %d quarters", i, len(quarters))
			}
			clear(quarters)
		}
	}
	if len(parts) != 1024 {
		t.Errorf("%d parts, want 1024", len(parts))
	}
	if narrow := (locality.Segment{Lo: 7, Hi: 4000}); gathered(narrow, time.Now()) != narrow {
		t.Error("a segment below the size of a part is divided")
	}
}
