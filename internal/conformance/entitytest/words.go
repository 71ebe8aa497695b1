// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
)

func searchInstead(t tester, c Cell) {
	putEntities(t, c, indexed(1, "blue door", 5), indexed(2, "blues doors"), indexed(3, "blue dora", 5),
		indexed(4, "bleu door"), indexed(5, "door"))
	or := func(words string, instead ...[]string) entity.Query {
		return entity.Query{Words: strings.Fields(words), Instead: instead}
	}
	finds(t, c, or("blue dorr"))
	finds(t, c, or("blue dorr", nil, []string{"door"}), 1)
	finds(t, c, or("blue dorr", nil, []string{"door", "dora", "absent"}), 1, 3)
	finds(t, c, or("blue dorr", []string{"bleu"}, []string{"dora", "door"}), 1, 3, 4)
	finds(t, c, or("blue dorr", []string{"blues"}), nil...)
	finds(t, c, or("dorr", []string{"doo"})) // whole words only
	finds(t, c, or("doo", []string{"dora"}), 1, 2, 3, 4, 5)
	finds(t, c, or("dorr", []string{"door", `"`, "a*", ""}), 1, 4, 5)
	q := or("dorr", []string{"door", "dora"})
	q.Terms = []uint64{5}
	finds(t, c, q, 1, 3)
	q.Terms, q.Without = nil, []uint64{5}
	finds(t, c, q, 4, 5)
	q.Best, q.Points, q.After = true, entity.MaxRank, math.MinInt64
	finds(t, c, q, 4, 5)
	var many []string
	for i := range 200 {
		many = append(many, "w"+strings.Repeat("x", i%20)+string(rune('a'+i/20)))
	}
	finds(t, c, or("blue dorr", many, append(slices.Clone(many), "door")), 1)
}

func searchExcept(t tester, c Cell) {
	putEntities(t, c, indexed(1, "blue door"), indexed(2, "blue doors"), indexed(3, "blue dora"), indexed(4, "bleu door"))
	q := entity.Query{Words: []string{"blue", "door"}, Instead: [][]string{{"bleu"}, {"dora"}}}
	finds(t, c, q, 1, 2, 3, 4)
	q.Except = [][]string{nil, nil}
	finds(t, c, q, 3, 4)
	q.Except = [][]string{}
	finds(t, c, q, 3, 4)
	q.Except = [][]string{nil, {"dora"}}
	finds(t, c, q, 4)
	q.Best, q.Points, q.After = true, entity.MaxRank, math.MinInt64
	finds(t, c, q, 4)
	q.Except = q.Instead
	finds(t, c, q)
}

func listOccurrences(t tester, c Cell) {
	all := func(limit int) (all []entity.Occurrence) {
		t.Helper()
		for after := (entity.Occurrence{}); ; after = all[len(all)-1] {
			page := read(t, c, func(ctx context.Context, s entity.Store) ([]entity.Occurrence, error) {
				return s.Occurrences(ctx, after, limit)
			})
			if len(page) > limit {
				t.Fatalf("%d occurrences, at most %d are wanted", len(page), limit)
			}
			if all = append(all, page...); len(page) < limit {
				return all
			}
		}
	}
	sorted := func(all []entity.Occurrence) []entity.Occurrence {
		slices.SortFunc(all, func(a, b entity.Occurrence) int {
			return cmp.Or(strings.Compare(a.Word, b.Word), cmp.Compare(a.Anchor, b.Anchor))
		})
		return all
	}
	same(t, "occurrences in an empty cell", all(10), nil)
	long := strings.Repeat("y", 65)
	putEntities(t, c, indexed(1, "pizza joes 94110 a1 x", 7, 8), indexed(2, "pizza пицца 寿司 café zz"), indexed(3, ""),
		indexed(-4, long+" pizza "+long))
	at := func(word string, anchors ...entity.PUID) (all []entity.Occurrence) {
		for _, anchor := range anchors {
			all = append(all, entity.Occurrence{Word: word, Anchor: anchor})
		}
		return all
	}
	want := slices.Concat(at("94110", 1), at("a1", 1), at("café", 2), at("joes", 1), at("pizza", -4, 1, 2), at("x", 1), at(long, -4),
		at("zz", 2), at("пицца", 2), at("寿司", 2))
	for limit := range 5 {
		same(t, "occurrences in pages", sorted(all(limit+1)), want)
	}
	putEntities(t, c, indexed(1, "rays pizza"))
	deleteEntities(t, c, 2)
	left := all(100)
	for _, o := range slices.Concat(at("rays", 1), at("pizza", 1, -4), at(long, -4)) {
		if !slices.Contains(left, o) {
			t.Fatalf("the occurrences %v lack %v", left, o)
		}
	}
	for _, o := range left { // words of former versions may remain, and find nothing
		if !slices.Contains(want, o) && o != (entity.Occurrence{Word: "rays", Anchor: 1}) {
			t.Fatalf("%v is no occurrence", o)
		}
	}
	own := read(t, c, func(ctx context.Context, s entity.Store) ([]entity.Occurrence, error) {
		if err := s.PutEntities(ctx, []entity.Indexed{indexed(9, "zzz")}); err != nil {
			return nil, err
		}
		return s.Occurrences(ctx, entity.Occurrence{}, 100)
	})
	if !slices.Contains(own, entity.Occurrence{Word: "zzz", Anchor: 9}) {
		t.Fatalf("a transaction sees %v after it adds zzz", own)
	}
}

func listUnfound(t tester, c Cell) {
	unfound := func(asked []entity.Indexed, want ...entity.PUID) {
		t.Helper()
		got := read(t, c, func(ctx context.Context, s entity.Store) ([]entity.PUID, error) { return s.Unfound(ctx, asked) })
		slices.Sort(got)
		same(t, "unfound", got, want)
	}
	unfound(nil)
	unfound([]entity.Indexed{indexed(1, "pizza")}, 1)
	long := strings.Repeat("y", 1500)
	stored := []entity.Indexed{indexed(1, "joes pizza 94110", 7, 8), indexed(2, "pizza пицца 寿司 café", 8), indexed(3, ""),
		indexed(-4, "pizza "+long, 7)}
	putEntities(t, c, stored...)
	unfound(stored)
	unfound([]entity.Indexed{stored[3], stored[0]})
	unfound([]entity.Indexed{
		indexed(1, "joes pizza bar", 7, 8), indexed(2, "pizz", 8), indexed(3, "", 9), indexed(-4, "pizza "+long+"y", 7),
		indexed(5, "pizza"),
	}, -4, 1, 2, 3, 5)
	unfound([]entity.Indexed{indexed(1, "pizza", 7), indexed(2, "94110"), indexed(-4, "", 8)}, -4, 2)
	putEntities(t, c, indexed(1, "joes bar", 7))
	deleteEntities(t, c, 2)
	unfound(stored, 1, 2)
	var many []entity.Indexed
	for i := range 300 {
		many = append(many, indexed(entity.PUID(100+i), "many "+[]string{"blue", "red", "green"}[i%3], uint64(i)))
	}
	putEntities(t, c, many...)
	unfound(many)
	many[100], many[200] = indexed(200, "many violet", 100), indexed(300, "many red", 200)
	unfound(many, 200, 300)
}
