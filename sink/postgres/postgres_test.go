// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/postgres"
	"github.com/locus-db/locus/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

var columns = &postgres.Options{Columns: []string{"name", "kind", `odd "'col`}}

// open returns a sink of a new database, and a connection to that.
func open(t *testing.T) (*postgres.Sink, string, *pgx.Conn) {
	t.Helper()
	server := pgtest.Shared(t)
	url := server.URL(server.Database(t))
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	s, err := postgres.Open(t.Context(), url+"&table=golden", columns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, url, conn
}

// get reads a row as an event.
func get(ctx context.Context, conn *pgx.Conn, id locality.ID) (e sink.Event, err error) {
	var kind, into, at, name *string
	var records, view []byte
	err = conn.QueryRow(ctx, "SELECT rev, op, kind, into_id::text, at, records, view, name FROM golden WHERE id = $1",
		id.String()).
		Scan(&e.Rev, &e.Op, &kind, &into, &at, &records, &view, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		return sink.Event{}, nil
	}
	if e.ID = id; kind != nil {
		e.Kind = *kind
	}
	if into != nil && err == nil {
		err = e.Into.UnmarshalText([]byte(*into))
	}
	if at != nil {
		e.At = *at
	}
	if records != nil {
		err = errors.Join(err, json.Unmarshal(records, &e.Records), json.Unmarshal(view, &e.View))
		phones := []string{}
		for _, p := range e.View["phones"].([]any) {
			phones = append(phones, p.(string))
		}
		e.View["phones"] = phones
		if name == nil || *name != e.View["name"] {
			err = errors.Join(err, errors.New("the column of the name differs from the view"))
		}
	} else if name != nil {
		err = errors.Join(err, errors.New("a row without a view has a name"))
	}
	return e, err
}

func TestConformance(t *testing.T) {
	t.Parallel()
	sinktest.Run(t, func(t *testing.T) sinktest.Target {
		s, _, conn := open(t)
		return sinktest.Target{Sink: s, Get: func(ctx context.Context, id locality.ID) (sink.Event, error) { return get(ctx, conn, id) }}
	})
}

func event(n byte, view map[string]any) sink.Event {
	return sink.Event{ID: locality.ID{0: n, 15: 1}, Rev: sinktest.Rev(1, int64(n)), Op: sink.Upsert, Kind: "place",
		Records: []string{"a:1"}, View: view}
}

// A value that PostgreSQL cannot store rejects its event only, and the position passes it.
func TestDeliver_RejectsWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	s, _, conn := open(t)
	bad := event(2, map[string]any{"name": "a\x00b"})
	at := &sink.Position{Installation: "x", Base: 7}
	err := s.Deliver(t.Context(), sink.Batch{Token: 1, Position: at,
		Events: []sink.Event{event(1, nil), bad, event(3, nil)}})
	var rejected *sink.RejectedError
	if !errors.As(err, &rejected) || len(rejected.Events) != 1 || rejected.Events[0].ID != bad.ID ||
		rejected.Events[0].Reason == "" {
		t.Fatal(err)
	}
	var rows int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM golden").Scan(&rows); err != nil || rows != 2 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if got, err := s.Position(t.Context()); err != nil || got.Base != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A row whose typed column was changed is another one, although its view is right.
func TestRead_ComparesTheColumns(t *testing.T) {
	t.Parallel()
	s, _, conn := open(t)
	first, second := event(1, map[string]any{"name": "a", "odd \"'col": "x"}), event(2, map[string]any{"name": "b"})
	if err := s.Deliver(t.Context(), sink.Batch{Token: 1, Events: []sink.Event{first, second}}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "UPDATE golden SET name = 'c' WHERE name = 'b'"); err != nil {
		t.Fatal(err)
	}
	var sums []sink.Sum
	if err := s.Read(t.Context(), nil, func(h sink.Held) error { sums = append(sums, h.Sum); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(sums) != 2 || sums[0] != sink.SumOf(&first) || sums[1] == sink.SumOf(&second) {
		t.Errorf("sums %x", sums)
	}
}

// A sink continues over a broken connection, and another kind of definition adds its columns.
func TestDeliver_ConnectsAgain(t *testing.T) {
	t.Parallel()
	s, url, conn := open(t)
	if _, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"); err != nil {
		t.Fatal(err)
	}
	batch := sink.Batch{Token: 1, Events: []sink.Event{event(1, map[string]any{"name": "Joe's", "city": "Rome"})}}
	if err := s.Deliver(t.Context(), batch); err == nil {
		t.Error("the connection was not broken")
	}
	if err := s.Deliver(t.Context(), batch); err != nil {
		t.Error(err)
	}
	again, err := postgres.Open(t.Context(), url+"&table=public.golden",
		&postgres.Options{Columns: []string{"name", "city"}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	batch.Events[0].Rev++
	if err := again.Deliver(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	var city string
	if err := conn.QueryRow(t.Context(), "SELECT city FROM golden").Scan(&city); err != nil || city != "Rome" {
		t.Errorf("%q, %v", city, err)
	}
}

// A table of another program is not touched.
// A server that is away is one line: the driver has one for every address, with and without TLS.
func TestOpen_SaysWhyNoServerAnswers(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "postgres://ann@127.0.0.1:1/crm?table=golden", nil)
	if err == nil || !strings.Contains(err.Error(), "refused") || strings.Count(err.Error(), "127.0.0.1") > 4 ||
		strings.ContainsAny(err.Error(), "\n\t") {
		t.Errorf("%v", err)
	}
}

func TestOpen_LeavesTheTablesOfOthers(t *testing.T) {
	t.Parallel()
	_, url, conn := open(t)
	if _, err := conn.Exec(t.Context(), "CREATE TABLE customers (id int, name text)"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), url+"&table=customers", columns); !errors.Is(err, sink.ErrStop) {
		t.Error(err)
	}
}

func TestOpen_RefusesURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:hidden@h/db", "mysql://u:hidden@h/db?table=t", "postgres://u:hidden@h:x/db?table=t", "postgres://u:hidden@h/db?table=a.b.c", "postgres://u:hidden@h/db?table=a."} {
		if _, err := postgres.Open(t.Context(), url, nil); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
