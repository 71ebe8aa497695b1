// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Package flow measures what an installation sends to sinks and reads from streams.
//
//	go -C bench test -run '^$' -bench . -benchtime 1x ./flow                some minutes
//	go -C bench test -run '^$' -bench Stream -benchtime 1x ./flow -args -records 50000
//
// Installations are directories of 16 SQLite cells with records of locus demo; servers of PostgreSQL keep their data in
// memory. Processor time is that of the process, receivers of webhooks included, and of the server.
package flow_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/bench/internal/processor"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
)

var (
	size = flag.Int64("records", 20_000, "how many records are stored")
	rate = flag.Int("rate", 2000, "how many records a second are put while a sink follows")
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(pgtest.Main(m))
}

// open opens a new installation.
func open(b *testing.B, opts locus.Options) *locus.DB {
	b.Helper()
	db, err := locus.Open(context.WithoutCancel(b.Context()), b.TempDir(), &opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return db
}

// inputs returns records of the demo.
func inputs(g *demo.Generator, from, to int64) (all []records.Input) {
	for i := from; i < to; i++ {
		r := g.Record(i)
		all = append(all, records.Input{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Attributes: r.Attributes})
	}
	return all
}

// put puts records in calls of some size.
func put(b *testing.B, db *locus.DB, all []records.Input, each int) {
	b.Helper()
	for len(all) > 0 {
		n := min(each, len(all))
		results, err := db.Records().Put(b.Context(), all[:n])
		for _, r := range results {
			if err == nil {
				err = r.Err
			}
		}
		if err != nil {
			b.Fatal(err)
		}
		all = all[n:]
	}
}

// load puts records and resolves them at once.
func load(b *testing.B, db *locus.DB, all []records.Input) {
	b.Helper()
	put(b, db, all, 8000)
	if err := db.Records().Load(b.Context(), func(resolve.LoadProgress) {}); err != nil {
		b.Fatal(err)
	}
}

// until waits until something is the case.
func until(b *testing.B, is func() bool) {
	b.Helper()
	for begun := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 5*time.Minute {
			b.Fatal("nothing happens")
		}
	}
}

// cost is what a load took.
type cost struct{ clock, processor time.Duration }

// measure measures fn, with the processor time of a server if there is one.
func measure(server *pgtest.Server, fn func()) (c cost) {
	used := func() time.Duration {
		if server == nil {
			return processor.Time()
		}
		return processor.Time() + server.CPU()
	}
	before, begun := used(), time.Now()
	fn()
	return cost{time.Since(begun), used() - before}
}

// report reports a cost for each of n.
func (c cost) report(b *testing.B, what string, n int64) {
	b.ReportMetric(float64(n)/c.clock.Seconds(), what+"/s")
	b.ReportMetric(float64(c.processor.Microseconds())/float64(n), "cpu-us/"+what)
}
