// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Database creates an empty database with a new name, and returns the name. It is never dropped, because that takes
// longer than creating it.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.Clone(t, "template0")
}

// Clone is Database with the contents of another one, which must have no connections.
func (s *Server) Clone(t testing.TB, of string) string {
	t.Helper()
	name := "test_" + strconv.FormatInt(s.last.Add(1), 10)
	// The files are copied: by way of the log, which is the default, it takes twice the processor time.
	s.Exec(t, "postgres", "CREATE DATABASE "+name+" STRATEGY file_copy TEMPLATE "+of)
	return name
}

// Exec runs statements in a database and returns the rows of the last one as text.
func (s *Server) Exec(t testing.TB, db, sql string) [][]string {
	t.Helper()
	rows, err := s.exec(db, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

func (s *Server) exec(db, sql string) (rows [][]string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgconn.Connect(ctx, s.URL(db))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		rows = nil
		for _, values := range r.Rows {
			var row []string
			for _, v := range values {
				row = append(row, string(v))
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}
