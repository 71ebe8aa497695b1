// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

// file is a cell in a file, server a cell in a PostgreSQL database.
type (
	file struct {
		t  *testing.T
		db *sql.DB
	}
	server struct {
		t  *testing.T
		db *pgx.Conn
	}
)

func openFile(t *testing.T, path string) database {
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return file{t, db}
}

func openServer(t *testing.T, url string, id cell.ID) database {
	db, err := pgx.Connect(t.Context(), strings.Replace(url, "?", fmt.Sprintf("_g%d_%d?", id.Gen, id.Index), 1))
	must(t, err)
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	return server{t, db}
}

func (f file) columns() (of, keys map[string][]string) {
	rows, err := f.db.QueryContext(f.t.Context(), "SELECT m.name, c.name, c.pk FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid")
	must(f.t, err)
	defer rows.Close()
	of, keys = map[string][]string{}, map[string][]string{}
	for rows.Next() {
		var table, column string
		var pk int
		must(f.t, rows.Scan(&table, &column, &pk))
		if of[table] = append(of[table], column); pk > 0 {
			keys[table] = append(keys[table], column)
		}
	}
	must(f.t, rows.Err())
	return of, keys
}

func (s server) columns() (of, keys map[string][]string) {
	rows, err := s.db.Query(s.t.Context(), `SELECT c.relname, a.attname, coalesce(a.attnum = ANY (i.indkey), false) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
		LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`)
	must(s.t, err)
	of, keys = map[string][]string{}, map[string][]string{}
	var table, column string
	var key bool
	_, err = pgx.ForEachRow(rows, []any{&table, &column, &key}, func() error {
		if of[table] = append(of[table], column); key {
			keys[table] = append(keys[table], column)
		}
		return nil
	})
	must(s.t, err)
	return of, keys
}

func (f file) unlock() {
	_, err := f.db.ExecContext(f.t.Context(),
		"DROP TRIGGER audit_keep_new; DROP TRIGGER audit_keep_old; DROP TRIGGER audit_keep_all")
	must(f.t, err)
}

func (s server) unlock() {
	_, err := s.db.Exec(s.t.Context(), "ALTER TABLE audit DISABLE TRIGGER USER")
	must(s.t, err)
}

// picked selects the last row with a value in a column.
func picked(table, column string, keys []string, where, key, value string) string {
	conditions := column + " IS NOT NULL"
	if where != "" {
		conditions += " AND " + where
	}
	order := ""
	for i, k := range keys {
		if i > 0 {
			order += ", "
		}
		order += k + " DESC"
	}
	if order != "" {
		order = " ORDER BY " + order
	}
	return fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s%s LIMIT 1", key, fmt.Sprintf(value, column), table,
		conditions, order)
}

