// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	sqlChanges = "SELECT seq, at, kind, entity, into_id, before, after, was, became, cause FROM change WHERE seq > ? ORDER BY seq LIMIT +?"
	sqlTrim    = "DELETE FROM change WHERE seq IN (SELECT seq FROM change WHERE seq <= ? ORDER BY seq LIMIT +?) RETURNING seq"
)

var insertChange = inserting("change (seq, at, kind, entity, into_id, before, after, was, became, cause, sum)", 11, "")

// Append inserts the changes, several per statement.
func (t *tx) Append(ctx context.Context, changes []changelog.Change) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	s, err := t.own(ctx)
	if err == nil {
		_, err = insertAll(t, insertChange, changes, func(to *list, c changelog.Change) {
			s.seq++
			row := [...]any{
				c.Time.UnixMilli(), string(c.Kind), c.Entity[:], idOrNull(c.Into), t.versions(c.Before), t.versions(c.After),
				t.image(c.Was), t.image(c.Is), string(c.Cause),
			}
			to.add(s.seq)
			to.add(row[:]...)
			to.add(cell.Sum(row[:]...))
		})
	}
	if err != nil {
		return fmt.Errorf("append %d changes: %w", len(changes), err)
	}
	return nil
}

// versions returns members as JSON, or NULL for none.
func (t *tx) versions(members []changelog.Version) any {
	if len(members) == 0 {
		return nil
	}
	t.text = document.AppendVersions(t.text[:0], members)
	return string(t.text)
}

// image returns an image as JSON, or NULL for nil.
func (t *tx) image(im *changelog.Image) any {
	if im == nil {
		return nil
	}
	t.text = document.AppendImage(t.text[:0], im)
	return string(t.text)
}

// Changes reads the table in order.
func (t *tx) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	s, err := t.own(ctx)
	if err == nil && max(int64(after), 0) < s.trimmed {
		return nil, fmt.Errorf("changes of cell %s after %d, trimmed up to %d: %w", t.cell, after, s.trimmed,
			changelog.ErrTrimmed)
	}
	var changes []changelog.Change
	if err == nil {
		changes, err = rows(ctx, t, readChange, sqlChanges, int64(after), int64(limit))
	}
	if err != nil {
		return nil, fmt.Errorf("read changes after %d: %w", after, err)
	}
	return changes, nil
}

func readChange(r row) (c changelog.Change, err error) {
	c = changelog.Change{
		Seq: changelog.Seq(r.int(0)), Time: time.UnixMilli(r.int(1)).UTC(), Kind: changelog.Kind(r.text(2)),
		Cause: changelog.Cause(r.text(9)),
	}
	if c.Entity, err = readID(r.blob(3)); err == nil {
		c.Into, err = readID(r.blob(4))
	}
	if err == nil {
		c.Before, err = document.ParseVersions(r.text(5))
	}
	if err == nil {
		c.After, err = document.ParseVersions(r.text(6))
	}
	if err == nil {
		c.Was, err = document.ParseImage(r.text(7))
	}
	if err == nil {
		c.Is, err = document.ParseImage(r.text(8))
	}
	if err != nil {
		return c, cell.Damaged("change", int64(c.Seq), err)
	}
	return c, nil
}

// Bounds is free in an Update, which has already read the row.
func (t *tx) Bounds(ctx context.Context) (changelog.Bounds, error) {
	if err := t.use(ctx); err != nil {
		return changelog.Bounds{}, err
	}
	s, err := t.own(ctx)
	if err != nil {
		return changelog.Bounds{}, fmt.Errorf("read the ends of the log: %w", err)
	}
	return changelog.Bounds{Trimmed: changelog.Seq(s.trimmed), Last: changelog.Seq(s.seq)}, nil
}

// Trim runs one statement.
func (t *tx) Trim(ctx context.Context, upTo changelog.Seq, limit int) (n int, err error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	s, err := t.own(ctx)
	if err == nil {
		err = t.query(ctx, sqlTrim, func(r row) error {
			n, s.trimmed = n+1, max(s.trimmed, r.int(0))
			return nil
		}, int64(upTo), int64(limit))
	}
	if err != nil {
		return 0, fmt.Errorf("trim changes up to %d: %w", upTo, err)
	}
	if n < limit { // no rows are left, and no later change can have a position up to upTo
		s.trimmed = max(s.trimmed, min(int64(upTo), s.seq))
	}
	return n, nil
}
