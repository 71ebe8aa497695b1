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

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// TestRouter_Golden explains addresses on the worked example, with an announced
// generation and a floor, and compares what a user would see.
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
	if r.Map() != m {
		t.Error("Map is not the router's map")
	}
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
		if err != nil || route.Cell != e.cell || route.Position != e.id.Position() {
			t.Errorf("%v: %+v, %v, want %v", e.id, route, err, e.cell)
		}
	}
}
