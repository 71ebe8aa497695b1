// SPDX-License-Identifier: Apache-2.0

// Command ask measures queries of a large installation: matching records that are not stored, compared with puts of the
// same records, and searching with typing errors.
//
//	go -C bench run ./ask                      300,000 records, some minutes
//	go -C bench run ./ask -records 1000000
//	go -C bench run ./ask -records 1000000 -data DIR    loads them once
//
// The records of locus demo are loaded into a directory of 16 SQLite cells. Matches and puts alternate, so that both
// have the same neighbours on the machine. Times are clock times; the processor time of a call is that of the whole
// process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/bench/internal/processor"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	_ "github.com/locus-db/locus/storage/all"
)

// options are the flags.
type options struct {
	records          int64
	singles, batches int // questions of one, and of 1,000
	searches         int
	data             string // a directory to use again
}

func main() {
	var o options
	flag.Int64Var(&o.records, "records", 300_000, "how many records are stored")
	flag.IntVar(&o.singles, "singles", 2000, "how many probes and puts of one")
	flag.IntVar(&o.batches, "batches", 10, "how many of 1,000")
	flag.IntVar(&o.searches, "searches", 2000, "how many searches of each kind")
	flag.StringVar(&o.data, "data", "", "directory that keeps the records, to be used again; puts make it larger")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "ask:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	dir := o.data
	if dir == "" {
		if dir, err = os.MkdirTemp("", "locus-ask-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	db, err := locus.Open(ctx, dir, &locus.Options{Hold: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	status, err := db.Cells().Status(ctx)
	if err != nil {
		return err
	}
	generator := demo.New(1, o.records+12_000) // goes on after its end
	next := status.Counts.Records
	draw := func(n int) []records.Input {
		puts := make([]records.Input, n)
		for i := range puts {
			r := generator.Record(next)
			next++
			puts[i] = records.Input{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Attributes: r.Attributes}
		}
		return puts
	}
	if next > 0 {
		db.Records().Release()
	} else if err := load(ctx, db, o.records, draw); err != nil {
		return err
	}
	fmt.Printf("%d records are stored.\n\n", next)
	if err := search(ctx, db, o.searches); err != nil {
		return err
	}
	return matches(ctx, db, o, draw)
}

// load stores n records at once.
func load(ctx context.Context, db *locus.DB, n int64, draw func(int) []records.Input) error {
	for left := n; left > 0; left -= 8000 {
		if _, err := db.Records().Put(ctx, draw(int(min(8000, left)))); err != nil {
			return err
		}
	}
	return db.Records().Load(ctx, func(resolve.LoadProgress) {})
}

// timed measures calls.
type timed struct {
	took      []time.Duration
	processor time.Duration
}

// call measures fn.
func (t *timed) call(fn func() error) error {
	used, begun := processor.Time(), time.Now()
	err := fn()
	t.took = append(t.took, time.Since(begun))
	t.processor += processor.Time() - used
	return err
}

// share returns the time within which a share of the calls was answered, in milliseconds.
func (t *timed) share(of float64) float64 {
	slices.Sort(t.took)
	return float64(t.took[int(of*float64(len(t.took)-1))].Microseconds()) / 1000
}

// used returns the processor time of a call in milliseconds.
func (t *timed) used() float64 {
	return float64(t.processor.Microseconds()) / 1000 / float64(len(t.took))
}
