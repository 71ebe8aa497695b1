// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// shop makes a SQLite database with 300 customers.
func shop(t *testing.T) (dir string, db *sql.DB) {
	t.Helper()
	dir = t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(`CREATE TABLE customers (no INTEGER PRIMARY KEY, company TEXT, changed TEXT, photo BLOB);
		WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300)
		INSERT INTO customers SELECT x, 'Shop ' || x, '2026-01-' || (10 + x % 10), x'00' FROM n`); err != nil {
		t.Fatal(err)
	}
	return dir, db
}

// An interrupted import of a table continues after the last durable row, and --since reads rows that were added since
// the last import.
func TestIngest_DatabaseGoesOn(t *testing.T) {
	t.Parallel()
	dir, db := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &fake{refuse: func(call int, _ http.ResponseWriter) bool {
		if call == 5 {
			cancel()
		}
		return false
	}}
	args := []string{
		"ingest", "--url", start(t, f), "--batch", "10", "--table", "customers", "--since", "changed", "--set",
		"name=company", "--ignore", "photo",
		"sqlite:" + filepath.Join(dir, "shop.db"),
	}
	if got := run(ctx, nil, args...); got.code != 130 || !strings.Contains(got.err, "repeat the command to continue from there") {
		t.Fatalf("interrupted: %d\n%s", got.code, got.err)
	}
	_, records, _ := f.seen()
	before := len(records)
	got := run(t.Context(), nil, args...)
	if got.code != 0 || !strings.Contains(got.err, "continuing after row") ||
		!strings.Contains(got.stdout, "\t300\t300\t") {
		t.Errorf("going on: %d\n%s%s", got.code, got.stdout, got.err)
	}
	_, records, _ = f.seen()
	keys := map[string]bool{}
	for _, r := range records {
		keys[r.Source+r.Key] = true
	}
	if len(keys) != 300 || !keys["customers300"] || before == 0 || len(records) >= before+300 {
		t.Errorf("%d of 300 rows arrived, %d before the interrupt and %d in all", len(keys), before, len(records))
	}

	// Thirty rows have the highest value; one more has changed since.
	if _, err := db.Exec("UPDATE customers SET changed = '2026-02-01' WHERE no = 7"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"\t31\t", "\t1\t"} {
		if got := run(t.Context(), nil, args...); got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("import %d since the last one: %d\n%s%s, want %q", i+2, got.code, got.stdout, got.err, want)
		}
	}
	// Without the records it begins again.
	f.mu.Lock()
	f.gone = true
	f.mu.Unlock()
	if got := run(t.Context(), nil, args...); got.code != 0 || !strings.Contains(got.stdout, "\t300\t300\t") {
		t.Errorf("after the data was replaced: %d\n%s%s", got.code, got.stdout, got.err)
	}
}

// Refused rows of a table are written to a file next to the database. A table that cannot be read is reported before
// anything is sent.
func TestIngest_DatabaseRefuses(t *testing.T) {
	t.Parallel()
	dir, db := shop(t)
	if _, err := db.Exec("UPDATE customers SET company = NULL WHERE no = 9"); err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	url, name := start(t, f), "sqlite:"+filepath.Join(dir, "shop.db")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{name}, "the tables are: customers"},
		{[]string{name, "--table", "customers", "--set", "name=company"},
			`column "photo" has bytes (BLOB), which is not read`},
		{[]string{name, "--table", "customers", "--query", "SELECT 1"}, "exclude each other"},
		{[]string{name, "other.csv", "--table", "customers"}, "a database is read alone"},
		{[]string{"other.csv", "--table", "customers"}, "are those of a database"},
	} {
		if got := run(t.Context(), nil, append([]string{"ingest", "--url", url}, c.args...)...); got.code != 2 && got.code != 1 || !strings.Contains(got.err, c.want) {
			t.Errorf("%v: %d\n%s, want %q", c.args, got.code, got.err, c.want)
		}
	}
	if got := run(t.Context(), nil, "match", "--url", url, "postgres://u:secret@h/d"); got.code != 2 || strings.Contains(got.err, "secret") {
		t.Errorf("match: %d %s", got.code, got.err)
	}
	if calls, _, _ := f.seen(); calls > 0 {
		t.Errorf("%d calls", calls)
	}
	got := run(t.Context(), nil, "ingest", "--url", url, "--source", "s", name, "--query",
		"SELECT no AS key, company AS name FROM customers")
	rejects, err := os.ReadFile(filepath.Join(dir, "shop.db.query.rejected.jsonl"))
	if got.code != 3 || err != nil || !strings.Contains(got.err, "1 row was refused (row 9: ") ||
		strings.Count(string(rejects), "\n") != 1 {
		t.Errorf("%d\n%s\n%v %s", got.code, got.err, err, rejects)
	}
}
