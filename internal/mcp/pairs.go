// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

type asking struct {
	A      string `json:"a" jsonschema:"SOURCE:KEY, or an entity id for its oldest record"`
	B      string `json:"b"`
	Cursor string `json:"cursor,omitempty"`
}

// compared is the head of a comparison.
type compared struct {
	A         string        `json:"a"`
	B         string        `json:"b"`
	EntityA   locality.ID   `json:"entity_a"`
	EntityB   locality.ID   `json:"entity_b"`
	Same      bool          `json:"same_entity"`
	Reasons   []string      `json:"reasons"` // codes, the strongest first
	Decided   *decided      `json:"decided,omitempty"`
	Outcome   match.Outcome `json:"outcome"` // of the two records alone
	Weight    match.Weight  `json:"match_weight"`
	Threshold match.Weight  `json:"threshold"`
}

// evidence is the contribution of one attribute. A and B are the values of the two sides.
type evidence struct {
	Attribute string       `json:"attribute"`
	Level     string       `json:"level"`
	Weight    match.Weight `json:"match_weight"`
	A         []string     `json:"a,omitempty"`
	B         []string     `json:"b,omitempty"`
}

func (s *Server) why(ctx context.Context, in asking) (*page, error) {
	var c explain.Comparison
	if err := s.call(ctx, "GET", "/v1/why-not", url.Values{"a": {in.A}, "b": {in.B}}, nil, &c); err != nil {
		return nil, err
	}
	head := compared{
		A: clip(c.A.String(), 330), B: clip(c.B.String(), 330), EntityA: c.EntityA, EntityB: c.EntityB,
		Same:    c.EntityA == c.EntityB,
		Reasons: []string{}, Outcome: c.Explanation.Outcome, Weight: c.Explanation.Weight, Threshold: c.Threshold,
	}
	for _, r := range c.Reasons {
		head.Reasons = append(head.Reasons, r.Code)
	}
	if c.Decided != nil {
		head.Decided = decidedOf(&decision{Verdict: c.Decided.Verdict, Author: c.Decided.Author, Reason: c.Decided.Reason,
			At: c.Decided.At, RefA: c.A, RefB: c.B})
	}
	p := &page{head: head, list: "evidence"}
	for _, l := range strongest(c.Explanation.Lines, len(c.Explanation.Lines)) {
		p.items = append(p.items, shown(l, 3, 200))
	}
	return p, p.resume(in.Cursor)
}

// strongest returns the n lines with the most weight, whichever way, the strongest first.
func strongest(lines []match.Line, n int) []match.Line {
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(x, y match.Line) int { return cmp.Compare(abs(y.Weight), abs(x.Weight)) })
	return lines[:min(n, len(lines))]
}

func abs(w match.Weight) match.Weight { return max(w, -w) }

// shown returns a line with at most n values of each side.
func shown(l match.Line, n, size int) evidence {
	e := evidence{Attribute: l.Attribute, Level: l.Level, Weight: l.Weight}
	e.A, _ = clips(l.A, n, size)
	e.B, _ = clips(l.B, n, size)
	return e
}

type reviewing struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 100; 10 by default"`
	Cursor string `json:"cursor,omitempty"`
}

// suggestion is an open possible match.
type suggestion struct {
	A       string       `json:"a"`
	B       string       `json:"b"`
	EntityA locality.ID  `json:"entity_a"`
	EntityB locality.ID  `json:"entity_b"`
	Weight  match.Weight `json:"match_weight"`
	Merges  int          `json:"records_if_same"`
	For     []evidence   `json:"for"`
	Against []evidence   `json:"against"`
}

func (s *Server) review(ctx context.Context, in reviewing) (*page, error) {
	p := &page{head: struct{}{}, list: "pairs"}
	query, err := p.listed(in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	var queue httpapi.ReviewList
	if err := s.call(ctx, "GET", "/v1/review", query, nil, &queue); err != nil {
		return nil, err
	}
	p.next = queue.Cursor
	for _, pair := range queue.Pairs {
		item := suggestion{
			A: clip(pair.A.String(), 330), B: clip(pair.B.String(), 330), EntityA: pair.EntityA, EntityB: pair.EntityB,
			Weight: pair.Explanation.Weight, Merges: pair.Merges,
		}
		item.For, item.Against = sides(facing(&pair.Explanation, pair.A), 3)
		p.items = append(p.items, item)
	}
	return p, nil
}

// facing returns the lines with the values of record a first.
func facing(e *match.Explanation, a entity.Ref) []match.Line { return e.Facing(match.NodeKey(a)).Lines }

// sides returns the strongest evidence for and against that two records are the same thing, at most n lines each.
func sides(lines []match.Line, n int) (yes, no []evidence) {
	yes, no = []evidence{}, []evidence{}
	for _, l := range strongest(lines, len(lines)) {
		switch {
		case l.Weight > 0 && len(yes) < n:
			yes = append(yes, shown(l, 2, 120))
		case l.Weight < 0 && len(no) < n:
			no = append(no, shown(l, 2, 120))
		}
	}
	return yes, no
}
