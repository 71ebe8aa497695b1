// SPDX-License-Identifier: Apache-2.0

// Command resolve measures how many records a second are written durably and resolved, on one
// machine with SQLite or PostgreSQL cells, and what each costs: processor time, latency, bytes on disk. The
// records are those of locus demo, whose truth is known, so a run that resolves wrongly shows.
//
//	go run ./bench/resolve                                100,000 records through the library
//	go run ./bench/resolve -via http -records 1000000     a million through the HTTP API
//	go run ./bench/resolve -map postgres://db1/bench      a new installation on PostgreSQL
//	go run ./bench/resolve -batch 1 -clients 16           one record a call
//
// Each line of the table is a tenth of the run, so that a cost that grows with the number of records is
// seen. Machines that are shared run faster and slower: the last column is the speed of a fixed loop
// on all processors just before the line, beside the fastest of the run; compare lines by it.
// -cpuprofile writes where the time goes.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/backend/all"
	"github.com/locus-db/locus/bench/internal/processor"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/resolve"
)

type options struct {
	rollups      bool
	records      int64
	batch        int64
	services     int
	clients      int
	cells        int
	via          string
	seed         uint64
	cellmap, dir string
	cpuprofile   string
}

func main() {
	var o options
	flag.Int64Var(&o.records, "records", 100_000, "how many records")
	flag.Int64Var(&o.batch, "batch", 1000, "records of a call")
	flag.IntVar(&o.clients, "clients", 4, "calls at a time")
	flag.IntVar(&o.cells, "cells", 16, "cells, each a file")
	flag.StringVar(&o.via, "via", "library", "library or http")
	flag.Uint64Var(&o.seed, "seed", 1, "which story the records tell")
	flag.IntVar(&o.services, "services", 1, "services that share the cells, as processes do; with -map")
	flag.StringVar(&o.cellmap, "map", "", "a new installation on PostgreSQL servers, postgres://HOST/NAME, instead of files")
	flag.StringVar(&o.dir, "dir", "", "where the data goes; a temporary directory by default")
	flag.BoolVar(&o.rollups, "rollups", false, "two rollups follow the writes, and are verified at the end")
	flag.StringVar(&o.cpuprofile, "cpuprofile", "", "file for a profile of the run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench/resolve:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp(o.dir, "locus-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	debug.SetGCPercent(200) // as locus serve does
	var stages stages
	if o.services > 1 && o.cellmap == "" {
		return errors.New("-services: files belong to one service: give -map")
	}
	var service *locus.Service
	var puts []func(context.Context, []demo.Record) error
	var closes []func() error
	for range o.services {
		cells, err := all.Open(ctx, cmp.Or(o.cellmap, dir), &all.Options{Cells: o.cells, Rules: locus.Rules})
		if err != nil {
			return err
		}
		if service, err = locus.Open(ctx, cells, &locus.Options{OnBatch: stages.add}); err != nil {
			return err
		}
		put, closeAPI, err := target(o, service)
		if err != nil {
			return err
		}
		puts, closes = append(puts, put), append(closes, closeAPI, service.Close)
	}
	var turn atomic.Int64
	put := func(ctx context.Context, records []demo.Record) error {
		return puts[turn.Add(1)%int64(len(puts))](ctx, records)
	}
	if o.cpuprofile != "" {
		f, err := os.Create(o.cpuprofile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if o.rollups {
		if err := define(ctx, service); err != nil {
			return err
		}
	}
	if err := load(ctx, o, put, &stages); err != nil {
		return err
	}
	if o.rollups {
		if err := verify(ctx, service); err != nil {
			return err
		}
	}
	quality, err := judge(ctx, o, service)
	if err != nil {
		return err
	}
	counts := service.Live().Counts
	var size int64
	if o.cellmap != "" {
		if size, err = databaseSize(ctx, service); err != nil {
			return err
		}
	}
	for _, end := range closes {
		err = cmp.Or(err, end())
	}
	if err != nil {
		return err
	}
	if o.cellmap == "" {
		if size, err = sizeOf(dir); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d records, %d entities, %d merges; %d bytes a record on disk; pairs: %s\n",
		counts.Records, counts.Entities, counts.Merges, size/o.records, quality)
	return nil
}

// databaseSize is what the cells say that they take.
func databaseSize(ctx context.Context, service *locus.Service) (sum int64, err error) {
	status, err := service.Status(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range status.Cells {
		sum += c.Bytes
	}
	return sum, nil
}

// stages sums the time of the three rounds.
type stages struct {
	put, post, resolve, batches atomic.Int64
}

func (s *stages) add(b resolve.Batched) {
	s.put.Add(int64(b.Put))
	s.post.Add(int64(b.Post))
	s.resolve.Add(int64(b.Resolve))
	s.batches.Add(1)
}

// reading is what a line of the table is the difference of two of.
type reading struct {
	at                          time.Time
	cpu                         time.Duration
	put, post, resolve, batches int64
}

func (s *stages) read() reading {
	return reading{
		at: time.Now(), cpu: processor.Time(),
		put: s.put.Load(), post: s.post.Load(), resolve: s.resolve.Load(), batches: s.batches.Load(),
	}
}

// load puts all records and prints a line for each tenth.
func load(ctx context.Context, o options, put func(context.Context, []demo.Record) error, s *stages) error {
	generator := demo.New(o.seed, o.records)
	fmt.Printf("%s, %d processors, %s; %d records in calls of %d from %d clients through the %s, %d cells\n\n",
		runtime.Version(), runtime.NumCPU(), runtime.GOARCH, o.records, o.batch, o.clients, o.via, o.cells)
	fmt.Println("|   records | records/s | p50 ms | p99 ms | cpu µs/record | put % | post % | resolve % | records/group | machine % |")
	fmt.Println("|----------:|----------:|-------:|-------:|--------------:|------:|-------:|----------:|--------------:|----------:|")
	first := s.read()
	before := first
	var all []time.Duration
	var spent time.Duration
	tenth := max(o.records/10/o.batch, 1) * o.batch
	var fastest, sum float64
	for from := int64(0); from < o.records; from += tenth {
		to := min(from+tenth, o.records)
		speed := machine()
		fastest, sum = max(fastest, speed), sum+speed*float64(to-from)
		before.at = time.Now()
		latencies, err := calls(ctx, o, generator, put, from, to)
		if err != nil {
			return err
		}
		now := s.read()
		line(fmt.Sprint(to), to-from, latencies, before, now, speed/fastest)
		spent += now.at.Sub(before.at)
		all = append(all, latencies...)
		before = now
	}
	first.at = before.at.Add(-spent)
	line("**all**", o.records, all, first, before, sum/float64(o.records)/fastest)
	return nil
}

// calls puts the records from one number to another.
func calls(ctx context.Context, o options, g *demo.Generator, put func(context.Context, []demo.Record) error, from, to int64) ([]time.Duration, error) {
	var (
		next      atomic.Int64
		mu        sync.Mutex
		latencies []time.Duration
		failed    error
		wg        sync.WaitGroup
	)
	next.Store(from)
	for range o.clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				begin := next.Add(o.batch) - o.batch
				if begin >= to {
					return
				}
				var records []demo.Record
				for i := begin; i < min(begin+o.batch, to); i++ {
					records = append(records, g.Record(i))
				}
				sent := time.Now()
				err := put(ctx, records)
				took := time.Since(sent)
				mu.Lock()
				latencies = append(latencies, took)
				failed = cmp.Or(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return latencies, cmp.Or(failed, ctx.Err())
}

// machine is how fast the processors are at the moment, in rounds of a loop that needs nothing else.
func machine() float64 {
	var rounds atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			x := uint64(1)
			for time.Since(begin) < 100*time.Millisecond {
				for range 100_000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
				rounds.Add(1 + int64(x&1)) // uses x, or the loop would be left out
			}
		})
	}
	wg.Wait()
	return float64(rounds.Load()) / time.Since(begin).Seconds()
}

func line(name string, n int64, latencies []time.Duration, from, to reading, speed float64) {
	slices.Sort(latencies)
	at := func(share float64) float64 {
		return float64(latencies[int(share*float64(len(latencies)-1))].Microseconds()) / 1000
	}
	stage := func(d int64) float64 { return 100 * float64(d) / float64(to.at.Sub(from.at)) }
	fmt.Printf("| %9s | %9.0f | %6.1f | %6.1f | %13.0f | %5.0f | %6.0f | %9.0f | %13.0f | %9.0f |\n", name,
		float64(n)/to.at.Sub(from.at).Seconds(), at(0.5), at(0.99), float64((to.cpu-from.cpu).Microseconds())/float64(n),
		stage(to.put-from.put), stage(to.post-from.post), stage(to.resolve-from.resolve), float64(n)/float64(max(to.batches-from.batches, 1)), 100*speed)
}

// judge compares the entities with the truth.
func judge(ctx context.Context, o options, s *locus.Service) (string, error) {
	places := map[entity.Ref]int64{}
	for r := range demo.New(o.seed, o.records).All() {
		places[entity.Ref{Source: r.Source, Key: r.Key}] = r.Place
	}
	var score demo.Score
	for after := (entity.Place{}); ; {
		page, next, err := s.Entities(ctx, locus.EntityQuery{After: after, Limit: locus.MaxLimit})
		if err != nil {
			return "", err
		}
		for _, e := range page {
			var of []int64
			for _, m := range e.Members {
				of = append(of, places[m.Ref])
			}
			score.Add(of)
		}
		if next == (entity.Place{}) {
			return fmt.Sprintf("precision %.3f, recall %.3f, F1 %.3f", score.Precision(), score.Recall(), score.F1()), nil
		}
		after = next
	}
}

func sizeOf(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
