// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

const (
	sqlPutRedo = `INSERT INTO redo (puid, version, decided, lost)
		SELECT puid, version, decided, lost::bigint[] FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS r (puid, version, decided, lost)
		ON CONFLICT (puid) DO UPDATE SET version = greatest(redo.version, excluded.version), decided = greatest(redo.decided, excluded.decided),
		lost = redo.lost || ARRAY(SELECT f FROM unnest(excluded.lost) AS f WHERE f <> ALL (redo.lost))
		RETURNING puid, version, decided, lost`

	sqlClearRedo = "DELETE FROM redo AS r USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS d (puid, version, decided) WHERE r.puid = d.puid AND r.version <= d.version AND r.decided <= d.decided"
)

// PutRedo runs one statement, which need not be sent before the commit.
func (t *tx) PutRedo(ctx context.Context, entries []derived.Redo) ([]derived.Redo, error) {
	if err := t.alter(ctx); err != nil || len(entries) == 0 {
		return nil, err
	}
	merged := mergeRedo(entries)
	at := places(column(entries, func(e derived.Redo) entity.PUID { return e.PUID }))
	stored := make([]derived.Redo, len(entries))
	puids := column(merged, func(e derived.Redo) int64 { return int64(e.PUID) })
	t.noteNumbers("redo", puids)
	t.queue.Queue(sqlPutRedo, puids,
		column(merged, func(e derived.Redo) int64 { return e.Version }),
		column(merged, func(e derived.Redo) int64 { return e.Decided }),
		column(merged, func(e derived.Redo) string { return t.array(e.LostKeys) })).Query(eachRow(func(r pgx.Rows) error {
		e, err := readRedo(r)
		for _, i := range at[e.PUID] {
			stored[i] = e
		}
		return err
	}))
	return stored, nil
}

// array formats blocking keys as an array literal.
func (t *tx) array(keys []uint64) string {
	b := append(t.text[:0], '{')
	for i, f := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(f), 10)
	}
	t.text = append(b, '}')
	return string(t.text)
}

// mergeRedo merges the entries of each record, in record order.
func mergeRedo(entries []derived.Redo) []derived.Redo {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b derived.Redo) int { return cmp.Compare(a.PUID, b.PUID) })
	merged := sorted[:0]
	for _, e := range sorted {
		if n := len(merged); n > 0 && merged[n-1].PUID == e.PUID {
			last := &merged[n-1]
			last.Version, last.Decided = max(last.Version, e.Version), max(last.Decided, e.Decided)
			for _, key := range e.LostKeys {
				if !slices.Contains(last.LostKeys, key) {
					last.LostKeys = append(slices.Clip(last.LostKeys), key)
				}
			}
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

// Redo reads the table in order.
func (t *tx) Redo(ctx context.Context, after entity.PUID, limit int) ([]derived.Redo, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	entries, err := rows(ctx, t, readRedo, "SELECT puid, version, decided, lost FROM redo WHERE puid > $1 ORDER BY puid LIMIT $2", int64(after), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read redo entries: %w", err)
	}
	return entries, nil
}

func readRedo(r pgx.Rows) (e derived.Redo, err error) {
	var lost []int64
	err = r.Scan((*int64)(&e.PUID), &e.Version, &e.Decided, &lost)
	for _, key := range lost {
		e.LostKeys = append(e.LostKeys, uint64(key))
	}
	return e, err
}

// ClearRedo runs one statement.
func (t *tx) ClearRedo(ctx context.Context, entries []derived.Redo) error {
	if err := t.alter(ctx); err != nil || len(entries) == 0 {
		return err
	}
	// The list may have several entries of one record. Its stored entry is deleted if any of them is at least as high.
	entries = inOrder(entries, func(a, b derived.Redo) int {
		return cmp.Or(cmp.Compare(a.PUID, b.PUID), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Decided, b.Decided))
	})
	puids := column(entries, func(e derived.Redo) int64 { return int64(e.PUID) })
	t.noteNumbers("redo", puids)
	t.exec(sqlClearRedo, puids,
		column(entries, func(e derived.Redo) int64 { return e.Version }),
		column(entries, func(e derived.Redo) int64 { return e.Decided }))
	return nil
}

// RedoDepth counts the rows, which are few.
func (t *tx) RedoDepth(ctx context.Context) (depth int, err error) {
	if err := t.use(ctx); err != nil {
		return 0, err
	}
	err = t.query(ctx, "SELECT count(*) FROM redo", func(r pgx.Rows) error { return r.Scan(&depth) })
	if err != nil {
		return 0, fmt.Errorf("count redo entries: %w", err)
	}
	return depth, nil
}
