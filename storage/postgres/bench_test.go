// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance/entitytest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
	"github.com/locus-db/locus/storage/storagetest"
)

// benchServer starts a server with the memory of a small production server.
func benchServer(b *testing.B) place {
	b.Helper()
	s := pgtest.Start(b, &pgtest.Options{Settings: map[string]string{"shared_buffers": "1GB", "max_wal_size": "8GB", "checkpoint_timeout": "30min"}})
	return place{s, s.URL}
}

// BenchmarkWrite measures the whole write path, an operation being a record: in batches of 250, into a cell that
// holds its share of a million.
func BenchmarkWrite(b *testing.B) {
	at := benchServer(b)
	d := at.open(b)
	l := storagetest.NewLoad()
	const batch, share = 250, 62_500
	for n := 0; n < share; n += 2500 {
		if err := l.Write(b.Context(), d, 2500); err != nil {
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
		if err := l.Write(b.Context(), d, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(cpu()-client)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(at.server.CPU()-server)/float64(b.N), "server-cpu-ns/op")
	b.ReportMetric((bytes(written)-before)/float64(b.N), "log-B/op")
	b.ReportMetric(bytes("SELECT pg_database_size(current_database())")/float64(b.N+share), "file-B/op")
}

// BenchmarkAllocate measures a transaction that allocates one new key, with several concurrent writers: through the
// backend, and with the same statements without a gate.
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
						l := storagetest.NewLoad()
						l.Rand = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(w)))
						for errs[w] == nil && next.Add(1) <= int64(b.N) {
							errs[w] = allocate(context.Background(), conns[w], l.Key())
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
			return d.Update(ctx, func(tx storage.Tx) error { _, err := tx.Allocate(ctx, []cell.Key{k}); return err })
		})
		run("gate", func(ctx context.Context, on *pgx.Conn, k cell.Key) error {
			return postgres.AllocateAlone(ctx, on, k, true)
		})
		run("no_gate", func(ctx context.Context, on *pgx.Conn, k cell.Key) error {
			return postgres.AllocateAlone(ctx, on, k, false)
		})
	}
}

// BenchmarkSeal measures a seal among 32 writers that never pause, from its beginning until it is durable.
func BenchmarkSeal(b *testing.B) {
	at := benchServer(b)
	d := at.open(b)
	ctx, stop := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			l := storagetest.NewLoad()
			l.Rand = rand.New(rand.NewPCG(3, uint64(w)))
			for ctx.Err() == nil {
				_ = d.Update(ctx, func(tx storage.Tx) error { _, err := tx.Allocate(ctx, []cell.Key{l.Key()}); return err })
			}
		})
	}
	longest := time.Duration(0)
	for b.Loop() {
		began := time.Now()
		if err := d.Exclusive(b.Context(), func(tx storage.Tx) error {
			h, err := tx.Head(b.Context())
			if err != nil {
				return err
			}
			h.KnownEpoch++
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

// BenchmarkTallies measures a tally, that is, a minute of a metric, in transactions of several: of one minute, like
// a group of waiting callers, and of ten, like an imported file.
func BenchmarkTallies(b *testing.B) {
	at := benchServer(b)
	d := at.open(b)
	for _, c := range []struct{ metrics, minutes, batch int }{{100, 1, 64}, {1000, 1, 1000}, {1000, 10, 1000}} {
		b.Run(fmt.Sprintf("metrics=%d/minutes=%d/batch=%d", c.metrics, c.minutes, c.batch), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 2))
			tallies := make([]counter.Tally, c.batch)
			server := at.server.CPU()
			for done := 0; done < b.N; done += c.batch {
				for i, n := range rnd.Perm(c.metrics * c.minutes)[:c.batch] {
					tallies[i] = counter.Tally{ID: counter.ID(1 + n%c.metrics), Minute: counter.Minute(n/c.metrics + done/c.batch/10%1430), N: 1}
				}
				if err := d.Update(b.Context(), func(tx storage.Tx) error {
					_, err := tx.AddTallies(b.Context(), tallies)
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(at.server.CPU()-server)/float64(b.N), "server-cpu-ns/op")
		})
	}
}

// BenchmarkSearch measures a page of a search that a hundred thousand entities match.
func BenchmarkSearch(b *testing.B) {
	at := benchServer(b)
	d := at.open(b)
	entitytest.BenchSearch(b, entitytest.Cell{Update: func(ctx context.Context, fn func(entity.Store) error) error {
		return d.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
	}}, func() { at.server.Exec(b, d.name, "VACUUM ANALYZE entity") })
}
