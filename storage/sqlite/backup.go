// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locus-db/locus/cell"
)

// FileSize returns the size of the cell's file in bytes, as the transaction sees it, including pages that are still in
// the write-ahead log.
func (t *tx) FileSize(ctx context.Context) (int64, error) {
	if err := t.use(ctx); err != nil {
		return 0, err
	}
	var size int64
	err := t.query(ctx, `SELECT c.page_count * s.page_size FROM pragma_page_count AS c, pragma_page_size AS s`, func(r row) error {
		size = r.int(0)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("size of cell %s: %w", t.cell, err)
	}
	return size, nil
}

// WriteFile writes the cell's file to w as the transaction sees it, page by page: FileSize bytes, which are a database
// without a write-ahead log.
func (t *tx) WriteFile(ctx context.Context, w io.Writer) error {
	if err := t.use(ctx); err != nil {
		return err
	}
	if err := t.query(ctx, `SELECT data FROM sqlite_dbpage ORDER BY pgno`, func(r row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := w.Write(r.blob(0))
		return err
	}); err != nil {
		return fmt.Errorf("copy the file of cell %s: %w", t.cell, err)
	}
	return nil
}

// CheckFile reads every page of the cell's file, and counts its records and entities. The error is cell.ErrDamaged if
// pages, indexes or the search contradict each other.
func (t *tx) CheckFile(ctx context.Context) (records, entities int64, err error) {
	if err := t.use(ctx); err != nil {
		return 0, 0, err
	}
	if err := t.query(ctx, `PRAGMA quick_check(1)`, func(r row) error {
		if found := r.text(0); found != "ok" {
			return cell.Damaged("file", t.cell.path, errors.New(found))
		}
		return nil
	}); err != nil {
		return 0, 0, fmt.Errorf("check the file of cell %s: %w", t.cell, err)
	}
	err = t.query(ctx, `SELECT (SELECT count(*) FROM record WHERE body IS NOT NULL), (SELECT count(*) FROM entity)`, func(r row) error {
		records, entities = r.int(0), r.int(1)
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count the rows of cell %s: %w", t.cell, err)
	}
	return records, entities, nil
}
