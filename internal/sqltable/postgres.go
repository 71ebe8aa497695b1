// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/internal/tabular"
)

// postgres is a transaction of PostgreSQL. All values are texts, as the server writes them.
type postgres struct{ conn *pgconn.PgConn }

// snapshot begins the transaction with settings that make the text of values independent of the server's settings.
const snapshot = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL client_encoding = 'UTF8'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL timezone = 'UTC'; SET LOCAL intervalstyle = 'iso_8601';
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`

// openPostgres opens a database by URL. A host, user, password and so on that it lacks are taken from libpq's sources:
// PGPASSWORD and the other variables, a service file, a password file.
func openPostgres(ctx context.Context, name string) (database, error) {
	config, err := pgconn.ParseConfig(name)
	if err != nil {
		// the error may name the password
		return nil, fmt.Errorf("the URL %s, or a variable PG..., cannot be parsed", Name(name))
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "locus ingest"
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, oneLine(err)
	}
	p := &postgres{conn}
	if _, err := conn.Exec(ctx, snapshot).ReadAll(); err != nil {
		_ = p.close()
		return nil, err
	}
	return p, nil
}

// oneLine returns the error of a connection, which has a line for each try, in one line and without repetitions.
func oneLine(err error) error {
	what, tries, _ := strings.Cut(err.Error(), "\n")
	var reasons []string
	for line := range strings.SplitSeq(tries, "\n") {
		if line = strings.TrimSpace(line); !slices.Contains(reasons, line) {
			reasons = append(reasons, line)
		}
	}
	return errors.New(strings.TrimSpace(what + " " + strings.Join(reasons, "; ")))
}

func (p *postgres) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return p.conn.Close(ctx)
}

func (p *postgres) quote(name string) string           { return quoted(name) }
func (p *postgres) selected(name string) string        { return quoted(name) }
func (p *postgres) param(n int, _ string) string       { return "$" + strconv.Itoa(n) }
func (p *postgres) after(key, params []string) string  { return tuple(key, params) }
func (p *postgres) afterArgs(values []string) []string { return values }

// Types by their numbers, which never change.
const (
	typeBool        = 16
	typeBytea       = 17
	typeTimestamp   = 1114
	typeTimestampTZ = 1184
)

func (p *postgres) describe(ctx context.Context, from, table string) (columns []column, key []string, err error) {
	statement, err := p.conn.Prepare(ctx, "", "SELECT * FROM "+from, nil)
	if err != nil {
		return nil, nil, err
	}
	numbers := make([]string, len(statement.Fields))
	for i, f := range statement.Fields {
		numbers[i] = strconv.FormatUint(uint64(f.DataTypeOID), 10)
	}
	// A domain is its base type, and an array has the type of its elements.
	types, err := list(ctx, p, `SELECT coalesce(nullif(t.typbasetype, 0), t.oid), t.typcategory = 'A', coalesce(nullif(t.typelem, 0), 0)
		FROM unnest($1::oid[]) WITH ORDINALITY AS n(oid, place) JOIN pg_type t ON t.oid = n.oid ORDER BY n.place`, "{"+strings.Join(numbers, ",")+"}")
	if err != nil {
		return nil, nil, err
	}
	if len(types) != len(numbers) {
		return nil, nil, fmt.Errorf("the types of %d of %d columns are known", len(types), len(numbers))
	}
	for i, f := range statement.Fields {
		c := column{name: f.Name}
		array := types[i][1] == "t"
		of, _ := strconv.Atoi(types[i][0])
		if array {
			of, _ = strconv.Atoi(types[i][2])
		}
		var each func(string) string
		switch of {
		case typeBytea:
			c.binary = "bytes (bytea)"
		case typeBool:
			each = func(text string) string { return strconv.FormatBool(text == "t") }
		case typeTimestamp:
			each = func(text string) string { return isoText(text, "2006-01-02 15:04:05", tabular.FormatLocal) }
		case typeTimestampTZ:
			each = func(text string) string { return isoText(text, "2006-01-02 15:04:05Z07", tabular.FormatTime) }
		}
		switch {
		case array:
			c.texts = func(text string) ([]string, error) { return elements(text, each) }
		case each != nil:
			c.texts = func(text string) ([]string, error) { return []string{each(text)}, nil }
		}
		columns = append(columns, c)
	}
	if table == "" {
		return columns, nil, nil
	}
	names, err := list(ctx, p, `SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
		WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY array_position(i.indkey::int2[], a.attnum)`, from)
	for _, name := range names {
		key = append(key, name[0])
	}
	return columns, key, err
}

func (p *postgres) tables(ctx context.Context) (names []string, err error) {
	// A statement that failed has ended the transaction.
	if _, err := p.conn.Exec(ctx, "ROLLBACK; "+snapshot).ReadAll(); err != nil {
		return nil, err
	}
	found, err := list(ctx, p, `SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1 LIMIT 21`)
	for _, row := range found {
		names = append(names, row[0])
	}
	return names, err
}

func (p *postgres) query(ctx context.Context, statement string, args []string) (rows, error) {
	params := make([][]byte, len(args))
	for i, arg := range args {
		params[i] = []byte(arg)
	}
	return &postgresRows{result: p.conn.ExecParams(ctx, statement, params, nil, nil, nil)}, nil
}

type postgresRows struct {
	result *pgconn.ResultReader
	texts  []string
	values []*string
	done   bool
}

func (r *postgresRows) next() ([]*string, error) {
	if r.done || !r.result.NextRow() {
		r.done = true
		if _, err := r.result.Close(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	raw := r.result.Values()
	r.texts, r.values = make([]string, len(raw)), make([]*string, len(raw))
	for i, v := range raw {
		if v != nil {
			r.texts[i] = string(v)
			r.values[i] = &r.texts[i]
		}
	}
	return r.values, nil
}

// close does nothing: a result that was not read to its end is dropped with the connection instead of being read.
func (r *postgresRows) close() error { return nil }
