// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// TestRouter_Golden explains addresses on the worked example, with an announced generation and a floor, and compares
// the output.
func TestRouter_Golden(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Current, spec.Floor, spec.Until = 2, 1, ms(1800000000000)
	for i := range spec.Generations {
		spec.Generations[i].URLs = []string{"sqlite:cells/g{g}-{i}.db"}
	}
	r := cell.NewRouter(newMap(t, spec))
	datadriven.RunTest(t, "testdata/route", func(t *testing.T, d *datadriven.TestData) string {
		var answer any
		var err error
		switch input := strings.TrimSpace(d.Input); d.Cmd {
		case "key":
			source, key, _ := strings.Cut(input, " ")
			answer = r.ExplainKey(source, key)
		case "puid":
			var puid int64
			if puid, err = strconv.ParseInt(input, 10, 64); err != nil {
				t.Fatal(err)
			}
			answer, err = r.ExplainPuid(puid)
		case "id":
			answer, err = r.ExplainEntity(locality.MustParse(input))
		}
		text, jsonErr := json.MarshalIndent(answer, "", "  ")
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		if err != nil {
			return fmt.Sprintf("%s\nerror: %v\n", text, err)
		}
		return string(text) + "\n"
	})
}

func TestRouter_AgreesWithTheMap(t *testing.T) {
	t.Parallel()
	m := example(t)
	r := cell.NewRouter(m)
	for _, v := range hashVectors(t) {
		route := r.ExplainKey(v.Source, v.Key)
		k := m.KeyOf(v.Source, v.Key)
		if route.Hash != v.Hash || route.Position != v.Position || route.Ring != k.Ring || route.Cost != 4 {
			t.Errorf("%s: %+v", v.Note, route)
		}
		for i, p := range route.Probes {
			if want := m.Key(3-i, k.Position()); p.Cell != want || uint64(v.Position) < p.Lo || uint64(v.Position) >= p.Hi {
				t.Errorf("%s: probe %d is %+v, want %v", v.Note, i, p, want)
			}
		}
		if want := m.Segment(route.Probes[0].Cell, k.Position()); route.Mint != want {
			t.Errorf("%s: mint in %+v, want %+v", v.Note, route.Mint, want)
		}
	}
	for _, c := range m.Cells() {
		lo, hi := m.PuidRange(c)
		for _, p := range []int64{lo, hi} {
			route, err := r.ExplainPuid(p)
			if err != nil || route.Cell != c || *route.Puids != (cell.Range{Lo: lo, Hi: hi}) || route.Cost != 0 {
				t.Errorf("puid %d of %v: %+v, %v", p, c, route, err)
			}
		}
	}
	if route, err := r.ExplainPuid(-1); !errors.Is(err, cell.ErrNoCell) || route.Place != nil || route.Why == "" {
		t.Errorf("puid -1: %+v, %v, want ErrNoCell", route, err)
	}
	for _, e := range exampleIDs {
		route, err := r.ExplainEntity(e.id)
		if err != nil || route.Cell != e.cell || route.Position != e.id.Position() ||
			route.Layers[e.cell.Gen].Cell != e.cell {
			t.Errorf("%v: %+v, %v, want %v", e.id, route, err, e.cell)
		}
	}
}

// grown is the worked example with every role: generation 0 retired, 1 older, 2 current, 3 announced.
func grown(t *testing.T) *cell.Map {
	t.Helper()
	spec := exampleSpec()
	spec.Current, spec.Floor, spec.Until = 2, 1, ms(1800000000000)
	return newMap(t, spec)
}

