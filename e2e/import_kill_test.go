// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
)

// An import from PostgreSQL that is killed repeatedly ends with the same records and entities as an undisturbed one.
// The import of a table continues after its last durable row. The import of a query, whose rows have no positions,
// starts again. No record is lost, and none is written twice.
func TestP01_KilledImportOfPostgreSQL(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP01_KilledImport does it with a file")
	longtest.Slow(t)
	kills := rounds(t)
	rows := kills * 150
	dir := t.TempDir()
	file, calm := filepath.Join(dir, "places.csv"), filepath.Join(dir, "calm")
	writeCSV(t, file, 5, int64(rows))
	if out, err := run(t, "ingest", "--data", calm, file); err != nil {
		t.Fatalf("the undisturbed import: %v\n%s", err, out)
	}
	s := serve(t, calm, "127.0.0.1:0")
	want := partition(t, s.url)
	s.kill()

	postgres := pgtest.Start(t, &pgtest.Options{MaxConnections: 30, InMemory: true})
	database := postgres.Remote(t, postgres.Database(t))
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // nothing is left to write
	if _, err := conn.Exec(t.Context(), "CREATE TABLE places (source text, key text PRIMARY KEY, name text, address text, city text, postcode text)"); err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if _, err := conn.PgConn().CopyFrom(t.Context(), from, "COPY places FROM STDIN (FORMAT csv, HEADER)"); err != nil {
		t.Fatal(err)
	}
	for what, flags := range map[string][]string{
		"table": {"--table", "places"},
		"query": {"--query", "SELECT * FROM places WHERE key <> ''"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			work, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
			args := append([]string{"ingest", "--data", data, "--batch", "25", "--yes", database}, flags...)
			resumed := 0
			for kill := range kills {
				// Progress of a table shows in its state file; progress of a query only in what it stores.
				mark, most := func() string { return written(t, filepath.Join(data, "cells", "*")) }, 10*(kill+1)
				if what == "table" {
					mark, most = func() string { return content(t, filepath.Join(work, ".*.locus-ingest")) }, 0
				}
				last, changes := mark(), 0
				if killedRun(t, work, args, func() bool {
					if now := mark(); now != last {
						last, changes = now, changes+1
					}
					return changes > most
				}) {
					resumed++
				}
			}
			c := command(t.Context(), t, work, append(args, "--json")...)
			out, err := c.Output()
			if err != nil {
				t.Fatalf("the last import: %v\n%s", err, out)
			}
			var summary struct {
				Counts map[string]int
			}
			if err := json.Unmarshal(out, &summary); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if what == "table" && resumed == 0 {
				t.Error("no import ever went on from another one's state")
			}
			if what == "query" && (resumed > 0 || summary.Counts["unchanged"] == 0) {
				t.Errorf("%d imports went on from another one's state, and %d rows of the last one had been stored", resumed,
					summary.Counts["unchanged"])
			}
			if left := matching(t, filepath.Join(work, ".*.locus-ingest")); len(left) > 0 {
				t.Errorf("the state of a finished import is still there: %v", left)
			}
			s := serve(t, data, "127.0.0.1:0")
			if diff := cmp.Diff(want, partition(t, s.url)); diff != "" {
				t.Errorf("entities (-undisturbed +killed):\n%.4000s", diff)
			}
			records, err := allRecords(s.url)
			if err != nil || len(records) != rows {
				t.Errorf("%d records of %d: %v", len(records), rows, err)
			}
			for ref, r := range records {
				if r.Version != 1 {
					t.Errorf("record %v was written %d times", ref, r.Version)
				}
			}
			t.Logf("%d kills, %d resumed, %d rows of the last import were stored", kills, resumed, summary.Counts["unchanged"])
		})
	}
}

// written returns the sizes of files.
func written(t *testing.T, pattern string) (sizes string) {
	t.Helper()
	for _, name := range matching(t, pattern) {
		if info, err := os.Stat(name); err == nil {
			sizes += fmt.Sprint(info.Size(), " ")
		}
	}
	return sizes
}

// content returns the content of files.
func content(t *testing.T, pattern string) (all string) {
	t.Helper()
	for _, name := range matching(t, pattern) {
		text, _ := os.ReadFile(name) // one that is being renamed is read the next time
		all += string(text)
	}
	return all
}

func matching(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
