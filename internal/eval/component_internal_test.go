// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// chain are n records, each tied to the next by edges of the scores in turn.
func chain(n int, scores ...match.Score) (members []int, edges []match.Edge) {
	for i := range n {
		members = append(members, i)
		if i > 0 {
			edges = append(edges, match.Edge{A: i - 1, B: i, Score: scores[i%len(scores)]})
		}
	}
	return members, edges
}

func sizes(found []component) (list []int) {
	for _, c := range found {
		list = append(list, len(c.members))
	}
	return list
}

func TestComponents_CutOnlyWhereTooLarge(t *testing.T) {
	t.Parallel()
	members, edges := chain(match.MaxComponent, match.Threshold)
	if got := sizes(components(members, edges, match.Threshold)); !cmp.Equal(got, []int{match.MaxComponent}) {
		t.Errorf("components of %v", got)
	}
	// One record more, and the weaker half of the edges is cut.
	members, edges = chain(match.MaxComponent+2, match.Threshold, match.Threshold+match.CutStep)
	for _, n := range sizes(components(members, edges, match.Threshold)) {
		if n > 2 {
			t.Errorf("a component of %d after the cut", n)
		}
	}
}

func TestComponents_WhatNoCutDividesStaysWholeOrApart(t *testing.T) {
	t.Parallel()
	members, edges := chain(maxAtCutMax, match.CutMax)
	if got := sizes(components(members, edges, match.Threshold)); len(got) != 1 {
		t.Errorf("%d components of %d records", len(got), maxAtCutMax)
	}
	members, edges = chain(maxAtCutMax+1, match.CutMax)
	if got := sizes(components(members, edges, match.Threshold)); len(got) != maxAtCutMax+1 {
		t.Errorf("%d components of %d records", len(got), maxAtCutMax+1)
	}
}

func TestCandidates_GenericFeaturesYieldNone(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	records := func(n int) (list []*match.Record) {
		for i := range n {
			list = append(list, m.Normalise("s", fmt.Sprint(i), match.Attributes{"name": {fmt.Sprintf("Only%d", i)}, "phones": {"415-555-2300"}}))
		}
		return list
	}
	all := func(int, int) bool { return true }
	const h = match.GenericAbove
	if got := len(candidates(records(h), all)); got != h*(h-1)/2 {
		t.Errorf("%d records with one phone: %d candidates", h, got)
	}
	if got := len(candidates(records(h+1), all)); got != 0 {
		t.Errorf("%d records with one phone: %d candidates", h+1, got)
	}
}
