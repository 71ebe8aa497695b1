// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The source text's documents, as jsonb: the ID is day and metric; a hit increments three numbers and creates the
// document if it is missing.
const sqlDocument = `CREATE TABLE document (id text PRIMARY KEY, doc jsonb NOT NULL)`

// shape is one of the text's schemas.
type shape struct {
	// minute returns the path of a minute in the document.
	minute func(t time.Time) []string
	// blank is a document with every key, "" for one that grows.
	blank string
}

var (
	growing = shape{minute: flatMinute}
	flat    = shape{minute: flatMinute, blank: blank(flatMinute)}
	tree    = shape{minute: treeMinute, blank: blank(treeMinute)}
)

func flatMinute(t time.Time) []string {
	return []string{"minute", fmt.Sprintf("%04d", t.Hour()*60+t.Minute())}
}

func treeMinute(t time.Time) []string { return []string{"minute", t.Format("15"), t.Format("04")} }

func hourOf(t time.Time) []string { return []string{"hourly", t.Format("15")} }

// blank returns a document of zeros.
func blank(minute func(time.Time) []string) string {
	var b strings.Builder
	b.WriteString(`{"daily": 0, "hourly": {`)
	comma := func(i int) {
		if i > 0 {
			b.WriteString(", ")
		}
	}
	for h := range 24 {
		comma(h)
		fmt.Fprintf(&b, `"%02d": 0`, h)
	}
	b.WriteString(`}, "minute": {`)
	for m := range 24 * 60 {
		path := minute(midnight.Add(time.Duration(m) * time.Minute))
		if len(path) == 2 {
			comma(m)
			fmt.Fprintf(&b, `%q: 0`, path[1])
			continue
		}
		if path[2] == "00" {
			comma(m)
			fmt.Fprintf(&b, `%q: {`, path[1])
		} else {
			comma(1)
		}
		fmt.Fprintf(&b, `%q: 0`, path[2])
		if path[2] == "59" {
			b.WriteByte('}')
		}
	}
	b.WriteString("}}")
	return b.String()
}

// first returns a document with one hit, for documents that grow.
func first(t time.Time) string {
	return fmt.Sprintf(`{"daily": 1, "hourly": {%q: 1}, "minute": {%q: 1}}`, hourOf(t)[1], flatMinute(t)[1])
}

const (
	sqlHit = `INSERT INTO document AS d SELECT id, $2::jsonb FROM unnest($1::text[]) AS id
		ON CONFLICT (id) DO UPDATE SET doc = jsonb_set(jsonb_set(jsonb_set(d.doc,
			'{daily}', to_jsonb((d.doc->>'daily')::bigint + 1)),
			$3, to_jsonb(coalesce((d.doc#>>$3)::bigint, 0) + 1)),
			$4, to_jsonb(coalesce((d.doc#>>$4)::bigint, 0) + 1))`

	sqlBlank = `INSERT INTO document SELECT id, $2::jsonb FROM unnest($1::text[]) AS id ON CONFLICT DO NOTHING`

	// sqlSums reads minutes at whatever depth they have.
	sqlSums = `SELECT id, (doc->>'daily')::bigint,
		(SELECT sum(value::bigint)::bigint FROM jsonb_each_text(doc->'hourly')),
		(SELECT sum((value#>>'{}')::bigint)::bigint FROM (SELECT jsonb_path_query(doc->'minute', '$.**{last}') AS value) AS m) FROM document`
)

// documents are in one database.
type documents struct {
	shape
	names []string
	conn  *pgx.Conn
	r     *rand.Rand
}

// openDocuments creates a database for documents of a shape.
func openDocuments(s shape) func(context.Context, *bench, setting) (target, error) {
	return func(ctx context.Context, b *bench, o setting) (target, error) {
		d := &documents{shape: s, names: names(o.metrics), r: rand.New(rand.NewPCG(4, uint64(b.Round)))}
		var err error
		if d.conn, err = pgx.Connect(ctx, b.server.URL(b.server.Database(b.tb))); err != nil {
			return nil, err
		}
		_, err = d.conn.Exec(ctx, sqlDocument)
		return d, err
	}
}

func (d *documents) id(m int32, at time.Time) string { return at.Format("20060102/") + d.names[m] }

// add runs one transaction: the hits in one statement, preceded by the documents of tomorrow that chance creates.
func (d *documents) add(ctx context.Context, _ int, c call) error {
	ids := make([]string, len(c.metrics))
	var tomorrow []string
	for i, m := range c.metrics {
		ids[i] = d.id(m, c.at)
		if d.blank != "" && d.r.IntN(2000) == 0 {
			tomorrow = append(tomorrow, d.id(m, c.at.AddDate(0, 0, 1)))
		}
	}
	batch := &pgx.Batch{} // one transaction, one round trip
	if len(tomorrow) > 0 {
		batch.Queue(sqlBlank, tomorrow, d.blank)
	}
	batch.Queue(sqlHit, ids, first(c.at), hourOf(c.at), d.minute(c.at))
	return d.conn.SendBatch(ctx, batch).Close()
}

// prepare creates the documents of a day that chance has not created.
func (d *documents) prepare(ctx context.Context, day time.Time) error {
	if d.blank == "" {
		return nil
	}
	ids := make([]string, len(d.names))
	for m := range d.names {
		ids[m] = d.id(int32(m), day)
	}
	_, err := d.conn.Exec(ctx, sqlBlank, ids, d.blank)
	return err
}

func (d *documents) sums(ctx context.Context) ([]int64, error) {
	rows, err := d.conn.Query(ctx, sqlSums)
	if err != nil {
		return nil, err
	}
	s := newSums(d.names)
	var id string
	var day, hours, minutes int64
	_, err = pgx.ForEachRow(rows, []any{&id, &day, &hours, &minutes}, func() error { return s.add(id, day, hours, minutes) })
	return s.all, err
}

// sums collects the totals of documents.
type sums struct {
	of  map[string]int
	all []int64
}

func newSums(names []string) *sums {
	s := &sums{of: map[string]int{}, all: make([]int64, len(names))}
	for i, name := range names {
		s.of[name] = i
	}
	return s
}

// add adds the totals of one document, whose ID is its day and its metric.
func (s *sums) add(id string, day, hours, minutes int64) error {
	if day != hours || day != minutes {
		return fmt.Errorf("%s: the day has %d hits, its hours %d, its minutes %d", id, day, hours, minutes)
	}
	_, name, _ := strings.Cut(id, "/")
	m, known := s.of[name]
	if !known {
		return fmt.Errorf("nobody has hit %q", name)
	}
	s.all[m] += day
	return nil
}

func (d *documents) logged(ctx context.Context) (int64, error) { return walOf(ctx, d.conn) }

func (d *documents) size(ctx context.Context) (int64, error) { return sizeOf(ctx, d.conn) }

func (d *documents) close() error { return d.conn.Close(context.Background()) }

// walOf returns the size of the log that the server has written so far, in bytes.
func walOf(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	err = conn.QueryRow(ctx, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint").Scan(&n)
	return n, err
}

// sizeOf returns the size of the tables of a database with indexes and TOAST, in bytes.
func sizeOf(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	err = conn.QueryRow(ctx, `SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`).Scan(&n)
	return n, err
}
