// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/source/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// logical starts a server whose log can be read.
func logical(t *testing.T) *pgtest.Server {
	t.Helper()
	return pgtest.Start(t, &pgtest.Options{MaxConnections: 30, InMemory: true,
		Settings: map[string]string{"wal_level": "logical"}})
}

func connect(t *testing.T, s *pgtest.Server, db string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL(db))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, sql ...string) {
	t.Helper()
	for _, one := range sql {
		if _, err := conn.Exec(t.Context(), one); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
	}
}

func spec(t *testing.T, s *pgtest.Server, db, table string) source.Spec {
	t.Helper()
	u, err := source.ParseURL(s.Remote(t, db) + "&table=" + table)
	if err != nil {
		t.Fatal(err)
	}
	return source.Spec{Name: "crm", URL: u}
}

// reader has the rows of a table that Locus has, by id, and the position.
type reader struct {
	spec source.Spec
	at   source.Position
	rows map[string]string
	seen map[string]time.Time
	open source.Stream
}

func newReader(s source.Spec) *reader {
	return &reader{spec: s, rows: map[string]string{}, seen: map[string]time.Time{}}
}

func (r *reader) start(ctx context.Context) (err error) {
	if r.open, err = postgres.Driver.Open(ctx, r.spec, r.at.Clone()); err == nil {
		r.at = r.open.Position()
	}
	return err
}

func (r *reader) stop() {
	if r.open != nil {
		_ = r.open.Close() // as after a kill, nothing is told
		r.open = nil
	}
}

// step reads a batch, writes it, and saves the position unless it is killed before.
func (r *reader) step(ctx context.Context, limit int, killed bool) error {
	waiting, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	batch, err := r.open.Fetch(waiting, limit)
	if err != nil {
		if waiting.Err() != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return err
	}
	at := r.at.Clone()
	for _, m := range batch {
		at.Pass(m)
		if m.Marker {
			continue
		}
		row, ok, err := source.DecodeRow(source.JSON, m)
		if err != nil || !ok {
			return fmt.Errorf("message %+v: %w", m, err)
		}
		var of map[string]any
		if err := json.Unmarshal(row.Object, &of); err != nil {
			return err
		}
		id := of["id"].(string)
		if before, known := r.seen[id]; known && row.Time.Before(before) {
			continue
		}
		if row.Delete {
			delete(r.rows, id)
			delete(r.seen, id) // Locus does not keep it either
			continue
		}
		r.rows[id], r.seen[id] = string(row.Object), row.Time
	}
	if killed {
		return nil
	}
	r.at = at
	return r.open.Mark(ctx, at)
}

