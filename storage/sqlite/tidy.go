// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// tidyPages is how many pages of the search index are merged at once.
const tidyPages = 64

// Tidy merges the segments of the search index, because a search looks for each of its words in each segment. Then it
// copies the write-ahead log into the file, which is cheaper to read. It does not wait for writers.
func (c *Cell) Tidy(ctx context.Context) (more bool, err error) {
	if err := errors.Join(c.err(), ctx.Err()); err != nil {
		return false, err
	}
	select {
	case w := <-c.writer:
		defer func() { c.writer <- w }()
		merged, err := w.merge()
		if err != nil {
			return false, fmt.Errorf("tidy cell %s: %w", c, c.failed(err))
		}
		if merged {
			c.checkpoint(w, c.pages)
		} else {
			c.checkpoint(w, 1)
		}
		return merged, nil
	default:
		return true, nil
	}
}

// merge merges a part of the search index, and reports whether it was in several segments.
func (c *conn) merge() (bool, error) {
	before, err := c.total()
	if err != nil {
		return false, err
	}
	if _, err := c.do("INSERT INTO search (search, rank) VALUES ('merge', ?)", int64(-tidyPages)); err != nil {
		return false, err
	}
	after, err := c.total()
	c.changes += after - before // no transaction of a cell has made them
	return after-before > 1, err
}

// total returns how many rows the connection has written.
func (c *conn) total() (int64, error) {
	r, err := c.do("SELECT total_changes()")
	if err != nil {
		return 0, err
	}
	return r.int(0), nil
}
