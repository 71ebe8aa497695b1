// SPDX-License-Identifier: Apache-2.0

package pgtable

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Errors of this package.
var (
	// ErrForeign means that the table was not created by an export with this Spec. The text suggests a solution.
	ErrForeign = errors.New("the table is another one")
	// ErrChanged means that another export has written to the table since Begin. Nothing was written; try again.
	ErrChanged = errors.New("another export has written to the table in between")
	// ErrConnect means that the database cannot be reached.
	ErrConnect = errors.New("cannot connect")
)

// Spec is the content of a table. It does not change while the table exists.
type Spec struct {
	Installation string   // ID of the cell map
	What         string   // records, entities, links or decisions
	Kind, Source string   // "" for all
	Columns      []string // the chosen columns, nil for the usual ones
}

// State is the result of Begin.
type State struct {
	// Watermark is the watermark of the rows, "" if the table does not exist or everything must be written again.
	Watermark string

	before string            // the watermark in the database
	exists bool              // the table exists
	types  map[string]string // its columns
	made   []string          // the columns that exports made
}

// Target is a table. It is used by one goroutine at a time.
type Target struct {
	config *pgx.ConnConfig
	schema string
	name   string
	conn   *pgx.Conn
	spec   Spec
}

const (
	// controls is the table of the watermarks.
	controls = "locus_export"
	// longest is how many bytes of a name PostgreSQL keeps.
	longest = 63
)

// Parse parses postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE. Missing parts are taken from the variables, the
// service file and the password file of libpq. The error does not quote the URL, since that may contain a password.
func Parse(to string) (*Target, error) {
	const want = "want postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE"
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("the URL of the table cannot be read: " + want)
	}
	q := u.Query()
	t := &Target{name: q.Get("table")}
	if before, after, qualified := strings.Cut(t.name, "."); qualified {
		if t.schema, t.name = before, after; before == "" || strings.Contains(after, ".") {
			t.name = ""
		}
	}
	if t.name == "" || len(t.name) > longest || t.name == controls {
		return nil, errors.New("the URL names no table: " + want)
	}
	q.Del("table")
	u.RawQuery = q.Encode()
	_, rest, _ := strings.Cut(u.String(), ":") // without // if there is neither user, host nor database
	if t.config, err = pgx.ParseConfig(u.Scheme + "://" + strings.TrimPrefix(rest, "//")); err != nil {
		return nil, errors.New("the URL of the table, or a variable PG..., cannot be read: " + want)
	}
	t.config.DefaultQueryExecMode = pgx.QueryExecModeExec // poolers need not keep statements
	if t.config.RuntimeParams["application_name"] == "" {
		t.config.RuntimeParams["application_name"] = "locus export"
	}
	return t, nil
}

// Connect connects. The error is ErrConnect.
func (t *Target) Connect(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, t.config)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrConnect, strings.Join(strings.Fields(err.Error()), " "))
	}
	t.conn = conn
	return nil
}

// Close ends the connection.
func (t *Target) Close() error {
	if t.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return t.conn.Close(ctx)
}

// Name returns the name of the table, with the schema if there is one.
func (t *Target) Name() string {
	if t.schema == "" {
		return t.name
	}
	return t.schema + "." + t.name
}

func (t *Target) table() string   { return pgx.Identifier{t.schema, t.name}.Sanitize() }
func (t *Target) control() string { return pgx.Identifier{t.schema, controls}.Sanitize() }

// Begin inspects the table and changes nothing. The error is ErrForeign if the table was not made by an export with
// this Spec.
func (t *Target) Begin(ctx context.Context, spec Spec) (*State, error) {
	t.spec = spec
	if t.schema == "" {
		if err := t.conn.QueryRow(ctx, "SELECT coalesce(current_schema(), 'public')").Scan(&t.schema); err != nil {
			return nil, fmt.Errorf("look for the schema: %w", err)
		}
	}
	rows, err := t.conn.Query(ctx, `SELECT a.attname::text, format_type(a.atttypid, NULL) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped`, t.schema, t.name)
	if err != nil {
		return nil, fmt.Errorf("look for table %s: %w", t.table(), err)
	}
	s := &State{types: map[string]string{}}
	var name, kind string
	if _, err := pgx.ForEachRow(rows, []any{&name, &kind}, func() error { s.types[name] = kind; return nil }); err != nil {
		return nil, fmt.Errorf("look for table %s: %w", t.table(), err)
	}
	s.exists = len(s.types) > 0
	return s, t.recorded(ctx, s)
}

// recorded compares the recorded Spec of the table with the export's.
func (t *Target) recorded(ctx context.Context, s *State) error {
	var controlled bool
	if err := t.conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", t.control()).Scan(&controlled); err != nil {
		return fmt.Errorf("look for table %s: %w", t.control(), err)
	}
	var was Spec
	err := pgx.ErrNoRows
	if controlled {
		err = t.conn.QueryRow(ctx, "SELECT installation, what, kind, source, chosen, made, watermark FROM "+t.control()+" WHERE name = $1", t.name).
			Scan(&was.Installation, &was.What, &was.Kind, &was.Source, &was.Columns, &s.made, &s.before)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows) && s.exists:
		return fmt.Errorf("%w: %s exists and no export made it: name a table that does not exist yet", ErrForeign, t.table())
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("read table %s: %w", t.control(), err)
	case !s.exists: // the table was dropped: begin again
		s.made = nil
		return nil
	}
	for _, c := range s.made {
		if s.types[c] == "" {
			return fmt.Errorf("%w: %s has lost the column %q: drop the table to export everything again, or name another one",
				ErrForeign, t.table(), c)
		}
	}
	for _, d := range []struct{ what, was, is string }{
		{"of installation", was.Installation, t.spec.Installation}, {"of", was.What, t.spec.What},
		{"of kind", was.Kind, t.spec.Kind},
		{"of source", was.Source, t.spec.Source},
		{"of columns", strings.Join(was.Columns, ","), strings.Join(t.spec.Columns, ",")},
	} {
		if d.was != d.is {
			return fmt.Errorf("%w: %s was made by an export %s %s, and this one is %s %s: name another table, or drop that one first",
				ErrForeign, t.table(), d.what, orAll(d.was), d.what, orAll(d.is))
		}
	}
	s.Watermark = s.before
	return nil
}

func orAll(text string) string {
	if text == "" {
		return "(all)"
	}
	return text
}

// union returns the names of both, each once.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
