// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/storage"
)

// Vacuum merges the postings, whose runs keep removed ones, and the search index, whose segments keep the words of
// deleted entities, rewrites the file and empties the write-ahead log. Writers wait for all of it, readers for the last
// step. An interrupted Vacuum loses nothing: a partially written file is never used.
func (c *Cell) Vacuum(ctx context.Context) error {
	if err := c.Exclusive(ctx, func(tx storage.Tx) error { return tx.MergePostings(ctx, false) }); err != nil {
		return fmt.Errorf("vacuum cell %s: %w", c, err)
	}
	w, err := take(ctx, c, c.writer, nil)
	if err != nil {
		return err
	}
	defer func() { c.writer <- w }()
	for _, sql := range []string{"INSERT INTO search (search) VALUES ('optimize')", "VACUUM"} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.do(sql); err != nil {
			return fmt.Errorf("vacuum cell %s: %w", c, c.failed(err))
		}
	}
	for range cap(c.readers) {
		r, err := take(ctx, c, c.readers, c.spare)
		if err != nil {
			return err
		}
		defer c.release(r)
	}
	r, err := w.do("PRAGMA wal_checkpoint(TRUNCATE)")
	switch {
	case err != nil:
		return fmt.Errorf("vacuum cell %s: %w", c, c.failed(err))
	case r.int(0) != 0:
		return fmt.Errorf("vacuum cell %s: %w", c, errLogInUse)
	}
	c.pending = 0
	return nil
}

var errLogInUse = errors.New("somebody else reads the file, so the write-ahead log cannot be emptied")
