// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

const (
	sqlEdges = "SELECT a, b, vec, weight FROM edge WHERE a = ANY ($1::bigint[]) ORDER BY a, b"

	sqlPossible = `SELECT a, b, vec, weight FROM (
		(SELECT a, b, vec, weight FROM edge WHERE a < b AND weight >= 0 AND weight < 500 AND weight = $1 AND (a, b) > ($2, $3) ORDER BY a, b LIMIT $4)
		UNION ALL
		(SELECT a, b, vec, weight FROM edge WHERE a < b AND weight >= 0 AND weight < 500 AND weight < $1 ORDER BY weight DESC, a, b LIMIT $4)
		) AS e ORDER BY weight DESC, a, b LIMIT $4`

	sqlPutEdges = `INSERT INTO edge (a, b, vec, weight) SELECT a, b, vec, weight FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS e (a, b, vec, weight)
		ON CONFLICT (a, b) DO UPDATE SET vec = excluded.vec, weight = excluded.weight`

	sqlDeleteEdges = "DELETE FROM edge AS e USING unnest($1::bigint[], $2::bigint[]) AS d (a, b) WHERE e.a = d.a AND e.b = d.b"
)

// Edges runs one statement.
func (t *tx) Edges(ctx context.Context, puids []entity.PUID) ([]derived.Edge, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(puids) == 0 {
		return nil, nil
	}
	edges, err := rows(ctx, t, readEdge, sqlEdges, slices.Compact(slices.Sorted(slices.Values(numbers(puids)))))
	if err != nil {
		return nil, fmt.Errorf("read edges of %d records: %w", len(puids), err)
	}
	return edges, nil
}

func readEdge(r pgx.Rows) (derived.Edge, error) {
	var a, b, vec, weight int64
	err := r.Scan(&a, &b, &vec, &weight)
	return derived.Edge{A: entity.PUID(a), B: entity.PUID(b), Vector: match.Vector(vec), Weight: match.Weight(weight)}, err
}

// PossibleMatches runs one statement.
func (t *tx) PossibleMatches(ctx context.Context, after derived.Edge, limit int) ([]derived.Edge, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	edges, err := rows(ctx, t, readEdge, sqlPossible, int64(after.Weight), int64(after.A), int64(after.B), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read edges that are not sure: %w", err)
	}
	return edges, nil
}

// PutEdges runs one statement.
func (t *tx) PutEdges(ctx context.Context, edges []derived.Edge) error {
	if err := t.alter(ctx); err != nil || len(edges) == 0 {
		return err
	}
	edges = inOrder(edges, func(a, b derived.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	as := column(edges, func(e derived.Edge) int64 { return int64(e.A) })
	bs := column(edges, func(e derived.Edge) int64 { return int64(e.B) })
	t.notePairs("edge", as, bs)
	t.exec(sqlPutEdges, as, bs,
		column(edges, func(e derived.Edge) int64 { return int64(e.Vector) }),
		column(edges, func(e derived.Edge) int64 { return int64(e.Weight) }))
	return nil
}

// DeleteEdges runs one statement.
func (t *tx) DeleteEdges(ctx context.Context, pairs []derived.Pair) error {
	if err := t.alter(ctx); err != nil || len(pairs) == 0 {
		return err
	}
	as := column(pairs, func(p derived.Pair) int64 { return int64(p.A) })
	bs := column(pairs, func(p derived.Pair) int64 { return int64(p.B) })
	t.notePairs("edge", as, bs)
	t.exec(sqlDeleteEdges, as, bs)
	return nil
}