func (f file) flip(table, column string, keys []string, where string) (what string, undo func()) {
	all := append(slices.Clone(keys), "1")
	row := make([]any, len(all)+1)
	into := make([]any, len(row))
	for i := range row {
		into[i] = &row[i]
	}
	err := f.db.QueryRowContext(f.t.Context(),
		picked(table, column, keys, where, strings.Join(all, ", "), "%s")).Scan(into...)
	if err != nil {
		return "", nil
	}
	was, is := row[len(row)-1], any(nil)
	switch v := was.(type) {
	case int64:
		is = number(table, column, v, slices.Contains(keys, column))
	case string:
		is = letter(v)
	case []byte:
		if len(v) == 0 {
			return "", nil
		}
		b := slices.Clone(v)
		b[len(b)/2] ^= 1
		is = b
	}
	set := func(from, to any) {
		condition, args := "1", []any{to}
		for i, k := range keys {
			condition += " AND " + k + " = ?"
			if k == column {
				args = append(args, from)
			} else {
				args = append(args, row[i])
			}
		}
		result, err := f.db.ExecContext(f.t.Context(),
			fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", table, column, condition), args...)
		must(f.t, err)
		if n, _ := result.RowsAffected(); n != 1 {
			f.t.Fatalf("%s.%s: %d rows were changed, not 1", table, column, n)
		}
	}
	set(was, is)
	return fmt.Sprintf("%v became %v", was, is), func() {
		if slices.Equal(keys, []string{column}) { // the service may have recreated the missing row
			_, err := f.db.ExecContext(f.t.Context(), fmt.Sprintf("DELETE FROM %s WHERE %s = ?", table, column), was)
			must(f.t, err)
		}
		set(is, was)
	}
}

func (s server) flip(table, column string, keys []string, where string) (what string, undo func()) {
	var row []string
	var kind, was string
	if err := s.db.QueryRow(s.t.Context(), picked(table, column, keys, where, "ARRAY["+strings.Join(keys, "::text, ")+"::text]", "pg_typeof(%[1]s)::text, %[1]s::text")).Scan(&row, &kind, &was); err != nil {
		return "", nil
	}
	is := was
	switch kind {
	case "bigint", "integer", "smallint":
		n, err := strconv.ParseInt(was, 10, 64)
		must(s.t, err)
		is = fmt.Sprint(number(table, column, n, slices.Contains(keys, column)))
	case "boolean":
		is = map[string]string{"true": "false", "false": "true"}[was]
	case "bytea", "uuid", "bigint[]":
		if is = digit(was); is == was {
			return "", nil
		}
	default:
		is = letter(was)
	}
	set := func(to string) {
		sql := fmt.Sprintf("UPDATE %s SET %s = $1::text::%s WHERE ARRAY[%s::text] = $2", table, column, kind,
			strings.Join(keys, "::text, "))
		tag, err := s.db.Exec(s.t.Context(), sql, to, row)
		must(s.t, err)
		if tag.RowsAffected() != 1 {
			s.t.Fatalf("%s.%s: %d rows were changed, not 1", table, column, tag.RowsAffected())
		}
		if i := slices.Index(keys, column); i >= 0 {
			row[i] = to
		}
	}
	set(is)
	return was + " became " + is, func() {
		if slices.Equal(keys, []string{column}) { // the service may have recreated the missing row
			_, err := s.db.Exec(s.t.Context(), fmt.Sprintf("DELETE FROM %s WHERE %s = $1::text::%s", table, column, kind), was)
			must(s.t, err)
		}
		set(was)
	}
}

// number flips a bit that the check must notice: in a key one that does not give the key of another row, in a lowered
// column one that decreases the number.
func number(table, column string, n int64, key bool) int64 {
	switch {
	case lowered[table+"."+column]:
		return n & (n - 1)
	case key:
		return n ^ 1<<12
	}
	return n ^ 1
}

// digit flips a bit in a digit near the middle.
func digit(text string) string {
	is := []byte(text)
	for n := range is {
		if at := (len(is)/2 + n) % len(is); is[at] >= '0' && is[at] <= '9' {
			is[at] ^= 1
			break
		}
	}
	return string(is)
}

// letter flips a bit in a letter or digit near the middle so that it stays one, because PostgreSQL rejects malformed
// JSON.
func letter(text string) string {
	is := []byte(text)
	for n := range is {
		at := (len(is)/2 + n) % len(is)
		if c := is[at] ^ 1; alphanumeric(is[at]) && alphanumeric(c) {
			is[at] = c
			return string(is)
		}
	}
	return text + "x"
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (f file) seal(sum *int64) {
	_, err := f.db.ExecContext(f.t.Context(), "UPDATE locus_cell SET sum = ?", sum)
	must(f.t, err)
}

func (s server) seal(sum *int64) {
	_, err := s.db.Exec(s.t.Context(), "UPDATE locus_cell SET sum = $1", sum)
	must(s.t, err)
}

func (f file) dump() (rows []string) {
	tables, _ := f.columns()
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		got, err := f.db.QueryContext(f.t.Context(), "SELECT * FROM "+table) //nolint:rowserrcheck // below
		must(f.t, err)
		for got.Next() {
			row := make([]any, len(tables[table]))
			into := make([]any, len(row))
			for i := range row {
				into[i] = &row[i]
			}
			must(f.t, got.Scan(into...))
			rows = append(rows, fmt.Sprintln(table, row))
		}
		must(f.t, errors.Join(got.Err(), got.Close()))
	}
	slices.Sort(rows)
	return rows
}

func (s server) dump() (rows []string) {
	tables, _ := s.columns()
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		got, err := s.db.Query(s.t.Context(), "SELECT t::text FROM "+table+" AS t")
		must(s.t, err)
		texts, err := pgx.CollectRows(got, pgx.RowTo[string])
		must(s.t, err)
		for _, text := range texts {
			rows = append(rows, table+" "+text)
		}
	}
	slices.Sort(rows)
	return rows
}
