// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// These benchmarks start a PostgreSQL server; without one they are skipped.

func TestMain(m *testing.M) { os.Exit(compare.TestMain(pgtest.Main(m))) }

// onPostgres creates an installation in databases of one server.
func onPostgres(b *testing.B, name string, cells int) *storage.Cells {
	b.Helper()
	opts := &storage.Options{Cells: cells, Notice: time.Second, Connections: 400}
	opened, err := storage.Open(b.Context(), pgtest.Shared(b).URL(name), opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := opened.Close(); err != nil {
			b.Error(err)
		}
	})
	return opened
}

// numbers makes keys unique over all benchmarks.
var numbers atomic.Int64

func newKeys(m *cell.Map, n int) []cell.Key {
	keys := make([]cell.Key, n)
	for i := range keys {
		keys[i] = m.KeyOf("osm", fmt.Sprintf("node/%d", numbers.Add(1)))
	}
	return keys
}

// BenchmarkGate puts new keys one by one into one cell, with eight writers.
func BenchmarkGate(b *testing.B) {
	cells := onPostgres(b, "gate", 1)
	directory, m := cell.NewDirectory[storage.Tx](cells), cells.Map()
	put := func(put func(writer int, k cell.Key) error) loop {
		return func(n int) {
			var left atomic.Int64
			left.Store(int64(n))
			var wg sync.WaitGroup
			for writer := range 8 {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						compare.Fail(put(writer, newKeys(m, 1)[0]))
					}
				})
			}
			wg.Wait()
		}
	}
	connections := make([]*pgx.Conn, 8)
	for i := range connections {
		conn, err := pgx.Connect(b.Context(), m.URL(cell.ID{}))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := conn.Close(context.Background()); err != nil {
				b.Error(err)
			}
		})
		connections[i] = conn
	}
	suite.Run(b,
		subject{Peer: "locus", Loop: put(func(_ int, k cell.Key) error {
			_, err := directory.Put(b.Context(), []cell.Key{k})
			return err
		})},
		subject{Peer: "gate", Loop: put(func(writer int, k cell.Key) error {
			return statements(b.Context(), connections[writer], k, true)
		})},
		subject{Peer: "ungated", Loop: put(func(writer int, k cell.Key) error {
			return statements(b.Context(), connections[writer], k, false)
		})},
	)
}

// statements runs the statements of storage/postgres for the put of one key. The gate takes a round trip of its
// own, because the next statement depends on its result.
func statements(ctx context.Context, conn *pgx.Conn, k cell.Key, gate bool) error {
	rings, digests := []int64{k.Ring}, [][]byte{k.Digest[:]}
	var trip pgx.Batch
	trip.Queue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
	if gate {
		trip.Queue("SELECT keys, home, incarnation, epoch, known_epoch, fence FROM locus_cell FOR SHARE")
		if err := conn.SendBatch(ctx, &trip).Close(); err != nil {
			return err
		}
		trip = pgx.Batch{}
	}
	trip.Queue("SELECT last_value - (NOT is_called)::int FROM locus_puid")
	trip.Queue(`SELECT j.n, k.puid FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS j (ring, digest, n)
		JOIN locus_key AS k ON k.ring = j.ring AND k.digest = j.digest`, rings, digests)
	if err := conn.SendBatch(ctx, &trip).Close(); err != nil {
		return err
	}
	trip = pgx.Batch{}
	trip.Queue(`INSERT INTO locus_key AS k (ring, digest, puid) SELECT ring, digest, puid
		FROM (SELECT ring, digest, nextval('locus_puid') AS puid FROM unnest($1::bigint[], $2::bytea[]) AS j (ring, digest)) AS drawn
		ORDER BY ring, digest
		ON CONFLICT (ring, digest) DO UPDATE SET puid = excluded.puid WHERE k.puid IS NULL
		RETURNING ring, digest, puid`, rings, digests)
	if err := conn.SendBatch(ctx, &trip).Close(); err != nil {
		return err
	}
	trip = pgx.Batch{}
	trip.Queue("COMMIT")
	return conn.SendBatch(ctx, &trip).Close()
}
