// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/rollup"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newCell()
	d := definitions(`{ rollup: a, kind: k, group: g }`)[0]
	now := time.UnixMilli(1)
	says := func(what string, serving, next, last int64) {
		t.Helper()
		var got [3]int64
		if r := c.rollups["a"]; true {
			got[2] = r.Last
			if r.Serving != nil {
				got[0] = r.Serving.Generation
			}
			if r.Next != nil {
				got[1] = r.Next.Generation
			}
		}
		if got != [3]int64{serving, next, last} {
			t.Errorf("%s: serving, next and last are %v", what, got)
		}
	}
	define := func(d rollup.Definition, want bool) {
		t.Helper()
		if _, changed, err := rollup.Define(ctx, c, d, now); changed != want || err != nil {
			t.Errorf("Define = %v, %v", changed, err)
		}
	}
	if _, err := rollup.Rebuild(ctx, c, "a", now); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("Rebuild of nothing: %v", err)
	}
	define(d, true)
	define(d, false)
	says("defined", 0, 1, 1)
	if ok, err := rollup.CutOver(ctx, c, "a", 1); !ok || err != nil {
		t.Error(ok, err)
	}
	says("cut over", 1, 0, 1)
	if ok, err := rollup.CutOver(ctx, c, "a", 1); ok || err != nil {
		t.Error(ok, err)
	}
	define(d, false)
	other := d
	other.Name = "b"
	define(other, true)
	if c.rollups["b"].Last != 2 {
		t.Errorf("the other rollup is %+v", c.rollups["b"])
	}
	d.Group = []string{"h"}
	define(d, true)
	says("defined anew", 1, 3, 3)
	if r, err := rollup.Rebuild(ctx, c, "a", now); err != nil || r.Next.Generation != 4 || !r.Next.Definition.Equal(d) {
		t.Errorf("Rebuild = %+v, %v", r, err)
	}
	if ok, err := rollup.CutOver(ctx, c, "a", 3); ok || err != nil {
		t.Errorf("an abandoned generation serves: %v", err)
	}
	if err := rollup.Drop(ctx, c, "a"); err != nil {
		t.Fatal(err)
	}
	says("dropped", 0, 0, 4)
	if err := rollup.Drop(ctx, c, "a"); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("Drop of nothing: %v", err)
	}
	define(d, true)
	says("defined again", 0, 5, 5)
	all := rollup.Catalog(sorted(c.rollups))
	if _, err := all.Rollup("c"); !errors.Is(err, rollup.ErrNotFound) || all.Highest() != 5 {
		t.Errorf("the highest number is %d, rollup c: %v", all.Highest(), err)
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	generation := func(number int64, state rollup.State, g rollup.Generation) rollup.Generation {
		g.Number, g.State = number, state
		return g
	}
	for name, c := range map[string]struct {
		have      []rollup.Generation
		want      bool
		frozenFor int64
	}{
		"nothing is there": {nil, false, 0},
		"the next is being built": {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{}),
			generation(2, rollup.Building, rollup.Generation{Watermark: 9})}, false, 0},
		"the next failed": {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{}),
			generation(2, rollup.Failed, rollup.Generation{Watermark: 9})}, false, 0},
		"the next is behind": {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{Watermark: 9}),
			generation(2, rollup.Following, rollup.Generation{Watermark: 8})}, false, 0},
		"both are there": {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{Watermark: 9}),
			generation(2, rollup.Following, rollup.Generation{Watermark: 9})}, true, 2},
		"again":                   {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{Watermark: 9, FrozenFor: 2}), generation(2, rollup.Following, rollup.Generation{Watermark: 8})}, true, 2},
		"the old one is not here": {[]rollup.Generation{generation(2, rollup.Following, rollup.Generation{})}, true, 0},
		"the old one failed": {[]rollup.Generation{generation(1, rollup.Failed, rollup.Generation{Watermark: 5}),
			generation(2, rollup.Following, rollup.Generation{Watermark: 9})}, true, 2},
		"a damaged watermark": {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{Watermark: 4105}),
			generation(2, rollup.Following, rollup.Generation{Watermark: 9})}, true, 2},
		"and the next is behind": {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{Watermark: 4105}),
			generation(2, rollup.Following, rollup.Generation{Watermark: 8})}, false, 0},
		"it waits for another": {[]rollup.Generation{generation(1, rollup.Following, rollup.Generation{FrozenFor: 3}),
			generation(2, rollup.Following, rollup.Generation{Watermark: 9})}, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cell := newCell()
			cell.bounds.Last = 9
			for _, g := range c.have {
				cell.generations[g.Number] = g
			}
			got, err := rollup.Freeze(t.Context(), cell, 1, 2)
			if got != c.want || err != nil || cell.generations[1].FrozenFor != c.frozenFor {
				t.Errorf("Freeze = %v, %v; the old one is frozen for %d", got, err, cell.generations[1].FrozenFor)
			}
		})
	}
}
