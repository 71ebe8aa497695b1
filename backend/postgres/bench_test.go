// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/backend/postgres"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// benchServer is a server with the memory of a small one in production.
func benchServer(b *testing.B) place {
	b.Helper()
	s := pgtest.Start(b, &pgtest.Options{Settings: map[string]string{"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}})
	return place{s, s.URL}
}

// The write path of a record, as the resolver takes it: the rows that a new record brings, in the three
// transactions of a batch. The benchmark of package sqlite writes the same.
const (
	featuresOfARecord = 6
	edgesOfARecord    = 0.6 // each stands twice
)

// load makes batches of records that look like places.
type load struct {
	rand *rand.Rand
	next uint64
	tick int64
}

func newLoad() *load { return &load{rand: rand.New(rand.NewPCG(1, 2)), tick: 1_700_000_000_000} }

func (l *load) id() (id locality.ID) {
	binary.BigEndian.PutUint64(id[:8], l.rand.Uint64())
	l.tick++
	binary.BigEndian.PutUint64(id[8:], uint64(l.tick))
	return id
}

func (l *load) key() (k cell.Key) {
	k.Ring = int64(l.rand.Uint64())
	binary.BigEndian.PutUint64(k.Digest[:], l.rand.Uint64())
	return k
}

// record is 13 facts of a place.
func (l *load) record(puid entity.PUID) *entity.Record {
	l.next++
	n := l.next
	return &entity.Record{
		PUID: puid, Ref: entity.Ref{Source: "vendor", Key: fmt.Sprintf("place-%d", n)}, Version: 1, Birth: l.id(), Anchor: puid, Observed: time.UnixMilli(l.tick),
		Attributes: entity.Attributes{
			"name": {fmt.Sprintf("Joe's Famous Pizza No. %d", n)}, "phones": {fmt.Sprintf("(415) 555-%04d", n%10000), fmt.Sprintf("415.556.%04d", n%10000)},
			"address": {fmt.Sprintf("%d Market Street", n%9999)}, "city": {"San Francisco"}, "region": {"CA"}, "postcode": {fmt.Sprint(94000 + n%200)},
			"country": {"US"}, "latitude": {"37.774929"}, "longitude": {"-122.419416"}, "websites": {fmt.Sprintf("https://www.joes%d.example/menu", n)}, "category": {"restaurant"},
		},
	}
}

func entityOf(r *entity.Record) entity.Indexed {
	e := &entity.Entity{ID: r.Birth, Members: []entity.Member{{PUID: r.PUID, Ref: r.Ref, Version: 1}}, Stamp: uint64(r.PUID) * 0x9e3779b97f4a7c15}
	var terms []uint64
	for _, name := range []string{"name", "phones", "address", "city", "region", "postcode", "country", "latitude", "longitude", "websites", "category"} {
		var values []entity.MergedValue
		for _, v := range r.Attributes[name] {
			values = append(values, entity.MergedValue{Value: v, Members: []int{0}})
			terms = append(terms, entity.Term(name, v))
		}
		e.View = append(e.View, entity.MergedAttribute{Name: name, Values: values})
	}
	return entity.Indexed{Entity: e, Names: []string{"joes", "famous", "pizza", "no", r.Key[6:]}, Terms: terms}
}

// write puts a batch of new records.
func (l *load) write(ctx context.Context, c resolve.Cell, n int) error {
	keys := make([]cell.Key, n)
	for i := range keys {
		keys[i] = l.key()
	}
	records := make([]*entity.Record, n)
	now := time.UnixMilli(l.tick)
	if err := c.Update(ctx, func(tx resolve.Tx) error {
		allocated, err := tx.Allocate(ctx, keys)
		if err != nil {
			return err
		}
		births, redo, changes := make([]entity.Birth, n), make([]resolve.Redo, n), make([]changelog.Change, n)
		puids := make([]entity.PUID, n)
		for i, a := range allocated {
			r := l.record(entity.PUID(a.PUID))
			records[i], puids[i], births[i], redo[i] = r, r.PUID, entity.Birth{ID: r.Birth, PUID: r.PUID}, resolve.Redo{PUID: r.PUID, Version: 1}
			changes[i] = changelog.Change{Time: now, Kind: changelog.Put, Entity: r.Birth, After: []changelog.Version{{PUID: r.PUID, Version: 1}}}
		}
		_, err1 := tx.Records(ctx, puids)
		err2 := errors.Join(tx.PutRecords(ctx, records), tx.PutBirths(ctx, births))
		_, err3 := tx.PutRedo(ctx, redo)
		return errors.Join(err1, err2, err3, tx.Append(ctx, changes), tx.AddCounts(ctx, entity.Counts{Records: int64(n)}))
	}); err != nil {
		return err
	}
	var features []uint64
	var limits []int
	if err := c.Update(ctx, func(tx resolve.Tx) error {
		var add []resolve.Posting
		for _, r := range records {
			for range featuresOfARecord {
				f := l.rand.Uint64()
				features, limits = append(features, f), append(limits, 65)
				add = append(add, resolve.Posting{Feature: f, PUID: r.PUID})
			}
		}
		if err := tx.Post(ctx, add, nil); err != nil {
			return err
		}
		_, err := tx.Carriers(ctx, features, limits)
		return err
	}); err != nil {
		return err
	}
	return c.Update(ctx, func(tx resolve.Tx) error {
		var edges []resolve.Edge
		entities, changes, done := make([]entity.Indexed, n), make([]changelog.Change, n), make([]resolve.Redo, n)
		for i, r := range records {
			if l.rand.Float64() < edgesOfARecord {
				other := records[l.rand.IntN(n)].PUID
				edges = append(edges, resolve.Edge{A: r.PUID, B: other, Vector: match.Vector(l.rand.Uint64()), Score: 900},
					resolve.Edge{A: other, B: r.PUID, Vector: match.Vector(l.rand.Uint64()), Score: 900})
			}
			entities[i], done[i] = entityOf(r), resolve.Redo{PUID: r.PUID, Version: 1}
			changes[i] = changelog.Change{Time: now, Kind: changelog.Created, Entity: r.Birth, After: []changelog.Version{{PUID: r.PUID, Version: 1}}}
		}
		return errors.Join(tx.PutEdges(ctx, edges), tx.PutEntities(ctx, entities), tx.Append(ctx, changes),
			tx.AddCounts(ctx, entity.Counts{Entities: int64(n)}), tx.ClearRedo(ctx, done))
	})
}

// BenchmarkWrite is a record's whole write path, an operation being a record: in batches of 250, into a cell
// that holds its share of a million.
func BenchmarkWrite(b *testing.B) {
	at := benchServer(b)
	d := at.open(b)
	l := newLoad()
	const batch, share = 250, 62_500
	for n := 0; n < share; n += 2500 {
		if err := l.write(b.Context(), d, 2500); err != nil {
			b.Fatal(err)
		}
	}
	bytes := func(sql string) float64 {
		n, err := strconv.ParseFloat(at.server.Exec(b, d.name, sql)[0][0], 64)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	const written = "SELECT pg_current_wal_insert_lsn() - '0/0'"
	before, client, server := bytes(written), cpu(), at.server.CPU()
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		if err := l.write(b.Context(), d, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(cpu()-client)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(at.server.CPU()-server)/float64(b.N), "server-cpu-ns/op")
	b.ReportMetric((bytes(written)-before)/float64(b.N), "log-B/op")
	b.ReportMetric(bytes("SELECT pg_database_size(current_database())")/float64(b.N+share), "file-B/op")
}

// BenchmarkAllocate is a new key in a transaction of its own, an operation being one, by so many writers
// at the same time: as the backend does it, and by the same statements without a gate.
func BenchmarkAllocate(b *testing.B) {
	at := benchServer(b)
	d := at.open(b)
	for _, writers := range []int{1, 8, 32} {
		run := func(name string, allocate func(context.Context, *pgx.Conn, cell.Key) error) {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				var next atomic.Int64
				var wg sync.WaitGroup
				errs := make([]error, writers)
				conns := make([]*pgx.Conn, writers)
				for w := range writers {
					conn, err := pgx.Connect(b.Context(), d.url)
					if err != nil {
						b.Fatal(err)
					}
					defer conn.Close(context.Background())
					conns[w] = conn
				}
				server := at.server.CPU()
				b.ResetTimer()
				for w := range writers {
					wg.Go(func() {
						l := newLoad()
						l.rand = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(w)))
						for errs[w] == nil && next.Add(1) <= int64(b.N) {
							errs[w] = allocate(context.Background(), conns[w], l.key())
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(at.server.CPU()-server)/float64(b.N), "server-cpu-ns/op")
				if err := errors.Join(errs...); err != nil {
					b.Fatal(err)
				}
			})
		}
		run("backend", func(ctx context.Context, _ *pgx.Conn, k cell.Key) error {
			return d.Update(ctx, func(tx resolve.Tx) error { _, err := tx.Allocate(ctx, []cell.Key{k}); return err })
		})
		run("gate", func(ctx context.Context, on *pgx.Conn, k cell.Key) error {
			return postgres.AllocateAlone(ctx, on, k, true)
		})
		run("no_gate", func(ctx context.Context, on *pgx.Conn, k cell.Key) error {
			return postgres.AllocateAlone(ctx, on, k, false)
		})
	}
}

// BenchmarkSeal is a seal among 32 writers that never pause, an operation being one: the time from its
// beginning until it is durable.
func BenchmarkSeal(b *testing.B) {
	at := benchServer(b)
	d := at.open(b)
	ctx, stop := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			l := newLoad()
			l.rand = rand.New(rand.NewPCG(3, uint64(w)))
			for ctx.Err() == nil {
				_ = d.Update(ctx, func(tx resolve.Tx) error { _, err := tx.Allocate(ctx, []cell.Key{l.key()}); return err })
			}
		})
	}
	longest := time.Duration(0)
	for b.Loop() {
		began := time.Now()
		if err := d.Exclusive(b.Context(), func(tx resolve.Tx) error {
			h, err := tx.Head(b.Context())
			if err != nil {
				return err
			}
			h.Told++
			return tx.SetHead(b.Context(), h)
		}); err != nil {
			b.Fatal(err)
		}
		longest = max(longest, time.Since(began))
	}
	b.ReportMetric(float64(longest), "longest-ns")
	stop()
	wg.Wait()
}
