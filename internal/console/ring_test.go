// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/console"
)

func TestBand_OfAQuarter(t *testing.T) {
	t.Parallel()
	// A quarter from the top to the right: outer edge clockwise, inner edge back.
	got := console.Band(cell.Arc{From: 0, To: 0.25}, 1)
	const want = "M161 12A148 148 0 0 1 264.65 55.35A148 148 0 0 1 308 159L252 159.38A92 92 0 0 0 225.05 94.95A92 92 0 0 0 160.62 68Z"
	if got != want {
		t.Errorf("Band = %s\n  want %s", got, want)
	}
}

func TestBand_OfNothingIsEmpty(t *testing.T) {
	t.Parallel()
	if got := console.Band(cell.Arc{From: 0, To: 0.25}, 0); got != "" {
		t.Errorf("Band = %s", got)
	}
}

func TestBand_OfOneCellIsAWholeRing(t *testing.T) {
	t.Parallel()
	got := console.Band(cell.Arc{From: 0, To: 1}, 1)
	if !strings.HasPrefix(got, "M160 12A148 148 0 0 1 160 308A148 148 0 0 1 160 12L") {
		t.Errorf("Band = %s", got)
	}
}

var coordinate = regexp.MustCompile(`-?[0-9.]+ -?[0-9.]+([ALZ]|$)`)

func TestBand_StaysInThePicture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.Uint64Range(1, 4096).Draw(t, "cells")
		i := rapid.Uint64Range(0, cells-1).Draw(t, "cell")
		full := rapid.Float64Range(0.001, 3).Draw(t, "full")
		arc := cell.Arc{From: float64(i) / float64(cells), To: float64(i+1) / float64(cells)}
		path := console.Band(arc, full)
		for _, pair := range coordinate.FindAllString(path, -1) {
			x, y, _ := strings.Cut(strings.TrimRight(pair, "ALZ"), " ")
			for _, text := range []string{x, y} {
				if v, err := strconv.ParseFloat(text, 64); err != nil || v < 0 || v > 320 {
					t.Fatalf("%s in %s: %v", text, path, err)
				}
			}
		}
	})
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		records, all int64
		want         float64
	}{
		{0, 0, 0},
		{0, 100, 0},
		{25, 100, console.Even},
		{50, 100, 1},
		{100, 100, 1},
		{5, 100, console.Even / 5},
		{math.MaxInt64 / 4, math.MaxInt64, console.Even},
	} {
		if got := console.Fill(c.records, c.all, 0.25); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Fill(%d of %d) = %v, want %v", c.records, c.all, got, c.want)
		}
	}
}

func TestOperations_RingAndTableSayTheSame(t *testing.T) {
	t.Parallel()
	for _, cells := range []uint64{1, 2, 16, 128} {
		s := snapshot(t, cells, 128000)
		root := render(t, renderOperations(s))
		for _, c := range s.Map.Cells() {
			row := text(byID(t, root, c.String()))
			for _, want := range []string{console.Count(128000 / int64(cells)), console.Percent(1, float64(cells)), "41.0 kB", "0.00000028 %"} {
				if !strings.Contains(row, want) {
					t.Errorf("%d cells: the row of %v is %q, without %q", cells, c, row, want)
				}
			}
		}
	}
}
