// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

var insertEdge = inserting("edge (a, b, vec, weight)", 4, "ON CONFLICT (a, b) DO UPDATE SET vec = excluded.vec, weight = excluded.weight")

// Edges runs one statement; the rows come in table order.
func (t *tx) Edges(ctx context.Context, puids []entity.PUID) ([]derived.Edge, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(puids) == 0 {
		return nil, nil
	}
	puids = slices.Compact(slices.Sorted(slices.Values(puids)))
	edges, err := rows(ctx, t, readEdge, "SELECT e.a, e.b, e.vec, e.weight FROM json_each(?) AS j CROSS JOIN edge AS e ON e.a = j.value", numbers(t, puids))
	if err != nil {
		return nil, fmt.Errorf("read edges of %d records: %w", len(puids), err)
	}
	return edges, nil
}

func readEdge(r row) (derived.Edge, error) {
	return derived.Edge{A: entity.PUID(r.int(0)), B: entity.PUID(r.int(1)), Vector: match.Vector(r.int(2)), Weight: match.Weight(r.int(3))}, nil
}

// The next edges have the same weight or a lower one: two statements, because a single one would read all edges that
// come before.
const (
	sqlPossible      = "SELECT a, b, vec, weight FROM edge WHERE a < b AND weight >= 0 AND weight < 500"
	sqlPossibleAlike = sqlPossible + " AND weight = ? AND (a, b) > (?, ?) ORDER BY weight DESC, a, b LIMIT +?"
	sqlPossibleBelow = sqlPossible + " AND weight < ? ORDER BY weight DESC, a, b LIMIT +?"
)

// PossibleMatches runs two statements.
func (t *tx) PossibleMatches(ctx context.Context, after derived.Edge, limit int) ([]derived.Edge, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	edges, err := rows(ctx, t, readEdge, sqlPossibleAlike, int64(after.Weight), int64(after.A), int64(after.B),
		int64(limit))
	if err == nil {
		var below []derived.Edge
		below, err = rows(ctx, t, readEdge, sqlPossibleBelow, int64(after.Weight), int64(limit-len(edges)))
		edges = append(edges, below...)
	}
	if err != nil {
		return nil, fmt.Errorf("read edges that are not sure: %w", err)
	}
	return edges, nil
}

// PutEdges inserts the edges, several per statement.
func (t *tx) PutEdges(ctx context.Context, edges []derived.Edge) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	edges = inOrder(edges, func(a, b derived.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	_, err := insertAll(t, insertEdge, edges, func(to *list, e derived.Edge) {
		to.add(int64(e.A), int64(e.B), int64(e.Vector), int64(e.Weight))
	})
	if err != nil {
		return fmt.Errorf("put %d edges: %w", len(edges), err)
	}
	return nil
}

// DeleteEdges runs a statement per row.
func (t *tx) DeleteEdges(ctx context.Context, pairs []derived.Pair) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	pairs = inOrder(pairs, func(a, b derived.Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	err := each(t, "DELETE FROM edge WHERE a = ? AND b = ?", pairs, func(s *stmt, p derived.Pair) error {
		return s.exec(int64(p.A), int64(p.B))
	})
	if err != nil {
		return fmt.Errorf("delete %d edges: %w", len(pairs), err)
	}
	return nil
}
