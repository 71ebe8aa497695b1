// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtable_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/pgtest"
)

// BenchmarkWrite compares Write with COPY of the same rows from a file into a table with the same key.
func BenchmarkWrite(b *testing.B) {
	server := pgtest.Shared(b)
	database := server.Database(b)
	rows := make([]exchange.Row, 50_000)
	for i := range rows {
		rows[i] = exchange.Row{{fmt.Sprint(i)}, {fmt.Sprint("Blue Door Books ", i)},
			{fmt.Sprint("415-555-", i), "food > pizza"}}
	}
	file := filepath.Join(b.TempDir(), "rows")
	target, state := begin(b, server.URL(database)+"&table=recs")
	if _, err := target.Write(b.Context(), state, load("m", nil, rows...)); err != nil {
		b.Fatal(err)
	}
	conn, err := pgx.Connect(b.Context(), server.URL(database))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	to, err := os.Create(file)
	if err == nil {
		_, err = conn.PgConn().CopyTo(b.Context(), to, "COPY recs TO STDOUT")
	}
	if err = errors.Join(err, to.Close()); err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			server.Exec(b, database, "DROP TABLE recs, locus_export")
			target, state := begin(b, server.URL(database)+"&table=recs")
			if n, err := target.Write(b.Context(), state, load("m", nil, rows...)); err != nil || n != len(rows) {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("COPY", func(b *testing.B) {
		for b.Loop() {
			server.Exec(b, database, "DROP TABLE IF EXISTS copied; CREATE TABLE copied (LIKE recs INCLUDING ALL)")
			from, err := os.Open(file)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := conn.PgConn().CopyFrom(b.Context(), from, "COPY copied FROM STDIN"); err != nil {
				b.Fatal(err)
			}
			_ = from.Close()
		}
	})
}
