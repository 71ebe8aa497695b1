// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
)

// Options of Open. Nil is the default.
type Options struct {
	// Columns are the attributes with a text column, which have one value. An attribute with the name of another column
	// is left out.
	Columns []string
	// Password, if not nil, replaces the password of the URL, of the environment and of the password file.
	Password *secret.Text
}

const (
	// BatchSize is a good size of batches; a sink must deliver one at a time.
	BatchSize = 500
	// table of the positions.
	controls = "locus_sink"
)

// fixed are the columns that every table has.
var fixed = []string{"id", "rev", "op", "kind", "into_id", "at", "records", "view"}

// Sink is the sink of a table. It stores positions.
type Sink struct {
	config  *pgx.ConnConfig
	table   pgx.Identifier
	columns []string
	conn    *pgx.Conn // nil if it is broken; used by one goroutine at a time
}

var _ sink.Sink = (*Sink)(nil)

// Open returns the sink of a table, named by the parameter table of a URL: postgres://USER@HOST/DATABASE?table=golden,
// or SCHEMA.TABLE. It creates the tables that are missing. Connections to other hosts are verified unless the URL has
// an sslmode. Parameters that name files are refused, because definitions come over HTTP. PGPASSWORD is not
// used. The error wraps sink.ErrStop if the table is of another program.
func Open(ctx context.Context, to string, opts *Options) (*Sink, error) {
	s, err := parse(to)
	if err != nil {
		return nil, err
	}
	if opts != nil {
		if opts.Password != nil {
			s.config.Password = opts.Password.Reveal()
		}
		for _, c := range opts.Columns {
			if !slices.Contains(fixed, c) && !slices.Contains(s.columns, c) {
				s.columns = append(s.columns, c)
			}
		}
	}
	if err := s.create(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// name returns the name of the table in the table of positions.
func (s *Sink) name() string { return strings.Join(s.table, ".") }

// control returns the table of positions, in the schema of the table.
func (s *Sink) control() string {
	return append(slices.Clone(s.table[:len(s.table)-1]), controls).Sanitize()
}

// create creates the missing tables and columns.
func (s *Sink) create(ctx context.Context) error {
	table := s.table.Sanitize()
	return s.in(ctx, func(tx pgx.Tx) error {
		has, err := columnsOf(ctx, tx, table)
		if err != nil {
			return err
		}
		for _, c := range fixed {
			if len(has) > 0 && !slices.Contains(has, c) {
				return fmt.Errorf("%w: table %s exists and has no column %s: give the sink a table of its own", sink.ErrStop,
					table, c)
			}
		}
		sql := []string{"CREATE TABLE IF NOT EXISTS " + s.control() + " (name text PRIMARY KEY, token bigint NOT NULL, position jsonb NOT NULL)"}
		if len(has) == 0 {
			sql = append(sql, "CREATE TABLE "+table+` (id uuid PRIMARY KEY, rev bigint NOT NULL, op text NOT NULL, kind text, into_id uuid, at text, records jsonb, view jsonb)`)
		}
		for _, c := range s.columns {
			if !slices.Contains(has, c) {
				sql = append(sql, "ALTER TABLE "+table+" ADD COLUMN "+pgx.Identifier{c}.Sanitize()+" text")
			}
		}
		for _, one := range sql {
			if _, err := tx.Exec(ctx, one); err != nil {
				return fmt.Errorf("create table %s: %w", table, err)
			}
		}
		return nil
	})
}

// columnsOf returns the columns of a table, none if there is no such table.
func columnsOf(ctx context.Context, tx pgx.Tx, table string) ([]string, error) {
	rows, err := tx.Query(ctx, "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped", table)
	if err != nil {
		return nil, fmt.Errorf("look for table %s: %w", table, err)
	}
	has, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for table %s: %w", table, err)
	}
	return has, nil
}

// Position implements sink.Sink.
func (s *Sink) Position(ctx context.Context) (at sink.Position, err error) {
	err = s.in(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "SELECT position FROM "+s.control()+" WHERE name = $1", s.name()).Scan(&at)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return at, err
}
