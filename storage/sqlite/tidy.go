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
	n, err := c.arrange("INSERT INTO search (search, rank) VALUES ('merge', ?)", int64(-tidyPages))
	return n > 1, err
}

// mergeSettings are the settings of the search index that differ from SQLite's: it merges eight segments at a time
// instead of four, and segments that have lost 15 % of their entities instead of 10 %. Higher values would cost
// searches more than they save.
var mergeSettings = []struct {
	name  string
	value int64
}{{"automerge", 8}, {"deletemerge", 15}}

// tune writes the settings into a file that has others. They affect when segments are merged and not the results, so a
// file that cannot be written now is opened with its own settings.
func (c *conn) tune() error {
	for _, s := range mergeSettings {
		stored, err := c.do("SELECT 1 FROM search_config WHERE k = ? AND v = ?", s.name, s.value)
		if err != nil {
			return err
		}
		if stored == nil {
			if _, err := c.arrange("INSERT INTO search (search, rank) VALUES (?, ?)", s.name, s.value); err != nil {
				return nil
			}
		}
	}
	return nil
}

// arrange runs a command of the search index, which does not count as a transaction of the cell, and returns how many
// rows it wrote.
func (c *conn) arrange(sql string, values ...any) (int64, error) {
	before, err := c.total()
	if err != nil {
		return 0, err
	}
	if _, err := c.do(sql, values...); err != nil {
		return 0, err
	}
	after, err := c.total()
	c.changes += after - before
	return after - before, err
}

// total returns how many rows the connection has written.
func (c *conn) total() (int64, error) {
	r, err := c.do("SELECT total_changes()")
	if err != nil {
		return 0, err
	}
	return r.int(0), nil
}
