// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// file is the text's first document as JSON in an SQLite file.
type file struct {
	names []string
	path  string
	db    *sql.DB
	hit   *sql.Stmt
}

// openFile creates one with the settings of Locus' cells; SQLite checkpoints as it does by default.
func openFile(ctx context.Context, b *bench, s setting) (target, error) {
	f := &file{names: names(s.metrics), path: filepath.Join(b.tb.TempDir(), "documents")}
	var err error
	f.db, err = sql.Open("sqlite", "file:"+f.path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	f.db.SetMaxOpenConns(1)
	if _, err := f.db.ExecContext(ctx, "CREATE TABLE document (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID"); err != nil {
		return nil, err
	}
	f.hit, err = f.db.PrepareContext(ctx, `INSERT INTO document VALUES (?1, ?2) ON CONFLICT DO UPDATE SET doc = json_set(doc,
		'$.daily', doc->>'$.daily' + 1, ?3, coalesce(doc->>?3, 0) + 1, ?4, coalesce(doc->>?4, 0) + 1)`)
	return f, err
}

// add runs one transaction of prepared statements. Combining them would not save a round trip.
func (f *file) add(ctx context.Context, _ int, c call) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	hit := tx.StmtContext(ctx, f.hit)
	defer hit.Close()
	day := c.at.Format("20060102/")
	path := func(keys []string) string { return `$.` + keys[0] + `."` + keys[1] + `"` }
	hour, minute, doc := path(hourOf(c.at)), path(flatMinute(c.at)), first(c.at)
	for _, m := range c.metrics {
		if _, err := hit.ExecContext(ctx, day+f.names[m], doc, hour, minute); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (f *file) sums(ctx context.Context) ([]int64, error) {
	rows, err := f.db.QueryContext(ctx, `SELECT id, doc->>'$.daily', (SELECT sum(value) FROM json_each(doc, '$.hourly')),
		(SELECT sum(value) FROM json_each(doc, '$.minute')) FROM document`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	s := newSums(f.names)
	for rows.Next() {
		var id string
		var day, hours, minutes int64
		if err := rows.Scan(&id, &day, &hours, &minutes); err != nil {
			return nil, err
		}
		if err := s.add(id, day, hours, minutes); err != nil {
			return nil, err
		}
	}
	return s.all, rows.Err()
}

func (f *file) size(context.Context) (int64, error) { return filesOf(filepath.Dir(f.path)) }

func (f *file) close() error { return errors.Join(f.hit.Close(), f.db.Close()) }

// filesOf returns the size of the files of a directory, in bytes.
func filesOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		info, err := f.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
