// SPDX-License-Identifier: Apache-2.0

package sqltable_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/locus-db/locus/internal/sqltable"
	"github.com/locus-db/locus/internal/tabular"
)

// drain reads a table to its end: rows as "number: column=text ...", and their positions.
func drain(t testing.TB, table *sqltable.Table) (rows []string, positions [][]string) {
	t.Helper()
	defer table.Close()
	for {
		row, err := table.Next()
		if errors.Is(err, io.EOF) {
			return rows, positions
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, positions = append(rows, line(table, row)), append(positions, row.Position)
	}
}

func line(table *sqltable.Table, row tabular.Row) string {
	texts := []string{fmt.Sprintf("%d:", row.Number)}
	for _, c := range row.Cells {
		texts = append(texts, table.Columns()[c.Column].Name+"="+c.Text)
	}
	return strings.Join(texts, " ")
}

// read reads a database.
func read(t testing.TB, name string, o *sqltable.Options) (rows []string, err error) {
	t.Helper()
	table, err := sqltable.Open(t.Context(), name, o)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	for {
		row, err := table.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, line(table, row))
	}
}

// failure returns the reason and the hint for a database that cannot be read.
func failure(t testing.TB, name string, o *sqltable.Options) (reason, hint string) {
	t.Helper()
	_, err := read(t, name, o)
	wrong, ok := errors.AsType[*tabular.Error](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	return wrong.Error(), wrong.Hint
}

func file(t testing.TB, statements string) (name string, db *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b%20#.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path, db
}

func TestSQLite_Texts(t *testing.T) {
	t.Parallel()
	name, _ := file(t, "CREATE TABLE n (x)")
	rows, err := read(t, name, &sqltable.Options{Query: "SELECT '007' AS text, 7 AS n, 0.1 AS f, NULL AS none, date('2026-01-02') AS day, 'Köln' AS city, x'41' AS bytes"})
	if want := "1: text=007 n=7 f=0.1 day=2026-01-02 city=Köln bytes=A"; err != nil || !slices.Equal(rows, []string{want}) {
		t.Errorf("%q, %v, want %s", rows, err, want)
	}
}

func TestSQLite_Pages(t *testing.T) {
	t.Parallel()
	name, db := file(t, `PRAGMA journal_mode = wal; CREATE TABLE items (b TEXT NOT NULL, at DATETIME, photo BLOB, a INTEGER NOT NULL, PRIMARY KEY (a, b));
		WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20)
		INSERT INTO items SELECT x || '''', '2026-01-' || printf('%02d', x) || ' 10:00:00', x'00ff', x / 3 FROM n;
		CREATE TABLE loose (k TEXT PRIMARY KEY); INSERT INTO loose VALUES (NULL), (NULL), ('x')`)
	table, err := sqltable.Open(t.Context(), name, &sqltable.Options{Table: "items", Page: 3, Since: "at"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO items VALUES ('new', '2027-01-01 00:00:00', NULL, 100)"); err != nil {
		t.Fatal(err)
	}
	if table.High() != "2026-01-20 10:00:00" || !slices.Equal(table.Key(), []string{"a", "b"}) {
		t.Errorf("highest %q, key %v", table.High(), table.Key())
	}
	all, positions := drain(t, table)
	if len(all) != 20 || all[0] != "1: b=1' at=2026-01-01 10:00:00 a=0" {
		t.Errorf("%d rows: %q", len(all), all)
	}
	for i := range all {
		rest, err := read(t, name, &sqltable.Options{Table: "items", Page: 7, After: positions[i], Rows: int64(i + 1)})
		if err != nil || len(rest) != 20-i || !slices.Equal(rest[:19-i], all[i+1:]) {
			t.Fatalf("after row %d: %q, %v, want %q", i, rest, err, all[i+1:])
		}
	}
	if from, err := read(t, name, &sqltable.Options{Table: "items", Since: "at", From: "2026-01-20 10:00:00"}); err != nil || len(from) != 2 {
		t.Errorf("from the highest value on: %q, %v", from, err)
	}
	// A key that may be null gives no pages.
	if loose, err := read(t, name, &sqltable.Options{Table: "loose", Page: 1}); err != nil || len(loose) != 3 {
		t.Errorf("a table with nulls in its key: %q, %v", loose, err)
	}
}

func TestSQLite_IsRefused(t *testing.T) {
	t.Parallel()
	name, _ := file(t, "CREATE TABLE a (n INTEGER PRIMARY KEY); CREATE VIEW b AS SELECT 1")
	for _, c := range []struct {
		name, reason, hint string
		o                  sqltable.Options
	}{
		{name, "a table or a query", "the tables are: a, b", sqltable.Options{}},
		{name, `table "c" cannot be read`, "the tables are: a, b", sqltable.Options{Table: "c"}},
		{name, "the query cannot be read", "", sqltable.Options{Query: "DELETE FROM a"}},
		{name, `no column "m" for --since`, "n", sqltable.Options{Table: "a", Since: "m"}},
		{name, "primary key is another one", "", sqltable.Options{Table: "a", After: []string{"1", "2"}}},
		{"sqlite:" + filepath.Join(t.TempDir(), "none.db"), "no such file", "", sqltable.Options{Table: "a"}},
		{"sqlite:" + t.TempDir(), "it is a directory", "", sqltable.Options{Table: "a"}},
	} {
		reason, hint := failure(t, c.name, &c.o)
		if !strings.Contains(reason, c.reason) || !strings.Contains(hint, c.hint) {
			t.Errorf("%+v: %s; %s", c.o, reason, hint)
		}
	}
}

func TestName_HasNoPassword(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"postgres://u:secret@h:5432/d?sslmode=disable":          "postgres://u@h:5432/d?sslmode=disable",
		"postgres://u:se@cr/et@h/d":                             "postgres://u@h/d",
		"postgres://h/d?user=u&password=secret&sslmode=disable": "postgres://h/d?user=u&sslmode=disable",
		"mysql://u:secret@h/d":                                  "mysql://u@h/d",
		"sqlite:a@b.db":                                         "sqlite:a@b.db",
	} {
		if got := sqltable.Name(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
