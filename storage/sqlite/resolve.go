// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

var (
	insertPosting = inserting("posting (feature, puid)", 2, "ON CONFLICT DO NOTHING")
	insertEdge    = inserting("edge (a, b, vec, score)", 4, "ON CONFLICT (a, b) DO UPDATE SET vec = excluded.vec, score = excluded.score")
)

// Post inserts the postings, several per statement, and runs a statement per removed row.
func (t *tx) Post(ctx context.Context, add, remove []resolve.Posting) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	err := insertAll(t, insertPosting, inOrder(add, comparePostings), func(to []any, p resolve.Posting) []any {
		return append(to, int64(p.Feature), int64(p.PUID))
	})
	if err == nil {
		err = each(t, "DELETE FROM posting WHERE feature = ? AND puid = ?", inOrder(remove, comparePostings), func(s *stmt, p resolve.Posting) error {
			return s.exec(int64(p.Feature), int64(p.PUID))
		})
	}
	if err != nil {
		return fmt.Errorf("post %d features, remove %d: %w", len(add), len(remove), err)
	}
	return nil
}

// comparePostings orders postings like the table, where features are signed.
func comparePostings(a, b resolve.Posting) int {
	return cmp.Or(cmp.Compare(int64(a.Feature), int64(b.Feature)), cmp.Compare(a.PUID, b.PUID))
}

// The rows come feature by feature in the order of the arguments, and within a feature in table order. There is no
// ORDER BY: it would sort, and would read all carriers of a feature that has too many.
const sqlCarriers = "SELECT j.key, p.puid FROM json_each(?) AS j CROSS JOIN posting AS p ON p.feature = j.value"

// Carriers runs one statement, and another after each feature that reaches its limit.
func (t *tx) Carriers(ctx context.Context, features []uint64, limits []int) ([][]entity.PUID, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(features) != len(limits) {
		return nil, fmt.Errorf("read carriers: %d features with %d limits", len(features), len(limits))
	}
	carriers := make([][]entity.PUID, len(features))
	for from := 0; from < len(features); {
		next := len(features)
		err := t.query(ctx, sqlCarriers, func(r row) error {
			i := from + int(r.int(0))
			if len(carriers[i]) >= limits[i] {
				next = i + 1
				return errStop
			}
			carriers[i] = append(carriers[i], entity.PUID(r.int(1)))
			return nil
		}, numbers(t, features[from:]))
		if err != nil {
			return nil, fmt.Errorf("read carriers of %d features: %w", len(features), err)
		}
		from = next
	}
	return carriers, nil
}

// Edges runs one statement; the rows come in table order.
func (t *tx) Edges(ctx context.Context, puids []entity.PUID) ([]resolve.Edge, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(puids) == 0 {
		return nil, nil
	}
	puids = slices.Compact(slices.Sorted(slices.Values(puids)))
	edges, err := rows(ctx, t, readEdge, "SELECT e.a, e.b, e.vec, e.score FROM json_each(?) AS j CROSS JOIN edge AS e ON e.a = j.value", numbers(t, puids))
	if err != nil {
		return nil, fmt.Errorf("read edges of %d records: %w", len(puids), err)
	}
	return edges, nil
}

func readEdge(r row) (resolve.Edge, error) {
	return resolve.Edge{A: entity.PUID(r.int(0)), B: entity.PUID(r.int(1)), Vector: match.Vector(r.int(2)), Score: match.Score(r.int(3))}, nil
}

// The next edges have the same score or a lower one: two statements, because a single one would read all edges that
// come before.
const (
	sqlUnsure      = "SELECT a, b, vec, score FROM edge WHERE a < b AND score >= 0 AND score < 500"
	sqlUnsureAlike = sqlUnsure + " AND score = ? AND (a, b) > (?, ?) ORDER BY score DESC, a, b LIMIT ?"
	sqlUnsureBelow = sqlUnsure + " AND score < ? ORDER BY score DESC, a, b LIMIT ?"
)

// Unsure runs two statements.
func (t *tx) Unsure(ctx context.Context, after resolve.Edge, limit int) ([]resolve.Edge, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	edges, err := rows(ctx, t, readEdge, sqlUnsureAlike, int64(after.Score), int64(after.A), int64(after.B), int64(limit))
	if err == nil {
		var below []resolve.Edge
		below, err = rows(ctx, t, readEdge, sqlUnsureBelow, int64(after.Score), int64(limit-len(edges)))
		edges = append(edges, below...)
	}
	if err != nil {
		return nil, fmt.Errorf("read edges that are not sure: %w", err)
	}
	return edges, nil
}

// PutEdges inserts the edges, several per statement.
func (t *tx) PutEdges(ctx context.Context, edges []resolve.Edge) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	edges = inOrder(edges, func(a, b resolve.Edge) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	err := insertAll(t, insertEdge, edges, func(to []any, e resolve.Edge) []any {
		return append(to, int64(e.A), int64(e.B), int64(e.Vector), int64(e.Score))
	})
	if err != nil {
		return fmt.Errorf("put %d edges: %w", len(edges), err)
	}
	return nil
}

// DeleteEdges runs a statement per row.
func (t *tx) DeleteEdges(ctx context.Context, pairs []resolve.Pair) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	pairs = inOrder(pairs, func(a, b resolve.Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	err := each(t, "DELETE FROM edge WHERE a = ? AND b = ?", pairs, func(s *stmt, p resolve.Pair) error { return s.exec(int64(p.A), int64(p.B)) })
	if err != nil {
		return fmt.Errorf("delete %d edges: %w", len(pairs), err)
	}
	return nil
}
