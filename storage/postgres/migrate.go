// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// format is the number of the newest migration.
const format = 2

// prepare sees to it that the database is there and has the newest format. What that takes has no other
// limit than the context.
func (t *target) prepare(ctx context.Context, opts *Options, create bool) error {
	o := new(*opts)
	o.StatementTimeout, o.LockTimeout, o.IdleTimeout = 0, 0, 0
	on, err := (*pgx.Conn)(nil), fmt.Errorf("%w: %s", ErrMissing, t.shown)
	if !t.pooler || !t.lacks(ctx, o) {
		on, err = t.insist(ctx, o)
	}
	if errors.Is(err, ErrMissing) && create {
		if err := t.create(ctx, o); err != nil {
			return err
		}
		on, err = t.insist(ctx, o)
	}
	if err != nil {
		return err
	}
	defer on.Close(ctx)
	return t.migrate(ctx, on, o, create)
}

// insist is dial that tries again for a while if the server has too many connections.
func (t *target) insist(ctx context.Context, o *Options) (*pgx.Conn, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; {
		on, err := t.dial(ctx, o)
		if !isFull(err) || time.Since(began) > o.ConnectTimeout {
			return on, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// maintenance is the database that every server has, where others are made.
func (t *target) maintenance() *target {
	m := *t
	m.config = t.config.Copy()
	m.config.Database, m.db = "postgres", "postgres"
	return &m
}

// lacks tells whether the server behind a pooler says that the database is not there. PgBouncer says it
// too, when somebody connects, and then refuses everybody for a while.
func (t *target) lacks(ctx context.Context, o *Options) bool {
	on, err := t.maintenance().dial(ctx, o)
	if err != nil {
		return false // it may be closed to us
	}
	defer on.Close(ctx)
	var there bool
	err = on.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", t.db).Scan(&there)
	return err == nil && !there
}

// create makes the database, unless another process is faster.
func (t *target) create(ctx context.Context, o *Options) error {
	on, err := t.maintenance().insist(ctx, o)
	if err != nil {
		return fmt.Errorf("create %s by the database postgres: %w", t.shown, err)
	}
	defer on.Close(ctx)
	_, err = on.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{t.db}.Sanitize()+
		" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
	switch state(err) {
	case duplicateDatabase, uniqueViolation:
		return nil
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", t.shown, explain(err))
	}
	return nil
}

// migrate brings the schema to the newest format, and makes it if create is set. Each migration is one transaction.
func (t *target) migrate(ctx context.Context, on *pgx.Conn, o *Options, create bool) error {
	has, err := t.format(ctx, on)
	if err != nil || has == format {
		return err
	}
	if !create && has == 0 {
		return fmt.Errorf("%w: %s has no tables", ErrMissing, t.shown)
	}
	// Whoever has this lock migrates, the others wait. A transaction keeps it, and keeps one server
	// behind a pooler.
	lock, err := on.Begin(ctx)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", t.shown, explain(err))
	}
	defer lock.Rollback(ctx)                                                             //nolint:errcheck // it held a lock, and wrote nothing
	if _, err = lock.Exec(ctx, "SELECT pg_advisory_xact_lock(1280263027)"); err == nil { // the letters LOCs
		has, err = t.format(ctx, on)
	}
	if err != nil || has == format {
		return err
	}
	db := stdlib.OpenDB(*t.with(o))
	db.SetMaxOpenConns(1)
	if err := errors.Join(up(ctx, db), db.Close()); err != nil {
		return fmt.Errorf("migrate %s from format %d to %d: %w", t.shown, has, format, explain(err))
	}
	return nil
}

func up(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return cause(err)
}

// cause is what a migration failed of: the errors around it hold its statements, which are for no answer.
func cause(err error) error {
	for within := err; within != nil; within = errors.Unwrap(within) {
		err = within
	}
	return err
}

// sqlFormat asks for the tables of a cell and for all others.
const sqlFormat = `SELECT to_regclass('locus_cell') IS NOT NULL, to_regclass('goose_db_version') IS NOT NULL,
	(SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace)`

// format reads the format of a database, 0 for an empty one, and refuses what is no cell.
func (t *target) format(ctx context.Context, on *pgx.Conn) (has int64, err error) {
	var isCell, migrated bool
	var tables int
	err = on.QueryRow(ctx, sqlFormat).Scan(&isCell, &migrated, &tables)
	if err == nil && migrated {
		err = on.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&has)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("read the format of %s: %w", t.shown, explain(err))
	case isCell != (has > 0) || !migrated && tables > 0:
		return 0, fmt.Errorf("%w: %s is a database of another program: choose another name", ErrFormat, t.shown)
	case has > format:
		return 0, fmt.Errorf("%w: %s was written by a newer Locus (format %d, this one reads up to %d): update Locus", ErrFormat, t.shown, has, format)
	}
	return has, nil
}
