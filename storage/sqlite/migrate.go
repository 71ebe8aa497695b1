// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // the tables of a cell
	"errors"
	"fmt"
	"strconv"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver, for migrations
	lib "modernc.org/sqlite/lib"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/internal/posting"
)

//go:embed migrations/0003_cell.sql
var cellSQL string

//go:embed migrations/0004_audit.sql
var auditSQL string

//go:embed migrations/0005_address.sql
var addressSQL string

//go:embed migrations/0006_posting.sql
var postingSQL string

// dropPostings ends the migration to packed postings, once those of the table are copied. A move that
// was interrupted begins again.
const dropPostings = "DROP TABLE posting; DELETE FROM locus_journal WHERE tab = 'posting'; PRAGMA user_version = 6"

// Format is the number of the newest migration.
const Format = format

const (
	// applicationID marks a file as a cell of Locus: the letters LOCs.
	applicationID = 0x4c4f4373
	// A file carries the number of its newest migration, so opening
	// an up-to-date cell needs only pragmas.
	format = 6
	// readerShift is the position in user_version of the oldest reader: the oldest format whose programs may work with
	// the file. A migration that such programs need not know of sets it to their format; 0 means the format of the
	// file.
	readerShift = 16
	// oldest is the lowest format that is migrated: those before it were never released.
	oldest = 3
	// migrateTries is how often the migrations are tried.
	migrateTries = 5
)

// gooseSQL is goose's own table as it leaves it in a new file.
const gooseSQL = `
CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (3, 1), (4, 1), (5, 1), (6, 1);`

// migrated returns a connection to the file at path, which has the newest format then. A new file gets it on this
// connection, because reading the tables costs each connection a millisecond.
func migrated(ctx context.Context, path string, o *Options) (*conn, error) {
	c, err := dial(path, []setting{{"busy_timeout", "5000", "5000"}})
	if err != nil {
		return nil, notDatabase(path, err)
	}
	current, err := c.format(path)
	switch {
	case err != nil || current == format:
	case current > 0:
		err = upgrade(ctx, path, current)
	case o.MustExist:
		err = fmt.Errorf("%w: %s is empty: restore it from a backup", storage.ErrLost, path)
	default:
		err = c.create(path, o)
	}
	if err != nil {
		return nil, notDatabase(path, errors.Join(err, c.close()))
	}
	return c, nil
}

// create makes an empty file a cell, in one transaction. The settings before it must precede a file's first page; the
// last of them writes that page. They have no effect on a file that has pages.
func (c *conn) create(path string, o *Options) error {
	err := c.set([]setting{
		{"page_size", strconv.Itoa(o.PageSize), ""}, {"auto_vacuum", "INCREMENTAL", ""}, {"journal_mode", "WAL", ""}, o.synchronous(),
	})
	if err != nil {
		return err
	}
	// Another process may create a file outside its directory at the same time.
	if _, err = c.do("BEGIN IMMEDIATE"); err == nil {
		current := int64(0)
		if current, err = c.format(path); err == nil && current == 0 {
			err = c.script(gooseSQL + cellSQL + auditSQL + addressSQL + postingSQL + dropPostings)
		}
	}
	if err == nil {
		_, err = c.do("COMMIT")
	}
	if err != nil {
		return fmt.Errorf("create cell %s: %w", path, explain(err))
	}
	return nil
}

// upgrade migrates the file at path from an older format. Each migration is one transaction.
func upgrade(ctx context.Context, path string, current int64) error {
	uri, err := fileURI(path)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", uri+"?_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
	if err != nil {
		return fmt.Errorf("migrate %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	// Another process may migrate a file outside its directory at the same time. One of the two then fails because
	// the other's objects exist, and tries again.
	for range migrateTries {
		if err = up(ctx, db); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("migrate %s from format %d to %d: %w", path, current, format, explain(err))
	}
	return nil
}

// up runs the migrations that the database lacks. A migration is one statement of many parts: goose would scan the
// file line by line with a buffer of 4 MiB for each.
func up(ctx context.Context, db *sql.DB) error {
	to := func(version int64, script string) *goose.Migration {
		return goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, script)
			return err
		}}, nil)
	}
	pack := goose.NewGoMigration(6, &goose.GoFunc{RunTx: packPostings}, nil)
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, nil, goose.WithGoMigrations(to(3, cellSQL), to(4, auditSQL), to(5, addressSQL), pack), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return cause(err)
}

// packPostings writes the postings of the table as one run, a page at a time.
func packPostings(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, postingSQL); err != nil {
		return err
	}
	if err := (posting.Migration{
		Page:  "SELECT blocking_key, puid FROM posting WHERE (blocking_key, puid) > (?, ?) ORDER BY blocking_key, puid LIMIT 10000",
		Chunk: sqlPutChunk,
		State: "UPDATE posting_state SET body = ?, sum = ? WHERE one = 1",
	}).Run(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, dropPostings)
	return err
}

// cause unwraps a migration error to its innermost error: the outer ones contain SQL, which must not reach a
// response.
func cause(err error) error {
	for within := err; within != nil; within = errors.Unwrap(within) {
		err = within
	}
	return err
}

// format returns the format of a file, 0 for an empty one, and this program's format for a newer one that it may work
// with. It refuses a file that is not a cell or has any other format.
func (c *conn) format(path string) (int64, error) {
	r, err := c.do(`SELECT application_id, user_version,
		(SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'goose%' AND name NOT LIKE 'sqlite%')
		FROM pragma_application_id, pragma_user_version`)
	if err != nil {
		return 0, err
	}
	id, version, tables := r.int(0), r.int(1), r.int(2)
	version, reader := version&(1<<readerShift-1), version>>readerShift
	switch {
	case id != applicationID && (id != 0 || version != 0 || reader != 0 || tables != 0):
		return 0, fmt.Errorf("%w: %s is a database of another program: restore the cell from a backup, or choose another directory", cell.ErrFormat, path)
	case version > format && reader > 0 && reader <= format:
		return format, nil // a newer Locus has only added tables or columns
	case version > format:
		return 0, fmt.Errorf("%w: %s was written by a newer Locus (format %d, this one reads up to %d): update Locus", cell.ErrFormat, path, version, format)
	case version > 0 && version < oldest:
		return 0, fmt.Errorf("%w: %s has format %d, from before the first release of Locus, this one reads from %d: ingest the sources into a new data directory", cell.ErrFormat, path, version, oldest)
	}
	return version, nil
}

// notDatabase wraps the error of a file that SQLite cannot read in ErrFormat.
func notDatabase(path string, err error) error {
	if code(err)&0xff == lib.SQLITE_NOTADB {
		return fmt.Errorf("%w: %s is no database: restore the cell from a backup, or choose another directory: %w", cell.ErrFormat, path, err)
	}
	return err
}
