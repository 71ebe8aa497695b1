// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/backend/document"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
)

const sqlChanges = "SELECT seq, at, kind, entity, into_id, before::text, after::text FROM change WHERE seq > $1 ORDER BY seq LIMIT $2"

// Append is done by the last statement of the transaction: see queueTotals.
func (t *tx) Append(ctx context.Context, changes []changelog.Change) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	t.changes = append(t.changes, changes...)
	return nil
}

// Changes reads the table in order.
func (t *tx) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	t.queueTotals()
	changes, err := rows(ctx, t, readChange, sqlChanges, int64(after), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read changes after %d: %w", after, err)
	}
	return changes, nil
}

func readChange(r pgx.Rows) (c changelog.Change, err error) {
	var at int64
	var into locality.NullID
	var before, after *string
	if err := r.Scan((*int64)(&c.Seq), &at, (*string)(&c.Kind), &c.Entity, &into, &before, &after); err != nil {
		return c, err
	}
	c.Time, c.Into = time.UnixMilli(at).UTC(), into.ID
	if before != nil {
		c.Before, err = document.ParseVersions(*before)
	}
	if after != nil && err == nil {
		c.After, err = document.ParseVersions(*after)
	}
	if err != nil {
		return c, fmt.Errorf("%w: change %d: %w", errRow, c.Seq, err)
	}
	return c, nil
}
