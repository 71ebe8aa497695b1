// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/match"
)

func TestGenerator_OneSeedTellsOneStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed, n := rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(1, 1<<31).Draw(t, "n")
		i := rapid.Int64Range(0, n+1000).Draw(t, "i")
		a, b := demo.New(seed, n), demo.New(seed, n)
		if diff := cmp.Diff(a.Record(i), b.Record(i)); diff != "" {
			t.Fatalf("two tellings differ:\n%s", diff)
		}
		if diff := cmp.Diff(a.Update(i, 3), b.Update(i, 3)); diff != "" {
			t.Fatalf("two tellings of an update differ:\n%s", diff)
		}
	})
}

func TestGenerator_Shape(t *testing.T) {
	t.Parallel()
	const n = 22_000
	schema := match.Place()
	keys, places, names := map[string]bool{}, map[int64]int{}, map[string]map[int64]bool{}
	sources := map[string]int{}
	for r := range demo.New(1, n).All() {
		if id := r.Source + ":" + r.Key; keys[id] {
			t.Fatalf("key %s twice", id)
		} else {
			keys[id] = true
		}
		if problems := schema.Check(r.Attributes); len(problems) > 0 {
			t.Fatalf("record %v is refused: %v", r, problems)
		}
		places[r.Place]++
		sources[r.Source]++
		if r.Source == "citydir" {
			name := r.Attributes["name"][0]
			if names[name] == nil {
				names[name] = map[int64]bool{}
			}
			names[name][r.Place] = true
		}
	}
	if len(keys) != n || len(places) != 10_000 {
		t.Errorf("%d records about %d places, want %d about 10,000", len(keys), len(places), n)
	}
	sizes := map[int]int{}
	for _, size := range places {
		sizes[size]++
	}
	if diff := cmp.Diff(map[int]int{1: 4000, 2: 3000, 3: 1000, 4: 1000, 5: 1000}, sizes); diff != "" {
		t.Errorf("records of a place (-want +got):\n%s", diff)
	}
	for _, s := range demo.Sources {
		if share := float64(sources[s]) / n; math.Abs(share-0.25) > 0.02 {
			t.Errorf("source %s has %.3f of the records", s, share)
		}
	}
	branches := 0
	for _, places := range names {
		if len(places) > 3 {
			branches += len(places)
		}
	}
	if share := float64(branches) / float64(sources["citydir"]); share < 0.06 || share > 0.2 {
		t.Errorf("%.3f of the records have a name that more than three places share", share)
	}
}

func TestGenerator_RecordsOfAPlaceStandApart(t *testing.T) {
	t.Parallel()
	last, near := map[int64]int{}, 0
	i := 0
	for r := range demo.New(7, 10_000).All() {
		if at, seen := last[r.Place]; seen && i-at < 100 {
			near++
		}
		last[r.Place] = i
		i++
	}
	if near > 500 {
		t.Errorf("%d of 10,000 records follow one about the same place within 100", near)
	}
}

func TestGenerator_SaysNothingNowAndThen(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for r := range demo.New(1, 5000).All() {
		for _, values := range r.Attributes {
			seen[values[0]]++
		}
		seen[fmt.Sprint(len(r.Attributes["phones"]), " phones")]++
	}
	for _, value := range []string{"N/A", "00000", "000-000-0000", "-", "0 phones", "2 phones"} {
		if seen[value] < 10 {
			t.Errorf("%q is there %d times", value, seen[value])
		}
	}
}

func TestGenerator_UpdatesKeepTheRecord(t *testing.T) {
	t.Parallel()
	g := demo.New(3, 100)
	for i := range int64(100) {
		before := g.Record(i)
		for revision := 1; revision < 4; revision++ {
			after := g.Update(i, revision)
			if after.Source != before.Source || after.Key != before.Key || after.Place != before.Place {
				t.Fatalf("the update of %v is %v", before, after)
			}
		}
	}
}

func TestGenerator_GoesOnAfterItsEnd(t *testing.T) {
	t.Parallel()
	g := demo.New(3, 100)
	keys := map[string]bool{}
	for i := range int64(1000) {
		r := g.Record(i)
		keys[r.Source+":"+r.Key] = true
	}
	if len(keys) != 1000 {
		t.Errorf("%d keys of 1,000 records", len(keys))
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		entities              [][]int64
		precision, recall, f1 float64
	}{
		{"nothing", nil, 1, 1, 1},
		{"perfect", [][]int64{{1, 1}, {2}, {3, 3, 3}}, 1, 1, 1},
		{"split", [][]int64{{1, 1}, {1}}, 1, 1. / 3, 0.5},
		{"mixed", [][]int64{{1, 1, 2}}, 1. / 3, 1, 0.5},
		{"all wrong", [][]int64{{1, 2}, {1, 2}}, 0, 0, 0},
	} {
		var s demo.Score
		for _, e := range c.entities {
			s.Add(e)
		}
		for _, f := range []struct {
			name      string
			got, want float64
		}{{"precision", s.Precision(), c.precision}, {"recall", s.Recall(), c.recall}, {"F1", s.F1(), c.f1}} {
			if math.Abs(f.got-f.want) > 1e-9 {
				t.Errorf("%s: %s %v, want %v", c.name, f.name, f.got, f.want)
			}
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	g := demo.New(1, 1_000_000)
	i := int64(0)
	for b.Loop() {
		g.Record(i)
		i++
	}
}

func ExampleGenerator_Record() {
	g := demo.New(1, 20_000)
	for i := range int64(3) {
		r := g.Record(i)
		fmt.Printf("%s:%s says of place %d: %s, %s\n", r.Source, r.Key, r.Place, r.Attributes["name"], r.Attributes["phones"])
	}
	// Output:
	// yellow:2 says of place 1: [BRIGHT EAGLE MUSIC], [962.555.6145]
	// ledger:L000012363 says of place 5619: [Ashby & Falavivin Music School, Inc.], [3115555104]
	// citydir:cd-0004724 says of place 2148: [Proud Harvest Dry Cleaners], [(793) 555-9997]
}
