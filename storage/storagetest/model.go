// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// model is a derived.Store made of maps.
type model struct {
	postings map[derived.Posting]bool
	edges    map[derived.Pair]derived.Edge
	redo     map[entity.PUID]derived.Redo
	defined  map[string][]byte
}

var _ derived.Store = (*model)(nil)

func newModel() *model {
	return &model{
		map[derived.Posting]bool{}, map[derived.Pair]derived.Edge{}, map[entity.PUID]derived.Redo{},
		map[string][]byte{},
	}
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.postings), maps.Clone(m.edges), maps.Clone(m.redo), maps.Clone(m.defined)}
}

func (m *model) Post(ctx context.Context, add, remove []derived.Posting) error {
	for _, p := range add {
		m.postings[p] = true
	}
	for _, p := range remove {
		delete(m.postings, p)
	}
	return ctx.Err()
}

func (m *model) MergePostings(ctx context.Context, _ bool) error { return ctx.Err() }

func (m *model) RecordsByKey(ctx context.Context, keys []uint64, limits []int) ([][]entity.PUID, error) {
	carriers := make([][]entity.PUID, len(keys))
	for i, f := range keys {
		var all []entity.PUID
		for p := range m.postings {
			if p.Key == f {
				all = append(all, p.PUID)
			}
		}
		slices.Sort(all)
		carriers[i] = all[:min(limits[i], len(all))]
	}
	return carriers, ctx.Err()
}

func (m *model) Edges(ctx context.Context, puids []entity.PUID) ([]derived.Edge, error) {
	var edges []derived.Edge
	for _, e := range m.edges {
		if slices.Contains(puids, e.A) {
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, func(a, b derived.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return edges, ctx.Err()
}

func (m *model) PossibleMatches(ctx context.Context, after derived.Edge, limit int) ([]derived.Edge, error) {
	order := func(e, f derived.Edge) int {
		return cmp.Or(cmp.Compare(f.Weight, e.Weight), cmp.Compare(e.A, f.A), cmp.Compare(e.B, f.B))
	}
	var edges []derived.Edge
	for _, e := range m.edges {
		if e.A < e.B && e.Weight >= 0 && e.Weight < match.Threshold && order(after, e) < 0 {
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, order)
	return edges[:min(limit, len(edges))], ctx.Err()
}

func (m *model) PutEdges(ctx context.Context, edges []derived.Edge) error {
	for _, e := range edges {
		m.edges[derived.Pair{A: e.A, B: e.B}] = e
	}
	return ctx.Err()
}

func (m *model) DeleteEdges(ctx context.Context, pairs []derived.Pair) error {
	for _, p := range pairs {
		delete(m.edges, p)
	}
	return ctx.Err()
}

func (m *model) PutRedo(ctx context.Context, entries []derived.Redo) ([]derived.Redo, error) {
	for _, e := range entries {
		old := m.redo[e.PUID]
		m.redo[e.PUID] = derived.Redo{
			PUID: e.PUID, Version: max(old.Version, e.Version), Decided: max(old.Decided, e.Decided),
			LostKeys: slices.Concat(old.LostKeys, e.LostKeys),
		}
	}
	now := make([]derived.Redo, len(entries))
	for i, e := range entries {
		now[i] = m.redo[e.PUID]
	}
	return now, ctx.Err()
}

func (m *model) Redo(ctx context.Context, after entity.PUID, limit int) ([]derived.Redo, error) {
	entries := slices.SortedFunc(maps.Values(m.redo), func(a, b derived.Redo) int { return cmp.Compare(a.PUID, b.PUID) })
	entries = slices.DeleteFunc(entries, func(e derived.Redo) bool { return e.PUID <= after })
	return entries[:min(limit, len(entries))], ctx.Err()
}

func (m *model) ClearRedo(ctx context.Context, entries []derived.Redo) error {
	for _, e := range entries {
		if old := m.redo[e.PUID]; old.Version <= e.Version && old.Decided <= e.Decided {
			delete(m.redo, e.PUID)
		}
	}
	return ctx.Err()
}

func (m *model) RedoDepth(ctx context.Context) (int, error) { return len(m.redo), ctx.Err() }

func (m *model) Definition(ctx context.Context, name string) ([]byte, error) {
	return m.defined[name], ctx.Err()
}

func (m *model) PutDefinition(ctx context.Context, name string, body []byte) error {
	m.defined[name] = slices.Clone(body)
	return ctx.Err()
}
