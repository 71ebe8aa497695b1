// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/backend/document"
	"github.com/locus-db/locus/changelog"
)

// Append is a row each.
func (t *tx) Append(ctx context.Context, changes []changelog.Change) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	s, err := t.own(ctx)
	if err == nil {
		err = each(t, "INSERT INTO change (seq, at, kind, entity, into_id, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)", changes,
			func(st *stmt, c changelog.Change) error {
				s.seq++
				return st.exec(s.seq, c.Time.UnixMilli(), string(c.Kind), c.Entity[:], idOrNull(c.Into), t.versions(c.Before), t.versions(c.After))
			})
	}
	if err != nil {
		return fmt.Errorf("append %d changes: %w", len(changes), err)
	}
	return nil
}

// versions are members as JSON, NULL for none.
func (t *tx) versions(members []changelog.Version) any {
	if len(members) == 0 {
		return nil
	}
	t.text = document.AppendVersions(t.text[:0], members)
	return string(t.text)
}

// Changes reads the table in order.
func (t *tx) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	changes, err := rows(ctx, t, readChange,
		"SELECT seq, at, kind, entity, into_id, before, after FROM change WHERE seq > ? ORDER BY seq LIMIT ?", int64(after), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read changes after %d: %w", after, err)
	}
	return changes, nil
}

func readChange(r row) (c changelog.Change, err error) {
	c = changelog.Change{Seq: changelog.Seq(r.int(0)), Time: time.UnixMilli(r.int(1)).UTC(), Kind: changelog.Kind(r.text(2))}
	if c.Entity, err = readID(r.blob(3)); err == nil {
		c.Into, err = readID(r.blob(4))
	}
	if err == nil {
		c.Before, err = document.ParseVersions(r.text(5))
	}
	if err == nil {
		c.After, err = document.ParseVersions(r.text(6))
	}
	if err != nil {
		return c, fmt.Errorf("%w: change %d: %w", errRow, c.Seq, err)
	}
	return c, nil
}
