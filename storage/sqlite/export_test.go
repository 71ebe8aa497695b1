// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	sqlpkg "database/sql"
	"errors"
	"fmt"

	"github.com/locus-db/locus/storage"
)

// LeaveRoom makes the cell continue as if all but n of its puids had been given out.
func LeaveRoom(c *Cell, n int64) error {
	return c.Update(context.Background(), func(t storage.Tx) error {
		lo, hi := c.bounds()
		t.(*tx).state.used = hi - lo - n
		return nil
	})
}

// CountPostings counts the rows.
func CountPostings(t storage.Tx) (n int64, err error) {
	rows, err := t.ReadRows(context.Background(), "posting", nil, 1<<40)
	return int64(len(rows)), err
}

// CheckIntegrity runs SQLite's checks of every page and index, and of the search.
func CheckIntegrity(c *Cell) error {
	return c.Update(context.Background(), func(t storage.Tx) error {
		return t.(*tx).query(context.Background(), "PRAGMA integrity_check", func(r row) error {
			if r.text(0) != "ok" {
				return fmt.Errorf("integrity: %s", r.text(0))
			}
			return nil
		})
	})
}

// Script runs statements on any SQLite file.
func Script(path, sql string) error {
	uri, err := fileURI(path)
	if err != nil {
		return err
	}
	db, err := sqlpkg.Open("sqlite", uri)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), sql)
	return errors.Join(err, db.Close())
}
