// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqltable_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/internal/sqltable"
)

// The texts of all types that matter, whatever the server is set to.
func TestPostgres_Texts(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	db := server.Database(t)
	server.Exec(t, db, `ALTER DATABASE `+db+` SET datestyle = 'SQL, DMY'; ALTER DATABASE `+db+` SET timezone = 'Asia/Kolkata';
		ALTER DATABASE `+db+` SET statement_timeout = '1h'`)
	query := `SELECT '007'::text AS text, 7::bigint AS n, 1.50::numeric(9,2) AS money, true AS yes, date '2026-11-03' AS day, null::text AS nothing,
		timestamp '2026-11-03 15:04:05.5' AS local, timestamptz '2026-11-03 15:04:05+01' AS at, timestamptz 'infinity' AS forever, time '15:04' AS clock,
		array['a', 'b,"c\', null, 'NULL', '{}', ' '] AS list, array[[1,2],[3,4]] AS grid, '{}'::text[] AS none, array[true] AS flags,
		'{"a":1}'::jsonb AS j, 'Köln'::varchar(9) AS city, '\x00'::bytea AS photo, 0.1::float8 AS f`
	rows, err := read(t, server.URL(db), &sqltable.Options{Query: query + " ; "})
	want := `1: text=007 n=7 money=1.50 yes=true day=2026-11-03 local=2026-11-03T15:04:05.5 at=2026-11-03T14:04:05Z forever=infinity clock=15:04:00 ` +
		`list=a list=b,"c\ list=NULL list={} list=  grid=1 grid=2 grid=3 grid=4 flags=true j={"a": 1} city=Köln f=0.1`
	if err != nil || !slices.Equal(rows, []string{want}) {
		t.Errorf("%q, %v\nwant %q", rows, err, want)
	}
}

// A table is read in pages by its key, and reading can continue after any row. Writes by others are not seen.
func TestPostgres_Pages(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	db := server.Database(t)
	server.Exec(t, db, `CREATE SCHEMA "My Shop"; CREATE TABLE "My Shop".items (b text, n int, a int, PRIMARY KEY (a, b));
		INSERT INTO "My Shop".items SELECT x || '''', x, x / 3 FROM generate_series(1, 20) x`)
	o := &sqltable.Options{Table: "My Shop.items", Page: 3, Since: "n"}
	table, err := sqltable.Open(t.Context(), server.URL(db), o)
	if err != nil {
		t.Fatal(err)
	}
	server.Exec(t, db, `INSERT INTO "My Shop".items VALUES ('new', 99, 4), ('new', 99, 100)`)
	if got := table.Key(); !slices.Equal(got, []string{"a", "b"}) || table.High() != "20" {
		t.Errorf("key %v, highest %s", got, table.High())
	}
	all, positions := drain(t, table)
	if len(all) != 20 {
		t.Errorf("%d rows: %q", len(all), all)
	}
	server.Exec(t, db, `DELETE FROM "My Shop".items WHERE b = 'new'`)
	for i := range all {
		rest, err := read(t, server.URL(db),
			&sqltable.Options{Table: o.Table, Page: 7, After: positions[i], Rows: int64(i + 1)})
		if err != nil || !slices.Equal(rest, all[i+1:]) {
			t.Fatalf("after row %d: %q, %v, want %q", i, rest, err, all[i+1:])
		}
	}
	from, err := read(t, server.URL(db), &sqltable.Options{Table: o.Table, Page: 2, Since: "n", From: "18"})
	if err != nil || len(from) != 3 {
		t.Errorf("from 18 on: %q, %v", from, err)
	}
}

// A snapshot cannot write, not even by the query.
func TestPostgres_IsReadOnly(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	db := server.Database(t)
	server.Exec(t, db, `CREATE TABLE t (n int); CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (1) RETURNING n'`)
	if rows, err := read(t, server.URL(db), &sqltable.Options{Query: "SELECT f()"}); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%q, %v", rows, err)
	}
	if n := server.Exec(t, db, "SELECT count(*) FROM t"); n[0][0] != "0" {
		t.Errorf("%v rows were written", n)
	}
}

// A password is taken from the files of libpq, and from a URL, and no error has it.
func TestPostgres_Passwords(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, nil)
	server.Exec(t, "postgres", `CREATE ROLE reader LOGIN PASSWORD 'se/cr@et'; CREATE TABLE t AS SELECT 1 AS n; GRANT SELECT ON t TO reader`)
	server.RequirePassword(t, "reader")
	u, err := url.Parse(server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	socket := u.Query().Get("host")
	dir := t.TempDir()
	service, password := filepath.Join(dir, "services"), filepath.Join(dir, "pass")
	for name, text := range map[string]string{
		service:  fmt.Sprintf("[shop]\nhost=%s\nuser=reader\ndbname=postgres\npassword=se/cr@et\n", socket),
		password: "*:*:*:reader:se/cr@et\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, name := range map[string]string{
		"a service file":  "postgres://?service=shop&servicefile=" + url.QueryEscape(service),
		"a password file": "postgres:///postgres?user=reader&host=" + url.QueryEscape(socket) + "&passfile=" + url.QueryEscape(password),
		"a URL":           "postgres://reader:se%2Fcr%40et@/postgres?host=" + url.QueryEscape(socket),
		"a parameter":     "postgres:///postgres?user=reader&password=se%2Fcr%40et&host=" + url.QueryEscape(socket),
	} {
		if rows, err := read(t, name, &sqltable.Options{Table: "t"}); err != nil || len(rows) != 1 {
			t.Errorf("%s: %q, %v", what, rows, err)
		}
	}
	for _, name := range []string{
		"postgres://reader:wrongse/cret@/postgres?host=" + url.QueryEscape(socket), "postgres://reader:%zzwrongsecret@/x",
		"postgres://reader:wrongsecret@/x?sslmode=never",
	} {
		_, err := read(t, name, &sqltable.Options{Table: "t"})
		if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(sqltable.Name(name), "cret") {
			t.Errorf("%s: error %v", sqltable.Name(name), err)
		}
	}
}

func TestPostgres_NamesTables(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	db := server.Database(t)
	server.Exec(t, db, `CREATE SCHEMA other; CREATE TABLE other.b (n int); CREATE TABLE a (n int)`)
	if reason, _ := failure(t, server.URL(db), &sqltable.Options{Query: "SELECT 1 AS x, 2 AS x"}); !strings.Contains(reason, `two columns are named "x"`) {
		t.Errorf("reason %s", reason)
	}
	_, hint := failure(t, server.URL(db), &sqltable.Options{Table: "nowhere"})
	if !strings.HasSuffix(hint, "the tables are: a, other.b") {
		t.Errorf("hint %s", hint)
	}
}

// The error of a server that cannot be reached is one line, with each address and reason once.
func TestPostgres_UnreachableIsOneLine(t *testing.T) {
	t.Parallel()
	_, err := sqltable.Open(t.Context(), "postgres://127.0.0.1:1/shop?sslmode=prefer", &sqltable.Options{Table: "t"})
	if err == nil || strings.ContainsAny(err.Error(), "\n\t") || strings.Count(err.Error(), "dial tcp") != 1 {
		t.Errorf("error %v, want one line with one reason", err)
	}
}
