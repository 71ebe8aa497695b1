// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	sqlChanges = `SELECT seq, at, kind, entity, into_id, before::text, after::text, was::text, became::text, cause
		FROM change WHERE seq > $1 ORDER BY seq LIMIT $2`

	sqlBounds = "SELECT trimmed, seq FROM locus_total"

	// sqlTrim starts after the last trimmed position, because it would have to step over dead rows one by one.
	sqlTrim = `WITH doomed AS MATERIALIZED (SELECT seq FROM change
			WHERE seq > (SELECT trimmed FROM locus_total) AND seq <= $1 ORDER BY seq LIMIT $2 FOR UPDATE)
		DELETE FROM change AS c USING doomed WHERE c.seq = doomed.seq RETURNING c.seq`
)

// Append only collects the changes; the last statement of the transaction writes them, see queueTotals.
func (t *tx) Append(ctx context.Context, changes []changelog.Change) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	t.changes = append(t.changes, changes...)
	return nil
}

// Changes reads the table in order and then the trimmed position, so that an update that misses rows because of a
// concurrent trim also sees that trim.
func (t *tx) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	t.queueTotals()
	var changes []changelog.Change
	t.queue.Queue(sqlChanges, int64(after), int64(limit)).Query(eachRow(func(r pgx.Rows) error {
		c, err := readChange(r)
		changes = append(changes, c)
		return err
	}))
	bounds, err := t.bounds(ctx)
	if err != nil {
		return nil, fmt.Errorf("read changes after %d: %w", after, err)
	}
	if max(after, 0) < bounds.Trimmed {
		return nil, fmt.Errorf("changes after %d of cell %s: %w up to %d", after, t.cell, changelog.ErrTrimmed,
			bounds.Trimmed)
	}
	return changes, nil
}

func readChange(r pgx.Rows) (c changelog.Change, err error) {
	var at int64
	var into locality.NullID
	var before, after, was, became *string
	if err := r.Scan((*int64)(&c.Seq), &at, (*string)(&c.Kind), &c.Entity, &into, &before, &after, &was, &became, (*string)(&c.Cause)); err != nil {
		return c, err
	}
	c.Time, c.Into = time.UnixMilli(at).UTC(), into.ID
	if before != nil {
		c.Before, err = document.ParseVersions(*before)
	}
	if after != nil && err == nil {
		c.After, err = document.ParseVersions(*after)
	}
	if was != nil && err == nil {
		c.Was, err = document.ParseImage(*was)
	}
	if became != nil && err == nil {
		c.Is, err = document.ParseImage(*became)
	}
	if err != nil {
		return c, cell.Damaged("change", int64(c.Seq), err)
	}
	return c, nil
}

// Bounds reads one row.
func (t *tx) Bounds(ctx context.Context) (changelog.Bounds, error) {
	if err := t.use(ctx); err != nil {
		return changelog.Bounds{}, err
	}
	t.queueTotals()
	bounds, err := t.bounds(ctx)
	if err != nil {
		return changelog.Bounds{}, fmt.Errorf("read bounds of the log: %w", err)
	}
	return bounds, nil
}

func (t *tx) bounds(ctx context.Context) (b changelog.Bounds, err error) {
	err = t.query(ctx, sqlBounds, func(r pgx.Rows) error { return r.Scan((*int64)(&b.Trimmed), (*int64)(&b.Last)) })
	return b, err
}

// Trim deletes the first rows of the index. The last statement of the transaction records the trimmed position, so that
// writers do not wait for it. Trim records no position beyond the last one it read at the beginning, because rows may
// remain after it.
func (t *tx) Trim(ctx context.Context, upTo changelog.Seq, limit int) (int, error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	t.queueTotals()
	var bounds changelog.Bounds
	t.queue.Queue(sqlBounds).Query(eachRow(func(r pgx.Rows) error {
		return r.Scan((*int64)(&bounds.Trimmed), (*int64)(&bounds.Last))
	}))
	gone, err := rows(ctx, t, scalar[int64], sqlTrim, int64(upTo), int64(limit))
	if err != nil {
		return 0, fmt.Errorf("trim changes up to %d: %w", upTo, err)
	}
	last := min(upTo, bounds.Last)
	if len(gone) >= limit {
		last = 0
		for _, seq := range gone {
			last = max(last, changelog.Seq(seq))
		}
	}
	t.trimmed = max(t.trimmed, last)
	t.noteNumbers("change", gone)
	return len(gone), nil
}
