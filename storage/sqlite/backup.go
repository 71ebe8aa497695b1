// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"io"
)

// FileSize returns the size of the cell's file in bytes, as the transaction sees it: with what is still in the
// write-ahead log.
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
