// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// failer is implemented by testing.T and rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
}

// counted returns a cell with these images, counted as generation 1.
func counted(t failer, d rollup.Definition, things ...changelog.Image) *cell {
	t.Helper()
	at := newCell()
	for i, im := range things {
		at.put(d.Over, int64(i), &im)
	}
	f := rollup.NewFollower(rollup.Options{Database: database(&at), Owner: "a", TTL: time.Hour, Now: func() time.Time { return time.UnixMilli(0) }})
	v := rollup.Version{Generation: 1, Definition: d}
	ctx := context.Background()
	if _, err := f.Step(ctx, rollup.Catalog{{Name: d.Name, Last: 1, Next: &v}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Build(ctx, v, nil); err != nil {
		t.Fatal(err)
	}
	return at
}

func partOf(t failer, c *cell, q rollup.Query) *rollup.Part {
	t.Helper()
	q.Generation = 1
	part, err := database(&c).Read(context.Background(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// The answer equals the oracle's regardless of how images are spread over cells, and the pages add up to the
// whole.
func TestMerge_ManyCellsAreLikeOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawDefinition(t, drawnAttributes, rapid.SampledFrom([]string{"a", "ears"}))
		var all []changelog.Image
		things := make([][]changelog.Image, rapid.IntRange(1, 4).Draw(t, "cells"))
		for range rapid.IntRange(0, 12).Draw(t, "things") {
			im, i := *drawImage(t), rapid.IntRange(0, len(things)-1).Draw(t, "cell")
			all, things[i] = append(all, im), append(things[i], im)
		}
		var cells []*cell
		var parts []*rollup.Part
		for _, of := range things {
			c := counted(t, d, of...)
			cells, parts = append(cells, c), append(parts, partOf(t, c, rollup.Query{}))
		}
		whole, more := rollup.Merge(&d, parts, 0)
		if got, want := shown(&d, whole), naive(&d, all); more || !slices.Equal(got, want) {
			t.Fatalf("%+v makes of %v\n%s\nwant\n%s", d, things, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		want, _ := json.Marshal(whole)

		var pages, single []rollup.Group
		limit := rapid.IntRange(1, 3).Draw(t, "limit")
		for q := (rollup.Query{}); ; {
			parts = nil
			for _, c := range cells {
				// A cell whose groups became empty during the read names fewer than requested.
				q.Limit = rapid.IntRange(1, limit).Draw(t, "named")
				parts = append(parts, partOf(t, c, q))
			}
			page, more := rollup.Merge(&d, parts, limit)
			if len(page) > limit || more && len(page) == 0 {
				t.Fatalf("a page has %d groups of %d, more: %v", len(page), limit, more)
			}
			if pages = append(pages, page...); !more {
				break
			}
			q.After = page[len(page)-1].Group
		}
		if got, _ := json.Marshal(pages); string(got) != string(want) {
			t.Fatalf("the pages are\n%s\nwant\n%s", got, want)
		}
		for _, g := range whole {
			parts = nil
			for _, c := range cells {
				parts = append(parts, partOf(t, c, rollup.Query{Keys: [][]string{g.Group}}))
			}
			one, _ := rollup.Merge(&d, parts, 0)
			single = append(single, one...)
		}
		if got, _ := json.Marshal(single); string(got) != string(want) {
			t.Fatalf("asked for one by one they are\n%s\nwant\n%s", got, want)
		}
	})
}

// Cells end at different groups with more set, since groups may become empty during the read. The page ends at
// the first of these, whichever part comes first.
func TestMerge_EndsWhereTheFirstCellDoes(t *testing.T) {
	t.Parallel()
	d := definitions(`{ rollup: a, kind: k, group: g, measures: { n: count } }`)[0]
	things := func(groups ...string) (of []changelog.Image) {
		for _, g := range groups {
			of = append(of, changelog.Image{Kind: "k", Attributes: map[string][]string{"g": {g}}})
		}
		return of
	}
	first := partOf(t, counted(t, d, things("a", "c", "d")...), rollup.Query{Limit: 1})  // names a
	second := partOf(t, counted(t, d, things("a", "b", "c")...), rollup.Query{Limit: 2}) // names a, b
	whole := partOf(t, counted(t, d, things("a", "b", "d")...), rollup.Query{Limit: 3})
	for _, parts := range [][]*rollup.Part{{first, second, whole}, {second, whole, first}} {
		groups, more := rollup.Merge(&d, parts, 3)
		if got, want := fmt.Sprint(shown(&d, groups)), fmt.Sprint(naive(&d, things("a", "a", "a"))); got != want || !more {
			t.Errorf("the page is %s, more: %v, want %s and more", got, more, want)
		}
	}
}

func TestGroup_JSON(t *testing.T) {
	t.Parallel()
	d := definitions(`{ rollup: a, kind: k, group: tags, dimension: city, measures: {
		n: count, s: { sum: w, scale: 2 }, m: { avg: w, scale: 1 }, l: { min: w, scale: 1 }, h: { max: w, scale: 1 }, t: { top: w, k: 3, scale: 1 }, d: { distinct: w } } }`)[0]
	thing := func(city string, weights ...string) changelog.Image {
		im := changelog.Image{Kind: "k", Attributes: map[string][]string{"tags": {"ears"}, "w": weights}}
		if city != "" {
			im.Attributes["city"] = []string{city}
		}
		return im
	}
	c := counted(t, d, thing("", "heavy"), thing("a", "1.5", "-2"), thing("a", "1.5"), thing("b", "0.1"))
	groups, _ := rollup.Merge(&d, []*rollup.Part{partOf(t, c, rollup.Query{})}, 0)
	got, err := json.Marshal(groups)
	const want = `[{"group":["ears"],"total":{"d":4,"h":1.5,"l":-2,"m":0.275,"n":4,"s":1.1,"t":[1.5,1.5,0.1]},"by":[` +
		`{"value":null,"values":{"d":1,"h":null,"l":null,"m":null,"n":1,"s":0,"t":[]}},` +
		`{"value":"a","values":{"d":2,"h":1.5,"l":-2,"m":0.3333333,"n":2,"s":1,"t":[1.5,1.5,-2]}},` +
		`{"value":"b","values":{"d":1,"h":0.1,"l":0.1,"m":0.1,"n":1,"s":0.1,"t":[0.1]}}],"skipped":5}]`
	if err != nil || string(got) != want {
		t.Errorf("JSON is\n%s, %v\nwant\n%s", got, err, want)
	}
	groups, _ = rollup.Merge(&d, []*rollup.Part{partOf(t, c, rollup.Query{Plain: true})}, 0)
	got, err = json.Marshal(groups[0].Total)
	if err != nil || string(got) != `{"m":0.275,"n":4,"s":1.1}` {
		t.Errorf("plain it is %s, %v", got, err)
	}
}

// Sums are exact beyond 64 bits, in one cell and across cells.
func TestP04_SumsBeyond64Bits(t *testing.T) {
	t.Parallel()
	d := definitions(`{ rollup: a, kind: k, group: g, measures: { s: { sum: w, scale: 1 }, m: { avg: w, scale: 1 } } }`)[0]
	const most, least = "922337203685477580.7", "-922337203685477580.8"
	for _, c := range []struct {
		weights []string
		sum     string
		avg     string
	}{
		{[]string{most, "0.1"}, "922337203685477580.8", "461168601842738790.4"},
		{[]string{most, "0.1", "-0.5"}, "922337203685477580.3", "307445734561825860.1"},
		{[]string{least, "-0.1"}, "-922337203685477580.9", "-461168601842738790.45"},
		{[]string{most, most, most, least, least, least}, "-0.3", "-0.05"},
		{[]string{least, least, least, least}, "-3689348814741910323.2", least},
		{[]string{"-0", "NaN", "Infinity", "1e3", "9" + most}, "0", "0"},
	} {
		want := fmt.Sprintf(`{"m":%s,"s":%s}`, c.avg, c.sum)
		for cells := range len(c.weights) {
			things := make([][]changelog.Image, cells+1)
			for i, w := range c.weights {
				things[i%len(things)] = append(things[i%len(things)],
					changelog.Image{Kind: "k", Attributes: map[string][]string{"g": {"g"}, "w": {w}}})
			}
			var parts []*rollup.Part
			for _, of := range things {
				parts = append(parts, partOf(t, counted(t, d, of...), rollup.Query{}))
			}
			groups, _ := rollup.Merge(&d, parts, 0)
			if got, err := json.Marshal(groups[0].Total); err != nil || string(got) != want {
				t.Errorf("%v in %d cells: %s, %v, want %s", c.weights, len(things), got, err, want)
			}
		}
	}
}

func TestLargest(t *testing.T) {
	t.Parallel()
	d := definitions(`{ rollup: a, kind: k, group: g, measures: { n: count, s: { sum: w }, m: { avg: w } } }`)[0]
	var things []changelog.Image
	for group, weights := range map[string][]string{"a": {"1", "2"}, "b": {"10"}, "c": {"x"}, "d": {"2", "8"}, "e": {"-1"}} {
		for _, w := range weights {
			things = append(things, changelog.Image{Kind: "k", Attributes: map[string][]string{"g": {group}, "w": {w}}})
		}
	}
	for measure, want := range map[string]string{"n": "a d b c e", "s": "b d a c e", "m": "b d a e c"} {
		groups, _ := rollup.Merge(&d, []*rollup.Part{partOf(t, counted(t, d, things...), rollup.Query{})}, 0)
		var got []string
		for _, g := range rollup.Largest(groups, measure, 10) {
			got = append(got, g.Group[0])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("by %s they are %v, want %s", measure, got, want)
		}
		if few := rollup.Largest(groups, measure, 2); len(few) != 2 || few[1].Group[0] != got[1] {
			t.Errorf("the largest two by %s are %v", measure, few)
		}
	}
}
