// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/internal/porttest"
)

// The server is killed in a loop while it reads the rows of a table in partitions and then its changes. In the end the
// installation has the records and entities of one that got the rows of the table from an import.
func TestP01_KilledSourceOfPostgreSQL(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP01_KilledSource does it with NATS")
	longtest.Slow(t)
	postgres := pgtest.Start(t, &pgtest.Options{MaxConnections: 30, InMemory: true,
		Settings: map[string]string{"wal_level": "logical"}})
	database := postgres.Remote(t, postgres.Database(t))
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck // nothing is left to write
	kills := rounds(t)
	share := int64(longtest.Times(80, 500))
	g := demo.New(13, int64(kills+1)*share)
	columns := map[string]bool{}
	for i := range int64(kills+1) * share {
		for name := range g.Record(i).Attributes {
			columns[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(columns))
	exec := func(tx pgx.Tx, sql string, args ...any) {
		t.Helper()
		if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	in := func(change func(pgx.Tx)) {
		t.Helper()
		if err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error { change(tx); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	in(func(tx pgx.Tx) {
		exec(tx, "CREATE TABLE crm (key text PRIMARY KEY, "+strings.Join(names,
			" text[], ")+" text[]) PARTITION BY HASH (key)")
		exec(tx, "CREATE TABLE crm_0 PARTITION OF crm FOR VALUES WITH (MODULUS 2, REMAINDER 0)")
		exec(tx, "CREATE TABLE crm_1 PARTITION OF crm FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
	})

	// The reference import has the final content of the table.
	want := serve(t, t.TempDir(), "127.0.0.1:"+porttest.Port(t))
	sent := int64(0)
	write := func() {
		t.Helper()
		var batch []httpapi.RecordInput
		row := func(tx pgx.Tx, i int64, revision int) httpapi.RecordInput {
			of := input(g, i, revision)
			of.Source, of.Key = "crm", fmt.Sprint("k", i)
			values := []any{of.Key}
			places := "$1"
			for n, name := range names {
				values = append(values, []string(of.Attributes[name]))
				places += fmt.Sprintf(", $%d", n+2)
			}
			exec(tx, "DELETE FROM crm WHERE key = $1", of.Key)
			exec(tx, "INSERT INTO crm VALUES ("+places+")", values...)
			return of
		}
		for part := int64(0); part < share; part += 20 {
			in(func(tx pgx.Tx) {
				for range 20 {
					i := sent
					sent++
					of := row(tx, i, 0)
					if i%10 == 0 {
						of = row(tx, i, 1)
					}
					if i%7 == 0 {
						exec(tx, "DELETE FROM crm WHERE key = $1", of.Key)
						continue
					}
					batch = append(batch, of)
				}
			})
		}
		if answer, err := post(want.url, batch); err != nil || !accepted(t, answer) {
			t.Fatal(err)
		}
	}
	write() // these are read as rows
	dir, addr := t.TempDir(), "127.0.0.1:"+porttest.Port(t)
	s := serve(t, dir, addr)
	if status, text := exchange(t, http.MethodPut, s.url+"/v1/sources/crm", fmt.Sprintf(`{"from":%q,"mapping":"key: key\n"}`, database+"&table=crm")); status/100 != 2 {
		t.Fatalf("%d %s", status, text)
	}
	stream := func() (of httpapi.Source) {
		if err := get(s.url, "/v1/sources/crm", url.Values{"count": {"false"}}, &of); err != nil {
			t.Fatal(err)
		}
		return of
	}
	for round := range kills {
		before := stream().Stream.Messages
		write()
		eventually(t, patience, "the source goes on", func() (bool, string) {
			return stream().Stream.Messages > before, fmt.Sprintf("%+v", stream().Stream)
		})
		time.Sleep(time.Duration(round%5) * 7 * time.Millisecond) // not a wait: where in a batch the kill falls
		s.kill()
		s = serve(t, dir, addr)
	}
	expected := keysOf(t, want.url)
	eventually(t, patience, "everything is read", func() (bool, string) {
		diff := cmp.Diff(expected, keysOf(t, s.url))
		return diff == "", fmt.Sprintf("%+v (-import +stream):\n%.2000s", stream().Stream, diff)
	})
	if of := stream().Stream; of.Dead != 0 || of.State != "running" {
		t.Errorf("%+v", of)
	}
	if diff := cmp.Diff(partition(t, want.url), partition(t, s.url)); diff != "" {
		t.Errorf("the stream has other entities than the import (-import +stream):\n%s", diff)
	}
}
