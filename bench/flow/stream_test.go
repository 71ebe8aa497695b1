// SPDX-License-Identifier: Apache-2.0

//go:build unix

package flow_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/intake"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/source/postgres"
	"github.com/locus-db/locus/sources"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// BenchmarkStream reads a table of PostgreSQL, first its rows and then as many changes of it, and puts the same records
// in calls of 1,000. A source puts up to 2,000 at once.
func BenchmarkStream(b *testing.B) {
	server := pgtest.Start(b, &pgtest.Options{MaxConnections: 30, InMemory: true,
		Settings: map[string]string{"wal_level": "logical"}})
	for range b.N {
		stream(b, server)
	}
}

func stream(b *testing.B, server *pgtest.Server) {
	database := server.Remote(b, server.Database(b))
	conn, err := pgx.Connect(b.Context(), database)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context()) //nolint:errcheck // nothing is left to write
	all := inputs(demo.New(3, 2*(*size)), 0, 2*(*size))
	for i := range all {
		all[i].Source, all[i].Key = "crm", fmt.Sprint("k", i)
	}
	table := newTable(b, conn, all)
	table.insert(b, conn, all[:*size])
	db := open(b, locus.Options{Sources: &sources.Options{Compile: intake.Compile}})
	read := func(n int64) {
		until(b, func() bool {
			s, err := db.Sources().Get(b.Context(), "crm")
			return err == nil && s.Records >= n
		})
	}
	rows := measure(server, func() {
		if _, _, err := db.Sources().Create(b.Context(), sources.Definition{Name: "crm", From: database + "&table=crm", Mapping: "key: key\n"}); err != nil {
			b.Fatal(err)
		}
		read(*size)
	})
	table.insert(b, conn, all[*size:])
	changes := measure(server, func() { read(2 * (*size)) })
	other := open(b, locus.Options{})
	first := measure(server, func() { put(b, other, all[:*size], 1000) })
	second := measure(server, func() { put(b, other, all[*size:], 1000) })
	rows.report(b, "row", *size)
	first.report(b, "put-of-row", *size)
	changes.report(b, "change", *size)
	second.report(b, "put-of-change", *size)
	b.ReportMetric(first.clock.Seconds()/rows.clock.Seconds(), "rows-of-puts")
	b.ReportMetric(second.clock.Seconds()/changes.clock.Seconds(), "changes-of-puts")
}

// table is a table with the attributes of records.
type table struct{ columns []string }

func newTable(b *testing.B, conn *pgx.Conn, all []records.Input) *table {
	columns := map[string]bool{}
	for _, in := range all {
		for name := range in.Attributes {
			columns[name] = true
		}
	}
	t := &table{slices.Sorted(maps.Keys(columns))}
	if _, err := conn.Exec(b.Context(), "CREATE TABLE crm (key text PRIMARY KEY, "+strings.Join(t.columns, " text[], ")+" text[])"); err != nil {
		b.Fatal(err)
	}
	return t
}

func (t *table) insert(b *testing.B, conn *pgx.Conn, all []records.Input) {
	_, err := conn.CopyFrom(b.Context(), pgx.Identifier{"crm"}, append([]string{"key"}, t.columns...), pgx.CopyFromSlice(len(all), func(i int) ([]any, error) {
		row := []any{all[i].Key}
		for _, name := range t.columns {
			row = append(row, all[i].Attributes[name])
		}
		return row, nil
	}))
	if err != nil {
		b.Fatal(err)
	}
}
