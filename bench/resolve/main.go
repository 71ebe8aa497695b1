// SPDX-License-Identifier: Apache-2.0

// Command resolve measures how many records per second are written durably and resolved, on one machine with SQLite
// or PostgreSQL cells, and the cost of each: processor time, latency, bytes on disk. The records are those of locus
// demo, whose truth is known, so wrong resolution shows.
//
//	go -C bench run ./resolve                                100,000 records through the library
//	go -C bench run ./resolve -via http -records 1000000     a million through the HTTP API
//	go -C bench run ./resolve -map postgres://db1/bench      a new installation on PostgreSQL
//	go -C bench run ./resolve -map postgres://db1/bench -services 3 -delay 2ms    three processes, the server 2 ms away
//	go -C bench run ./resolve -map postgres://db1/bench -cells 56 -idle 30s       what an installation costs that is idle
//	go -C bench run ./resolve -load -slices 1        a first load: put, then resolved at once
//	go -C bench run ./resolve -load -slices 1 -onto 200000 -records 20000    a load into an installation that has records
//	go -C bench run ./resolve -batch 1 -clients 16           one record a call
//	go -C bench run ./resolve -batch 1 -rate 2000            so many a second and no more: how late are the answers?
//	go -C bench run ./resolve -records 10000000 -slices 100 -curve ../docs/scale    the curve: docs/scale.csv and .svg
//	go -C bench run ./resolve -records 0 -curve ../docs/scale   the picture again
//
// The records are a steady stream whose density stays constant (demo.Steady). With -story they are the demo's,
// which are scattered over as many places as the run has room for, so that more of them match towards its end. Each
// line of the table is a slice of the run, so that a cost that grows with the number of records is visible. Shared
// machines vary in speed: the last column is the speed of a fixed loop on all processors just before the line,
// relative to the fastest of the run; use it to compare lines. -cpuprofile writes a profile. An interrupted run
// prints and saves what it has.
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
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
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
	story        bool
	slices       int64
	curve        string
	rate         int64
	disk         int64
	judge        bool
	delay, idle  time.Duration
	peers        string
	load         bool
	onto         int64
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
	flag.StringVar(&o.cellmap, "map", "",
		"a new installation on PostgreSQL servers, postgres://HOST/NAME, instead of files")
	flag.StringVar(&o.dir, "dir", "", "where the data goes; a temporary directory by default")
	flag.BoolVar(&o.rollups, "rollups", false, "two rollups follow the writes, and are verified at the end")
	flag.StringVar(&o.cpuprofile, "cpuprofile", "", "file for a profile of the run")
	flag.BoolVar(&o.story, "story", false, "the records of the demo instead of the steady stream")
	flag.Int64Var(&o.slices, "slices", 10, "lines of the table")
	flag.StringVar(&o.curve, "curve", "",
		"writes the table to this path with .csv, beside that of the other backend, and .svg of both")
	flag.Int64Var(&o.rate, "rate", 0, "so many records a second and no more; latencies are from when a call was due")
	flag.Int64Var(&o.disk, "disk", 20, "ends the run when the files take so many gigabytes")
	flag.BoolVar(&o.judge, "judge", true, "compares the entities with the truth at the end")
	flag.DurationVar(&o.delay, "delay", 0, "how long what is sent to the server of -map, or comes from it, takes")
	flag.StringVar(&o.peers, "peers", "127.0.0.1:0",
		"where services listen for each other, \"\" to go through the databases")
	flag.DurationVar(&o.idle, "idle", 0,
		"for how long to count the transactions of the server of -map when nothing is written any more")
	flag.BoolVar(&o.load, "load", false, "a first load: the records are only put, then all are resolved at once")
	flag.Int64Var(&o.onto, "onto", 0,
		"how many records there are already: they are loaded first and are not in the figures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench/resolve:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	curve, err := readCurve(o)
	if err != nil {
		return err
	}
	if o.records == 0 {
		return curve.write(o)
	}
	dir, err := os.MkdirTemp(o.dir, "locus-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	debug.SetGCPercent(200) // like locus serve
	if o.load {             // like locus ingest
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(max(1<<30, 128*o.records))
	}
	var generator *demo.Generator
	if generator = demo.Steady(o.seed); o.story {
		generator = demo.New(o.seed, o.onto+o.records)
	}
	if o.onto > 0 {
		if err := fill(ctx, o, cmp.Or(o.cellmap, dir), generator); err != nil {
			return err
		}
	}
	var stages stages
	if o.services > 1 && o.cellmap == "" {
		return errors.New("-services: files belong to one service: give -map")
	}
	if o.delay > 0 {
		away, err := remove(&o)
		if err != nil {
			return err
		}
		defer away.Close()
	}
	var service *locus.DB
	var puts []func(context.Context, []demo.Record) error
	var closes []func() error
	for range o.services {
		cells, err := storage.Open(ctx, cmp.Or(o.cellmap, dir), &storage.Options{Cells: o.cells})
		if err != nil {
			return err
		}
		if service, err = locus.OpenCells(ctx, cells, &locus.Options{OnBatch: stages.add, PeerAddr: o.peers, Hold: o.load}); err != nil {
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
	size := func() (int64, error) { return dataSize(dir) }
	if o.cellmap != "" {
		size = func() (int64, error) { return databaseSize(context.WithoutCancel(ctx), service) }
	}
	l := &load{o: o, generator: generator, put: put, stages: &stages, size: size, curve: curve}
	if err := l.run(ctx); err != nil {
		return err
	}
	if o.load {
		if err := l.loadAll(ctx, service); err != nil {
			return err
		}
	}
	if o.idle > 0 {
		if err := rest(ctx, o); err != nil {
			return err
		}
	}
	if o.rollups {
		if err := verify(ctx, service); err != nil {
			return err
		}
	}
	quality := "not compared with the truth"
	if o.judge && ctx.Err() == nil {
		if quality, err = judge(ctx, generator, service); err != nil {
			return err
		}
	}
	status, err := service.Cells().Status(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	counts := status.Counts
	var bytes int64
	if o.cellmap != "" {
		if bytes, err = size(); err != nil {
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
		if bytes, err = sizeOf(dir); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d records, %d entities, %d merges; %d bytes a record on disk; pairs: %s\n",
		counts.Records, counts.Entities, counts.Merges, bytes/max(counts.Records, 1), quality)
	onPaper(os.Stdout, curve.slices, float64(bytes)/float64(max(counts.Records, 1)))
	return nil
}

// databaseSize returns the sizes that the cells report.
func databaseSize(ctx context.Context, service *locus.DB) (sum int64, err error) {
	status, err := service.Cells().Status(context.WithoutCancel(ctx))
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
	put, post, resolve, batches, compared atomic.Int64
}

func (s *stages) add(b resolve.Batched) {
	s.put.Add(int64(b.Put))
	s.post.Add(int64(b.Post))
	s.resolve.Add(int64(b.Resolve))
	s.batches.Add(1)
	s.compared.Add(int64(b.Compared))
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

// dataSize is sizeOf without the logs, which are checkpointed now and then and empty at the end.
func dataSize(dir string) (size int64, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "cells", "*.db"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size, err
}
