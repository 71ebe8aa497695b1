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

var (
	insertPosting = inserting("posting (blocking_key, puid)", 2, "ON CONFLICT DO NOTHING")
	insertEdge    = inserting("edge (a, b, vec, weight)", 4, "ON CONFLICT (a, b) DO UPDATE SET vec = excluded.vec, weight = excluded.weight")
)

// Post inserts the postings, several per statement, and runs a statement per removed row.
func (t *tx) Post(ctx context.Context, add, remove []derived.Posting) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	err := insertAll(t, insertPosting, inOrder(add, comparePostings), func(to []any, p derived.Posting) []any {
		return append(to, int64(p.Key), int64(p.PUID))
	})
	if err == nil {
		err = each(t, "DELETE FROM posting WHERE blocking_key = ? AND puid = ?", inOrder(remove, comparePostings), func(s *stmt, p derived.Posting) error {
			return s.exec(int64(p.Key), int64(p.PUID))
		})
	}
	if err != nil {
		return fmt.Errorf("post %d blocking keys, remove %d: %w", len(add), len(remove), err)
	}
	return nil
}

// comparePostings orders postings like the table, where blocking keys are signed.
func comparePostings(a, b derived.Posting) int {
	return cmp.Or(cmp.Compare(int64(a.Key), int64(b.Key)), cmp.Compare(a.PUID, b.PUID))
}

// The rows come blocking key by blocking key in the order of the arguments, and within a blocking key in table order.
// There is no ORDER BY: it would sort, and would read all records of a blocking key that has too many.
const sqlRecordsByKey = "SELECT j.key, p.puid FROM json_each(?) AS j CROSS JOIN posting AS p ON p.blocking_key = j.value"

// keysAtOnce is how many blocking keys a statement reads: one that reaches its limit costs another statement, with an
// array of those that are left.
const keysAtOnce = 64

// RecordsByKey runs a statement for a few blocking keys at a time, and another after each that reaches its limit.
func (t *tx) RecordsByKey(ctx context.Context, keys []uint64, limits []int) ([][]entity.PUID, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(keys) != len(limits) {
		return nil, fmt.Errorf("read records: %d blocking keys with %d limits", len(keys), len(limits))
	}
	carriers := make([][]entity.PUID, len(keys))
	for from := 0; from < len(keys); {
		next := min(from+keysAtOnce, len(keys))
		err := t.query(ctx, sqlRecordsByKey, func(r row) error {
			i := from + int(r.int(0))
			if len(carriers[i]) >= limits[i] {
				next = i + 1
				return errStop
			}
			carriers[i] = append(carriers[i], entity.PUID(r.int(1)))
			return nil
		}, numbers(t, keys[from:next]))
		if err != nil {
			return nil, fmt.Errorf("read records of %d blocking keys: %w", len(keys), err)
		}
		from = next
	}
	return carriers, nil
}

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
	edges, err := rows(ctx, t, readEdge, sqlPossibleAlike, int64(after.Weight), int64(after.A), int64(after.B), int64(limit))
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
	err := insertAll(t, insertEdge, edges, func(to []any, e derived.Edge) []any {
		return append(to, int64(e.A), int64(e.B), int64(e.Vector), int64(e.Weight))
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
	err := each(t, "DELETE FROM edge WHERE a = ? AND b = ?", pairs, func(s *stmt, p derived.Pair) error { return s.exec(int64(p.A), int64(p.B)) })
	if err != nil {
		return fmt.Errorf("delete %d edges: %w", len(pairs), err)
	}
	return nil
}
