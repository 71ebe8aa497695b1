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
	"github.com/locus-db/locus/resolve"
)

const (
	sqlPost   = "INSERT INTO posting (feature, puid) SELECT feature, puid FROM unnest($1::bigint[], $2::bigint[]) AS p (feature, puid) ON CONFLICT DO NOTHING"
	sqlUnpost = "DELETE FROM posting AS p USING unnest($1::bigint[], $2::bigint[]) AS d (feature, puid) WHERE p.feature = d.feature AND p.puid = d.puid"
)

// Post runs at most two statements.
func (t *tx) Post(ctx context.Context, add, remove []resolve.Posting) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	for _, change := range []struct {
		sql      string
		postings []resolve.Posting
	}{{sqlPost, add}, {sqlUnpost, remove}} {
		if len(change.postings) == 0 {
			continue
		}
		postings := inOrder(change.postings, comparePostings)
		features := column(postings, func(p resolve.Posting) int64 { return int64(p.Feature) })
		puids := column(postings, func(p resolve.Posting) int64 { return int64(p.PUID) })
		t.notePairs("posting", features, puids)
		t.exec(change.sql, features, puids)
	}
	return nil
}

// comparePostings orders postings like the table, where features are signed.
func comparePostings(a, b resolve.Posting) int {
	return cmp.Or(cmp.Compare(int64(a.Feature), int64(b.Feature)), cmp.Compare(a.PUID, b.PUID))
}

// The rows of a feature are read from the index in order, up to the limit: a feature may have too many carriers.
const sqlCarriers = `SELECT f.n, p.puid FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS f (feature, most, n)
	CROSS JOIN LATERAL (SELECT puid FROM posting WHERE feature = f.feature ORDER BY puid LIMIT f.most) AS p`

// Carriers runs one statement.
func (t *tx) Carriers(ctx context.Context, features []uint64, limits []int) ([][]entity.PUID, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(features) != len(limits) {
		return nil, fmt.Errorf("read carriers: %d features with %d limits", len(features), len(limits))
	}
	carriers := make([][]entity.PUID, len(features))
	if len(features) == 0 {
		return carriers, nil
	}
	err := t.query(ctx, sqlCarriers, func(r pgx.Rows) error {
		var n, puid int64
		err := r.Scan(&n, &puid)
		if err == nil {
			carriers[n-1] = append(carriers[n-1], entity.PUID(puid))
		}
		return err
	}, numbers(features), column(limits, func(n int) int64 { return int64(n) }))
	if err != nil {
		return nil, fmt.Errorf("read carriers of %d features: %w", len(features), err)
	}
	return carriers, nil
}

const (
	sqlEdges = "SELECT a, b, vec, score FROM edge WHERE a = ANY ($1::bigint[]) ORDER BY a, b"

	sqlUnsure = `SELECT a, b, vec, score FROM (
		(SELECT a, b, vec, score FROM edge WHERE a < b AND score >= 0 AND score < 500 AND score = $1 AND (a, b) > ($2, $3) ORDER BY a, b LIMIT $4)
		UNION ALL
		(SELECT a, b, vec, score FROM edge WHERE a < b AND score >= 0 AND score < 500 AND score < $1 ORDER BY score DESC, a, b LIMIT $4)
		) AS e ORDER BY score DESC, a, b LIMIT $4`

	sqlPutEdges = `INSERT INTO edge (a, b, vec, score) SELECT a, b, vec, score FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS e (a, b, vec, score)
		ON CONFLICT (a, b) DO UPDATE SET vec = excluded.vec, score = excluded.score`

	sqlDeleteEdges = "DELETE FROM edge AS e USING unnest($1::bigint[], $2::bigint[]) AS d (a, b) WHERE e.a = d.a AND e.b = d.b"
)

// Edges runs one statement.
func (t *tx) Edges(ctx context.Context, puids []entity.PUID) ([]resolve.Edge, error) {
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

func readEdge(r pgx.Rows) (resolve.Edge, error) {
	var a, b, vec, score int64
	err := r.Scan(&a, &b, &vec, &score)
	return resolve.Edge{A: entity.PUID(a), B: entity.PUID(b), Vector: match.Vector(vec), Score: match.Score(score)}, err
}

// Unsure runs one statement.
func (t *tx) Unsure(ctx context.Context, after resolve.Edge, limit int) ([]resolve.Edge, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	edges, err := rows(ctx, t, readEdge, sqlUnsure, int64(after.Score), int64(after.A), int64(after.B), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read edges that are not sure: %w", err)
	}
	return edges, nil
}

// PutEdges runs one statement.
func (t *tx) PutEdges(ctx context.Context, edges []resolve.Edge) error {
	if err := t.alter(ctx); err != nil || len(edges) == 0 {
		return err
	}
	edges = inOrder(edges, func(a, b resolve.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	as := column(edges, func(e resolve.Edge) int64 { return int64(e.A) })
	bs := column(edges, func(e resolve.Edge) int64 { return int64(e.B) })
	t.notePairs("edge", as, bs)
	t.exec(sqlPutEdges, as, bs,
		column(edges, func(e resolve.Edge) int64 { return int64(e.Vector) }),
		column(edges, func(e resolve.Edge) int64 { return int64(e.Score) }))
	return nil
}

// DeleteEdges runs one statement.
func (t *tx) DeleteEdges(ctx context.Context, pairs []resolve.Pair) error {
	if err := t.alter(ctx); err != nil || len(pairs) == 0 {
		return err
	}
	as := column(pairs, func(p resolve.Pair) int64 { return int64(p.A) })
	bs := column(pairs, func(p resolve.Pair) int64 { return int64(p.B) })
	t.notePairs("edge", as, bs)
	t.exec(sqlDeleteEdges, as, bs)
	return nil
}
