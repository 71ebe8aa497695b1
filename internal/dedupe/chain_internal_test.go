// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// A row's weight is the weakest comparison of the strongest chain that leads to the first row, whatever the order of
// edges.
func TestChain_WeakestJoinOfTheStrongestChain(t *testing.T) {
	t.Parallel()
	edge := func(a, b entity.PUID, s match.Weight) []derived.Edge {
		return []derived.Edge{{A: a, B: b, Weight: s}, {A: b, B: a, Weight: s}}
	}
	var edges []derived.Edge
	for _, e := range [][]derived.Edge{
		edge(10, 30, 600), edge(10, 20, 2000), edge(20, 30, 1500), // 30 hangs on 20, not on 10
		edge(30, 40, 700), edge(40, 50, 3000), // 40 and 50 are close, and hang on 30
		edge(10, 99, 9000), // a record of another cluster
	} {
		edges = append(edges, e...)
	}
	s := &Session{}
	at := map[entity.PUID]int{}
	page := []int{}
	for i, puid := range []entity.PUID{10, 20, 30, 40, 50} {
		s.rows = append(s.rows, row{puid: puid, weight: none})
		at[puid], page = i, append(page, i)
	}
	s.chain(page, edges, at)
	var weights []match.Weight
	for _, r := range s.rows {
		weights = append(weights, r.weight)
	}
	if diff := cmp.Diff([]match.Weight{2000, 2000, 1500, 700, 700}, weights); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOnce_TheBestWeightsFirst(t *testing.T) {
	t.Parallel()
	pairs := []Pair{{0, 0, 1000}, {1, 0, 2000}, {1, 1, 900}, {2, 2, 600}, {3, 2, 600}}
	if diff := cmp.Diff([]Pair{{1, 0, 2000}, {1, 1, 900}, {2, 2, 600}}, Once{First: true}.Best(pairs)); diff != "" {
		t.Errorf("one partner in the first file: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Pair{{1, 0, 2000}, {2, 2, 600}}, Once{true, true}.Best(pairs)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDistinct_FewFurtherPartnersThatWeighLess(t *testing.T) {
	t.Parallel()
	// Rows i and i match with weights that rise; further rows of the first file match row i of the second one.
	pairs := func(further ...Pair) []Pair {
		for i := range 100 {
			further = append(further, Pair{i, i, match.Weight(1000 + 10*i)})
		}
		return further
	}
	var many []Pair
	for i := range 17 {
		many = append(many, Pair{100 + i, i, 600})
	}
	for name, c := range map[string]struct {
		pairs []Pair
		want  bool
	}{
		"none":                          {nil, true},
		"no further partner":            {pairs(), true},
		"further ones weigh less":       {pairs(Pair{100, 1, 600}, Pair{101, 2, 700}), true},
		"a further one is like a match": {pairs(Pair{100, 99, 1900}, Pair{101, 2, 700}, Pair{102, 3, 700}), false},
		"one of five is like a match":   {pairs(Pair{100, 99, 1900}, Pair{101, 2, 700}, Pair{102, 3, 700}, Pair{103, 4, 700}, Pair{104, 5, 700}), true},
		"many further ones":             {pairs(many...), false},
		"a sixth is few":                {pairs(many[1:]...), true},
	} {
		if got := Distinct(c.pairs, Once{}); got != (Once{c.want, true}) {
			t.Errorf("%s: %+v", name, got)
		}
		var turned []Pair
		for _, p := range c.pairs {
			turned = append(turned, Pair{p.B, p.A, p.Weight})
		}
		if got := Distinct(turned, Once{}); got != (Once{true, c.want}) {
			t.Errorf("%s, turned: %+v", name, got)
		}
	}
}

// Rows that have a better partner in a file that lists nothing twice say nothing about the other one.
func TestDistinct_BesideAFileThatIsKnown(t *testing.T) {
	t.Parallel()
	var pairs []Pair
	for i := range 100 {
		pairs = append(pairs, Pair{i, i, match.Weight(1000 + 10*i)})
		if i < 40 { // neighbours in both files
			pairs = append(pairs, Pair{i, i + 1, 900})
		}
	}
	if got := Distinct(pairs, Once{}); got != (Once{}) {
		t.Errorf("nothing known: %+v", got)
	}
	if got := Distinct(pairs, Once{First: true}); got != (Once{true, true}) {
		t.Errorf("the first is known: %+v", got)
	}
	for i := range 40 { // rows of the second file that have their partner in common
		pairs = append(pairs, Pair{99 - i, 100 + i, match.Weight(1990 - 10*i)})
	}
	if got := Distinct(pairs, Once{First: true}); got != (Once{First: true}) {
		t.Errorf("the second lists things twice: %+v", got)
	}
}