// caughtUp reads until everything of the log was read.
func (r *reader) caughtUp(t *testing.T) {
	t.Helper()
	if r.open == nil {
		if err := r.start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	late := time.Now().Add(time.Minute)
	ends, err := r.open.Ends(t.Context())
	for err == nil && (r.at.Next[0] < ends[0]-1<<20 || r.at.Next[1] < 1<<60) {
		if err = r.step(t.Context(), 100, false); time.Now().After(late) {
			t.Fatalf("at %v of %v", r.at, ends)
		}
	}
	for quiet := 0; err == nil && quiet < 3; { // changes of other tables have no messages
		before := r.at.Clone()
		if err = r.step(t.Context(), 100, false); cmp.Equal(before, r.at) {
			quiet++
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// is returns the rows of a table as the reader has them.
func is(t *testing.T, conn *pgx.Conn, table string) map[string]string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT id::text, name, tags, long FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var id string
	var name, long *string
	var tags []string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name, &tags, &long}, func() error {
		text, err := json.Marshal(map[string]any{"id": id, "name": name, "tags": tags, "long": long})
		all[id] = string(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// Rows and all kinds of changes: values that an update does not repeat, other keys, several rows of a record of the
// log.
func TestStream_RowsAndChanges(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := logical(t)
	db := s.Database(t)
	conn := connect(t, s, db)
	for _, identity := range []string{"DEFAULT", "FULL"} {
		table := "t_" + strings.ToLower(identity)
		exec(t, conn, "CREATE TABLE "+table+" (id bigint PRIMARY KEY, name text, tags text[], long text)", "ALTER TABLE "+table+" ALTER long SET STORAGE EXTERNAL, REPLICA IDENTITY "+identity,
			"INSERT INTO "+table+` SELECT n, 'n' || n, ARRAY['a "x"', 'b,c'], repeat('x', 5000) FROM generate_series(1, 2500) n`)
		r := newReader(spec(t, s, db, table+"&slot="+table))
		r.caughtUp(t)
		if diff := cmp.Diff(is(t, conn, table), r.rows); diff != "" {
			t.Fatalf("%s: rows (-want +got)\n%s", identity, diff)
		}
		// a record with several rows
		exec(t, conn, "INSERT INTO "+table+" SELECT n, NULL, NULL, NULL FROM generate_series(3001, 3100) n",
			"UPDATE "+table+" SET name = 'changed' WHERE id < 20",             // long is not repeated
			"UPDATE "+table+" SET id = id + 10000 WHERE id BETWEEN 20 AND 30", // other keys
			"DELETE FROM "+table+" WHERE id BETWEEN 100 AND 200",
			"BEGIN", "UPDATE "+table+" SET name = 'never'", "ROLLBACK",
			"BEGIN", "DELETE FROM "+table+" WHERE id = 5", "INSERT INTO "+table+" VALUES (5, 'again', '{}', NULL)", "COMMIT")
		r.caughtUp(t)
		if diff := cmp.Diff(is(t, conn, table), r.rows); diff != "" {
			t.Errorf("%s: after changes (-want +got)\n%s", identity, diff)
		}
		r.stop()
	}
}

// A partitioned table is one table, also for a row that moves to another partition, and with partitions that are added.
func TestStream_Partitions(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := logical(t)
	db := s.Database(t)
	conn := connect(t, s, db)
	exec(t, conn, "CREATE TABLE crm (id bigint PRIMARY KEY, name text, tags text[], long text) PARTITION BY RANGE (id)", "ALTER TABLE crm ALTER long SET STORAGE EXTERNAL",
		"CREATE TABLE low PARTITION OF crm FOR VALUES FROM (0) TO (100)",
		"CREATE TABLE high PARTITION OF crm FOR VALUES FROM (100) TO (1000) PARTITION BY RANGE (id)",
		"CREATE TABLE other (name text, id bigint NOT NULL, gone int, long text, tags text[])", "ALTER TABLE other DROP gone", // columns in another order
		"ALTER TABLE high ATTACH PARTITION other FOR VALUES FROM (100) TO (200)",
		"INSERT INTO crm SELECT n, 'n' || n, ARRAY['a'], repeat('x', 5000) FROM generate_series(1, 150) n")
	r := newReader(spec(t, s, db, "crm"))
	compare := func(what string) {
		t.Helper()
		r.caughtUp(t)
		if diff := cmp.Diff(is(t, conn, "crm"), r.rows); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	compare("rows")
	exec(t, conn, "UPDATE crm SET name = 'changed' WHERE id IN (7, 120)",
		"UPDATE crm SET id = id + 150 WHERE id IN (8, 20)", "DELETE FROM crm WHERE id IN (9, 130)")
	compare("after changes")
	exec(t, conn, "CREATE TABLE more PARTITION OF crm FOR VALUES FROM (1000) TO (2000)",
		"INSERT INTO crm VALUES (1001, 'more')", "UPDATE crm SET id = 1002 WHERE id = 10")
	compare("with another partition")
	r.stop()
}

// A reader or a server that is killed at any point, also while the rows are read, loses no change and no deletion.
func TestP17_KilledReadersMissNothing(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := logical(t)
	db := s.Database(t)
	conn := connect(t, s, db)
	exec(t, conn, "CREATE TABLE crm (id bigint PRIMARY KEY, name text, tags text[], long text)",
		"INSERT INTO crm SELECT n, 'n' || n FROM generate_series(1, 600) n")
	dice := rand.New(rand.NewPCG(5, 8)) //nolint:gosec // a test
	change := func(conn *pgx.Conn) {
		for range 1 + dice.IntN(20) {
			id := dice.IntN(700)
			var sql string
			switch dice.IntN(4) {
			case 0:
				sql = fmt.Sprintf("DELETE FROM crm WHERE id = %d", id)
			case 1:
				sql = fmt.Sprintf("UPDATE crm SET id = -id, name = 'm%d' WHERE id = %d AND NOT EXISTS (SELECT FROM crm WHERE id = -%d)", dice.IntN(1000), id, id)
			default:
				sql = fmt.Sprintf("INSERT INTO crm VALUES (%d, 'i%d') ON CONFLICT (id) DO UPDATE SET name = excluded.name", id,
					dice.IntN(1000))
			}
			exec(t, conn, sql)
		}
	}
	r := newReader(spec(t, s, db, "crm"))
	rounds := longtest.Sample(0, 30, 60, 400)
	for n := range rounds {
		if n%15 == 14 {
			s.Kill(t)
			r.stop()
			s.Restart(t)
			conn = connect(t, s, db)
		}
		change(conn)
		if r.open == nil {
			if err := r.start(t.Context()); err != nil && strings.Contains(err.Error(), "is active") {
				continue // the server has not noticed that the former one is gone
			} else if err != nil {
				t.Fatal(err)
			}
		}
		for range dice.IntN(3) {
			if err := r.step(t.Context(), 1+dice.IntN(200), false); err != nil {
				t.Fatal(err)
			}
			if dice.IntN(2) == 0 {
				change(conn)
			}
		}
		if dice.IntN(3) == 0 { // killed between the write and the position
			for range 3 {
				if err := r.step(t.Context(), 1+dice.IntN(200), true); err != nil {
					t.Fatal(err)
				}
			}
			r.stop()
		}
	}
	for r.open == nil {
		if err := r.start(t.Context()); err != nil && !strings.Contains(err.Error(), "is active") {
			t.Fatal(err)
		}
	}
	r.caughtUp(t)
	want := map[string]string{}
	for id, text := range is(t, conn, "crm") {
		want[id] = text
	}
	if diff := cmp.Diff(want, r.rows); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r.stop()
}

// A table that cannot be read without loss is refused, with a hint.
func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := logical(t)
	db := s.Database(t)
	conn := connect(t, s, db)
	exec(t, conn, "CREATE TABLE keyless (name text)", "CREATE TABLE crm (id bigint PRIMARY KEY, name text, tags text[], long text)", "CREATE VIEW v AS SELECT 1", "CREATE PUBLICATION other FOR TABLE keyless",
		"CREATE TABLE parted (id bigint PRIMARY KEY, name text) PARTITION BY RANGE (id)",
		"CREATE TABLE p1 PARTITION OF parted DEFAULT", "CREATE PUBLICATION parts FOR TABLE parted",
		"CREATE TABLE mute (id bigint PRIMARY KEY) PARTITION BY RANGE (id)", "CREATE TABLE m1 PARTITION OF mute DEFAULT",
		"ALTER TABLE m1 REPLICA IDENTITY NOTHING",
		"CREATE TABLE parted_keyless (id bigint) PARTITION BY RANGE (id)", "CREATE TABLE k1 PARTITION OF parted_keyless DEFAULT")
	for table, want := range map[string]string{"keyless": "REPLICA IDENTITY FULL", "v": "not an ordinary table", "missing": "there is no table", "crm&slot=other": "exists without table",
		"parted&slot=parts": "publish_via_partition_root", "mute": "partition m1", "parted_keyless": "no primary key"} {
		if _, err := postgres.Driver.Open(t.Context(), spec(t, s, db, table), source.Position{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", table, err)
		}
	}
	r := newReader(spec(t, s, db, "crm"))
	r.caughtUp(t)
	behind := r.at.Clone()
	exec(t, conn, "INSERT INTO crm VALUES (1, 'a')")
	r.caughtUp(t)
	r.stop()
	behind.Next[0]-- // as after a backup of Locus was restored
	late := time.Now().Add(time.Minute)
	for {
		_, err := postgres.Driver.Open(t.Context(), r.spec, behind)
		if errors.Is(err, source.ErrGap) {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("a position before the slot's: %v", err)
		}
	}
	for time.Now().Before(late) { // the server may not have noticed the end of the reader
		if _, err := conn.Exec(t.Context(), "SELECT pg_drop_replication_slot('locus_crm')"); err == nil {
			break
		}
	}
	if _, err := postgres.Driver.Open(t.Context(), r.spec, r.at); !errors.Is(err, source.ErrGap) {
		t.Errorf("a slot that was dropped: %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"postgres://crm@db/crm?table=a.b": true, "postgres://localhost/crm?table=t&slot=s_1": true,
		"postgres:///crm?host=/run&table=t": false, "postgres://db/crm?host=/run&table=t": false,
		"postgres://db/crm?host=db2,/run&table=t": false, "postgres://db/crm?host=@abstract&table=t": false,
		"postgres://db/crm":             false,
		"postgres://db/crm?table=a.b.c": false, "postgres://db/crm?table=t&sslkey=/etc/x": false,
		"postgres://db/crm?table=t&slot=A": false, "postgres://a,b/crm?table=t": false,
	} {
		u, err := url.Parse(text)
		if err == nil {
			err = postgres.Driver.Check(u)
		}
		if (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
