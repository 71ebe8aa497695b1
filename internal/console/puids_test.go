// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/locality"
)

func parseID(t testing.TB, s string) locality.ID {
	t.Helper()
	parsed, err := locality.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// No two ranges at one start share a column, and each cell's range is drawn.
func TestStrip_NoTwoRangesShareAColumn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		counts := []uint64{rapid.Uint64Range(1, 20).Draw(rt, "cells")}
		for range rapid.IntRange(1, 8).Draw(rt, "generations") {
			counts = append(counts, counts[len(counts)-1]*rapid.Uint64Range(1, 3).Draw(rt, "times"))
		}
		m := newGrown(t, 0, counts...)
		columns, names := map[string]string{}, map[string]bool{}
		for _, shelf := range console.NewStrip(m, nil).Shelves {
			for _, b := range shelf.Boxes {
				left, err := strconv.ParseFloat(b.X, 64)
				width, err2 := strconv.ParseFloat(b.W, 64)
				if err != nil || err2 != nil || left < 0 || left+width > 640.1 {
					rt.Errorf("a range at %s, %s wide", b.X, b.W)
				}
				if other, taken := columns[b.X]; taken {
					rt.Errorf("two ranges stand at %s: %s and %s", b.X, other, b.Name.Text)
				}
				columns[b.X], names[b.Name.Text] = b.Name.Text, true
			}
		}
		start := m.Count(m.Generations()-1) / m.Count(0) % m.Count(m.Generations()-1)
		for _, s := range m.Slots(start) {
			if s.Cell != nil && !names[s.Cell.String()] {
				rt.Errorf("%v is not drawn among %v", s.Cell, names)
			}
		}
	})
}

func TestStrip_OfOneCell(t *testing.T) {
	t.Parallel()
	page := ringOf(newMap(t, 1))
	page.From = cell.ID{Gen: 7} // of another map
	root := renderRing(t, page)
	if n := carrying(root, "cells"); n != 2 || !strings.Contains(text(root), "all ids: this map cannot grow") {
		t.Errorf("%d ranges, want a box with its name", n)
	}
}
