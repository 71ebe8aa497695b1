// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/survey"
	"github.com/locus-db/locus/match"
)

// ThresholdEffect is the effect of another threshold on the records. In a sample it covers the records of the sample
// and the records that they form pairs with.
type ThresholdEffect struct {
	Threshold match.Weight `json:"threshold"`
	// Entities is how many there would be, Before how many there are.
	Entities int `json:"entities"`
	Before   int `json:"before"`
	// Merged is how many entities would have records of several current ones, Split how many current ones would be
	// divided, and Moved how many records would leave the entity that keeps the most of its records.
	Merged int `json:"merged"`
	Split  int `json:"split"`
	Moved  int `json:"moved"`
}

// otherThresholds are the distances from the threshold, in hundredths of a bit, whose effects are computed.
var otherThresholds = []match.Weight{-300, -200, -100, 100, 200, 300}

// effects clusters the compared pairs of a kind at other thresholds.
func (h *Handle) effects(ctx context.Context, s *survey.Survey, kind string,
	more match.Weight) ([]ThresholdEffect, error) {
	c := h.clustering(s, kind)
	now := c.m.Threshold()
	at := []match.Weight{more}
	for _, by := range otherThresholds {
		at = append(at, now+by)
	}
	slices.Sort(at)
	effects := []ThresholdEffect{}
	for _, threshold := range slices.Compact(at) {
		if threshold <= 0 || threshold == now {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		effects = append(effects, c.effect(threshold))
	}
	return effects, nil
}

// clustering has the records and compared pairs of a kind, and the decisions about them.
type clustering struct {
	m       *match.Matcher
	norm    func(*entity.Record) *match.Record
	records []*entity.Record
	norms   []*match.Record // nil until needed
	pairs   []match.Edge    // without decided ones
	said    []match.Edge
}

func (h *Handle) clustering(s *survey.Survey, kind string) *clustering {
	c := &clustering{m: h.engine.Kind(kind).Matcher, norm: h.engine.Normalise}
	index := map[entity.PUID]int{}
	add := func(rec *entity.Record) int {
		i, there := index[rec.PUID]
		if !there {
			i = len(c.records)
			index[rec.PUID] = i
			c.records = append(c.records, rec)
		}
		return i
	}
	for _, rec := range s.Sample {
		if rec.Kind == kind {
			add(rec)
		}
	}
	decided := map[[2]int]bool{}
	for _, d := range s.Decisions {
		a, b := s.Known[d.A], s.Known[d.B]
		if !d.Pair() || d.Withdrawn || a == nil || b == nil || a.Kind != kind || b.Kind != kind {
			continue
		}
		e := match.Edge{A: add(a), B: add(b), Weight: match.CannotLink, Decided: max(d.At.UnixMilli(), 1)}
		if d.Verdict == entity.VerdictSame {
			e.Weight = match.MustLink
		}
		pair := [2]int{min(e.A, e.B), max(e.A, e.B)}
		if !decided[pair] { // a decision is stored under both records
			c.said = append(c.said, e)
		}
		decided[pair] = true
	}
	for i := range s.Pairs {
		p := &s.Pairs[i]
		if p.Kind() != kind {
			continue
		}
		e := match.Edge{A: add(p.RecordA), B: add(p.RecordB), Weight: p.Weight, Vector: p.Vector}
		if p.Weight == match.Equal || !decided[[2]int{min(e.A, e.B), max(e.A, e.B)}] {
			c.pairs = append(c.pairs, e)
		}
	}
	c.norms = make([]*match.Record, len(c.records))
	return c
}

// effect compares the clusters of a threshold with the current ones. Only records that are connected by a pair between
// the two thresholds can be in other clusters.
func (c *clustering) effect(threshold match.Weight) ThresholdEffect {
	now := c.m.Threshold()
	low, high := min(now, threshold), max(now, threshold)
	component, _ := match.Components(len(c.records), slices.Concat(c.pairs, c.said), low)
	touched := map[int]bool{}
	for _, e := range c.pairs {
		if low <= e.Weight && e.Weight < high {
			touched[component[e.A]] = true
		}
	}
	index := map[int]int{} // of the affected records
	var some []int
	others := map[entity.PUID]bool{}
	for i, rec := range c.records {
		if touched[component[i]] {
			index[i] = len(some)
			some = append(some, i)
		} else {
			others[rec.Anchor] = true
		}
	}
	effect := compared(c.at(now, some, index), c.at(threshold, some, index))
	effect.Threshold = threshold
	effect.Before, effect.Entities = effect.Before+len(others), effect.Entities+len(others)
	return effect
}

// at returns the cluster of each of some records at a threshold.
func (c *clustering) at(threshold match.Weight, some []int, index map[int]int) []int {
	m, err := c.m.With(nil, threshold)
	if err != nil {
		panic(err) // no weights are given
	}
	keys := make([]match.NodeKey, len(some))
	for n, i := range some {
		keys[n] = match.NodeKey(c.records[i].Ref)
		if c.norms[i] == nil {
			c.norms[i] = c.norm(c.records[i])
		}
	}
	var edges []match.Edge
	add := func(e match.Edge) {
		a, there := index[e.A]
		b, both := index[e.B]
		if there && both {
			e.A, e.B = a, b
			edges = append(edges, e)
		}
	}
	for _, e := range c.said {
		add(e)
	}
	for _, e := range c.pairs {
		if e.Weight != match.Equal {
			e.Weight = m.Evidence(e.Vector)
		}
		add(e)
	}
	of := make([]int, len(some))
	unmet := m.UnmetOf(func(i int) *match.Record { return c.norms[some[i]] })
	for n, group := range match.ClusterAt(keys, edges, unmet, threshold) {
		for _, i := range group {
			of[i] = n
		}
	}
	return of
}

// compared counts the differences between two ways to cluster the same records.
func compared(before, after []int) (e ThresholdEffect) {
	// for each cluster, how many records it shares with each cluster of the other way
	is, would := map[int]map[int]int{}, map[int]map[int]int{}
	for i := range before {
		for _, side := range []struct {
			of       map[int]map[int]int
			one, two int
		}{{is, before[i], after[i]}, {would, after[i], before[i]}} {
			if side.of[side.one] == nil {
				side.of[side.one] = map[int]int{}
			}
			side.of[side.one][side.two]++
		}
	}
	e.Before, e.Entities = len(is), len(would)
	for _, to := range is {
		if len(to) > 1 {
			e.Split++
		}
	}
	for _, from := range would {
		if len(from) > 1 {
			e.Merged++
		}
	}
	stays, takes := largestPart(is), largestPart(would)
	for i := range before {
		if stays[before[i]] != after[i] || takes[after[i]] != before[i] {
			e.Moved++
		}
	}
	return e
}

// largestPart returns, for each cluster, the one of the other side with the most of its records.
func largestPart(of map[int]map[int]int) map[int]int {
	largest := make(map[int]int, len(of))
	for one, parts := range of {
		best := -1
		for other, n := range parts {
			if best < 0 || n > parts[best] || n == parts[best] && other < best {
				best = other
			}
		}
		largest[one] = best
	}
	return largest
}
