// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
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

// What the picture is for: no two ranges at one start stand in one column, and each cell's is there.
func TestStrip_NoTwoRangesShareAColumn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		counts := []uint64{rapid.Uint64Range(1, 20).Draw(rt, "cells")}
		for range rapid.IntRange(1, 8).Draw(rt, "generations") {
			counts = append(counts, counts[len(counts)-1]*rapid.Uint64Range(1, 3).Draw(rt, "times"))
		}
		m := newGrown(t, 0, counts...)
		page := ringOf(m)
		root := renderRing(t, page)
		columns, names := map[string]string{}, map[string]bool{}
		elements(root, func(n *html.Node) {
			class := strings.Join(classes(n), " ")
			if n.Data != "rect" || class != "cells" && class != "nobody" && class != "free" {
				return
			}
			x, _ := attribute(n, "x")
			width, _ := attribute(n, "width")
			left, err := strconv.ParseFloat(x, 64)
			w, err2 := strconv.ParseFloat(width, 64)
			if err != nil || err2 != nil || left < 0 || left+w > 640.1 {
				rt.Errorf("a range at %s, %s wide", x, width)
			}
			if other, taken := columns[x]; taken {
				rt.Errorf("two ranges stand at %s: %s and %s", x, other, class)
			}
			columns[x] = class
		})
		elements(root, func(n *html.Node) {
			if n.Data == "text" && strings.Join(classes(n), "") == "cells" {
				names[text(n)] = true
			}
		})
		last := m.Generations() - 1
		start := m.Count(last) / m.Count(0) % m.Count(last)
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
	if n := carrying(root, "cells"); n != 2 || !strings.Contains(text(root), "for ever: this map never grows") {
		t.Errorf("%d ranges, want a box with its name", n)
	}
}
