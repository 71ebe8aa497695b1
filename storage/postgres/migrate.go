// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"database/sql"
	_ "embed" // the tables of a cell
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/0003_cell.sql
var cellSQL string

//go:embed migrations/0004_word.sql
var wordSQL string

//go:embed migrations/0005_audit.sql
var auditSQL string

const (
	// format is the number of the newest migration.
	format = 5
	// oldest is the lowest format that is migrated: those before it were never released.
	oldest = 3
)

// prepare makes sure that the database exists and has the newest format. Only the context limits the time this
// takes.
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

// insist is dial with retries for ConnectTimeout while the server has too many connections.
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

// maintenance returns the database postgres, which exists on every server and from which others are created.
func (t *target) maintenance() *target {
	m := *t
	m.config = t.config.Copy()
	m.config.Database, m.db = "postgres", "postgres"
	return &m
}

// lacks reports whether the server behind a pooler says that the database does not exist. PgBouncer reports it too
// when a client connects, but then refuses all clients for a while.
func (t *target) lacks(ctx context.Context, o *Options) bool {
	on, err := t.maintenance().dial(ctx, o)
	if err != nil {
		return false // this role may not connect to it
	}
	defer on.Close(ctx)
	var there bool
	err = on.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", t.db).Scan(&there)
	return err == nil && !there
}

// create creates the database, unless another process does so first.
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

// migrate migrates the schema to the newest format; it creates the schema only if create is set. Each migration is
// one transaction.
func (t *target) migrate(ctx context.Context, on *pgx.Conn, o *Options, create bool) error {
	has, err := t.format(ctx, on)
	if err != nil || has == format {
		return err
	}
	if !create && has == 0 {
		return fmt.Errorf("%w: %s has no tables", ErrMissing, t.shown)
	}
	// The process that holds this lock migrates, the others wait. The transaction keeps the lock, and behind a
	// pooler the server.
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

// up runs the migrations that the database lacks. A migration is one statement of many parts: goose would scan the
// file line by line with a buffer of 4 MiB for each.
func up(ctx context.Context, db *sql.DB) error {
	to := func(version int64, script string) *goose.Migration {
		return goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, script)
			return err
		}}, nil)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, nil, goose.WithGoMigrations(to(3, cellSQL), to(4, wordSQL), to(5, auditSQL)), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return cause(err)
}

// cause unwraps a migration error to its innermost error: the outer ones contain SQL, which must not reach a
// response.
func cause(err error) error {
	for within := err; within != nil; within = errors.Unwrap(within) {
		err = within
	}
	return err
}

// sqlFormat reports whether the tables of a cell exist, and counts all tables.
const sqlFormat = `SELECT to_regclass('locus_cell') IS NOT NULL, to_regclass('goose_db_version') IS NOT NULL,
	(SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace)`

// format returns the format of a database, or 0 for an empty one. It refuses a database that is not a cell, or has
// another format.
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
	case has > 0 && has < oldest:
		return 0, fmt.Errorf("%w: %s has format %d, from before the first release of Locus, this one reads from %d: ingest the sources into a new database", ErrFormat, t.shown, has, oldest)
	}
	return has, nil
}
