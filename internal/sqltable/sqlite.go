// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// sqlite is a read transaction of a SQLite file.
type sqlite struct {
	db   *sql.DB
	conn *sql.Conn
}

// openSQLite opens a file by URL, sqlite:FILE, and does not create it.
func openSQLite(ctx context.Context, name string) (database, error) {
	file := File(name)
	if info, err := os.Stat(file); err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			err = wrong.Err
		}
		return nil, err
	} else if info.IsDir() {
		return nil, errors.New("it is a directory, and a SQLite file is wanted")
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: "mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(5000)"}).String())
	if err != nil {
		return nil, err
	}
	s := &sqlite{db: db}
	if s.conn, err = db.Conn(ctx); err == nil {
		// The first statement begins the snapshot.
		if _, err = s.conn.ExecContext(ctx, "BEGIN"); err == nil {
			_, err = list(ctx, s, "SELECT count(*) FROM sqlite_schema")
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *sqlite) close() error {
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	return errors.Join(err, s.db.Close())
}

func (s *sqlite) quote(name string) string { return quoted(name) }

// selected makes an expression of a column: the driver converts values of columns by their declared types.
func (s *sqlite) selected(name string) string        { return "+" + quoted(name) }
func (s *sqlite) param(n int, _ string) string       { return "?" + strconv.Itoa(n) }
func (s *sqlite) after(key, params []string) string  { return tuple(key, params) }
func (s *sqlite) afterArgs(values []string) []string { return values }

func (s *sqlite) describe(ctx context.Context, from, table string) (columns []column, key []string, err error) {
	types, err := columnTypes(ctx, s.conn, from)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range types {
		c := column{name: t.Name()}
		if strings.EqualFold(t.DatabaseTypeName(), "BLOB") {
			c.binary = "bytes (BLOB)"
		}
		columns = append(columns, c)
	}
	if table == "" {
		return columns, nil, nil
	}
	schema, name, found := strings.Cut(table, ".")
	if !found {
		schema, name = "main", table
	}
	// The key of WITHOUT ROWID tables, and an INTEGER one, is never null; any other may be.
	parts, err := list(ctx, s, `SELECT name, "notnull" OR (type = 'INTEGER' COLLATE NOCASE AND (SELECT count(*) FROM pragma_table_info(?1, ?2) WHERE pk > 0) = 1)
		FROM pragma_table_info(?1, ?2) WHERE pk > 0 ORDER BY pk`, name, schema)
	if err != nil || slices.ContainsFunc(parts, func(part []string) bool { return part[1] != "1" }) {
		return columns, nil, err
	}
	for _, part := range parts {
		key = append(key, part[0])
	}
	return columns, key, nil
}

func (s *sqlite) tables(ctx context.Context) (names []string, err error) {
	found, err := list(ctx, s, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1 LIMIT 21")
	for _, row := range found {
		names = append(names, row[0])
	}
	return names, err
}

func (s *sqlite) query(ctx context.Context, statement string, args []string) (rows, error) {
	return sqlQuery(ctx, s.conn, statement, args)
}
