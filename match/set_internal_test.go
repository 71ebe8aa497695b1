// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chain returns n records, each linked to the next by edges with the weights in turn.
func chain(n int, weights ...Weight) []Edge {
	var edges []Edge
	for i := range n - 1 {
		edges = append(edges, Edge{A: i, B: i + 1, Weight: weights[(i+1)%len(weights)]})
	}
	return edges
}

// sizes returns the sizes of the components left after the cuts.
func sizes(n int, edges []Edge) (list []int) {
	_, size := Components(n, cut(n, edges, Threshold), math.MinInt16)
	for _, n := range size {
		if n > 0 {
			list = append(list, n)
		}
	}
	return list
}

func TestCut_OnlyWhereTooLarge(t *testing.T) {
	t.Parallel()
	if got := sizes(MaxComponent, chain(MaxComponent, Threshold)); !cmp.Equal(got, []int{MaxComponent}) {
		t.Errorf("components of %v", got)
	}
	// With one more record, the weaker half of the edges is cut.
	for _, n := range sizes(MaxComponent+2, chain(MaxComponent+2, Threshold, Threshold+CutStep)) {
		if n > 2 {
			t.Errorf("a component of %d after the cut", n)
		}
	}
}

func TestCut_WhatNoCutDividesStaysWholeOrApart(t *testing.T) {
	t.Parallel()
	if got := sizes(MaxLinked, chain(MaxLinked, CutMax)); len(got) != 1 {
		t.Errorf("%d components of %d records", len(got), MaxLinked)
	}
	if got := sizes(MaxLinked+1, chain(MaxLinked+1, CutMax)); len(got) != MaxLinked+1 {
		t.Errorf("%d components of %d records", len(got), MaxLinked+1)
	}
}