func TestMap_LayersAreTheCellsOfAPosition(t *testing.T) {
	t.Parallel()
	m := grown(t)
	roles := []cell.Role{cell.RoleRetired, cell.RoleOlder, cell.RoleCurrent, cell.RoleAnnounced}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Uint32().Draw(t, "position")
		layers := m.Layers(at)
		if len(layers) != m.Generations() {
			t.Fatalf("%d layers of %d generations", len(layers), m.Generations())
		}
		for g, l := range layers {
			lo, hi := m.PuidRange(l.Cell)
			if l.Puids != (cell.Range{Lo: lo, Hi: hi}) || l.Cell != m.Key(g, at) || uint64(at) < l.Lo || uint64(at) >= l.Hi ||
				l.Cells != m.Count(g) || l.Role != roles[g] {
				t.Errorf("layer %d of %d is %+v", g, at, l)
			}
		}
	})
}

func TestMap_SlotsAreTheRangesOfOneStart(t *testing.T) {
	t.Parallel()
	m := grown(t)
	seen := map[cell.ID]bool{}
	for k := range m.Count(m.Generations() - 1) {
		slots := m.Slots(k)
		for g, s := range slots {
			if g > 0 && s.Lo != slots[g-1].Hi+1 {
				t.Errorf("range %d of start %d begins at %d, the one before ends at %d", g, k, s.Lo, slots[g-1].Hi)
			}
			if s.Cell == nil {
				if c, err := m.Puid(s.Lo + 1); err == nil {
					t.Errorf("range %d of start %d is %v's, want no cell", g, k, c)
				}
				continue
			}
			if lo, hi := m.PuidRange(*s.Cell); s.Lo != lo || s.Hi != hi || s.Gen != g {
				t.Errorf("range %d of start %d is %+v, want %d to %d", g, k, s, lo, hi)
			}
			seen[*s.Cell] = true
		}
	}
	if all := m.Cells(); len(seen) != len(all) {
		t.Errorf("%d cells have a range, of %d", len(seen), len(all))
	}
}

func TestKeyRoute_SawCountsWhatWasAskedAndSaved(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Current, spec.Until = 3, ms(1800000000000)
	route := cell.NewRouter(newMap(t, spec)).ExplainKey("vendor", "88231")
	if route.Cost != 4 || route.Asked != 0 || route.Saved != 0 || route.Probes[0].Answer != cell.AnswerNotAsked {
		t.Errorf("before anybody asked: %+v", route)
	}
	route.Saw(3, cell.Open, cell.AnswerNo)
	route.Saw(2, cell.Sealed, cell.AnswerFilterNo)
	route.Saw(1, cell.Sealed, cell.AnswerFound)
	route.Saw(7, cell.Sealed, cell.AnswerFound) // of a newer map
	if route.Asked != 2 || route.Saved != 1 {
		t.Errorf("asked %d, saved %d, want 2 and 1", route.Asked, route.Saved)
	}
	for i, want := range []cell.Probe{
		{State: "open", Asked: true, Answer: cell.AnswerNo},
		{State: "sealed", Answer: cell.AnswerFilterNo},
		{State: "sealed", Asked: true, Answer: cell.AnswerFound},
		{Answer: cell.AnswerNotAsked},
	} {
		if p := route.Probes[i]; p.State != want.State || p.Asked != want.Asked || p.Answer != want.Answer {
			t.Errorf("probe %d is %+v, want %+v", i, p, want)
		}
	}
	route.Saw(1, cell.Sealed, cell.AnswerUnavailable) // probed again: the last result counts
	if route.Asked != 2 || route.Probes[2].Answer != cell.AnswerUnavailable {
		t.Errorf("asked again: %+v", route)
	}
}

func TestRouter_ShowsNoSecrets(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	for i := range spec.Generations {
		spec.Generations[i].URLs = []string{"postgres://locus@db1:5432,db2:5433/locus_g{g}_{i}?sslpassword=hush&sslkey=hush"}
	}
	route := cell.NewRouter(newMap(t, spec)).ExplainKey("vendor", "88231")
	text, err := json.Marshal(route)
	if err != nil || strings.Contains(string(text), "hush") ||
		!strings.Contains(string(text), "postgres://locus@db1:5432,db2:5433/locus_g0_1\"") {
		t.Errorf("%s, %v", text, err)
	}
}
