// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance/entitytest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
	"github.com/locus-db/locus/storage/storagetest"
)

// BenchmarkWrite measures the whole write path, an operation being a record: in batches of 250, the share of one
// cell of sixteen in a batch of 4,000, into a cell that holds its share of a million.
func BenchmarkWrite(b *testing.B) {
	for _, page := range []int{1024, 2048, 4096, 8192} {
		b.Run(fmt.Sprintf("page=%d", page), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "cell.db")
			c, err := sqlite.Open(b.Context(), path, identity(), &sqlite.Options{PageSize: page})
			if err != nil {
				b.Fatal(err)
			}
			l := storagetest.NewLoad()
			const batch, share = 250, 62_500
			for n := 0; n < share; n += 2500 {
				if err := l.Write(b.Context(), c, 2500); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			before, busy := written(), cpu()
			b.ReportAllocs()
			for n := 0; n < b.N; n += batch {
				if err := l.Write(b.Context(), c, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(cpu()-busy)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(info.Size())/float64(b.N+share), "file-B/op")
			b.ReportMetric(float64(written()-before)/float64(b.N), "written-B/op")
		})
	}
}

// BenchmarkAllocate allocates keys of new records, an operation being a key, as a first load does: in groups of 4,000,
// the share of one cell of sixteen. -benchtime 625000x is its share of ten million records.
func BenchmarkAllocate(b *testing.B) {
	const group = 4000
	c, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "cell.db"), identity(), nil)
	if err != nil {
		b.Fatal(err)
	}
	random, before, busy := rand.New(rand.NewPCG(1, 1)), written(), cpu()
	b.ReportAllocs()
	for n := 0; n < b.N; n += group {
		keys := make([]cell.Key, group)
		for i := range keys {
			keys[i].Ring = random.Int64()
			binary.BigEndian.PutUint64(keys[i].Digest[:], random.Uint64())
			binary.BigEndian.PutUint64(keys[i].Digest[8:], random.Uint64())
		}
		if err := c.Update(b.Context(), func(tx storage.Tx) error {
			_, err := tx.Allocate(b.Context(), keys)
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu()-busy)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(written()-before)/float64(b.N), "written-B/op")
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}

// written returns the bytes this process has written so far, or 0 where the system does not report them.
func written() (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	var read int64
	if _, err := fmt.Sscanf(string(text), "rchar: %d\nwchar: %d", &read, &n); err != nil {
		return 0
	}
	return n
}

// BenchmarkTallies counts hits of one minute, an operation being a metric that is hit: a commit for each batch of
// metrics, whose spans exist.
func BenchmarkTallies(b *testing.B) {
	for _, metrics := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("metrics=%d", metrics), func(b *testing.B) {
			c, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "cell.db"), identity(), nil)
			if err != nil {
				b.Fatal(err)
			}
			tallies := make([]counter.Tally, metrics)
			for i := range tallies {
				tallies[i] = counter.Tally{ID: counter.ID(i + 1), Minute: 29_655_719, N: 3}
			}
			hit := func(tx storage.Tx) error {
				_, err := tx.AddTallies(b.Context(), tallies)
				return err
			}
			if err := c.Update(b.Context(), hit); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			before, busy := written(), cpu()
			b.ReportAllocs()
			for n := 0; n < b.N; n += metrics {
				if err := c.Update(b.Context(), hit); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(cpu()-busy)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(written()-before)/float64(b.N), "written-B/op")
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkSearch measures a page of a search that a hundred thousand entities match.
func BenchmarkSearch(b *testing.B) {
	f := openFile(b)
	entitytest.BenchSearch(b, entitytest.Cell{Update: func(ctx context.Context, fn func(entity.Store) error) error {
		return f.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
	}}, func() {})
}
