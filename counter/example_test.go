// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

// oneFile is one cell in a file, with a list of its metrics.
type oneFile struct {
	file    *sqlite.Cell
	metrics map[counter.Metric]counter.ID
}

func (f oneFile) Places(_ context.Context, metrics []counter.Metric, create, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	for i, m := range metrics {
		if _, ok := f.metrics[m]; !ok && create {
			f.metrics[m] = counter.ID(len(f.metrics) + 1)
		}
		if id, ok := f.metrics[m]; ok {
			places[i] = counter.Place{Cell: "file", ID: id}
		}
	}
	return places
}

func (f oneFile) List() []string { return []string{"file"} }

func (f oneFile) Cell(string) counter.Database {
	return counter.Database{
		Update: func(ctx context.Context, fn func(counter.Tx) error) error {
			return f.file.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
		},
		View: func(ctx context.Context, fn func(counter.Tx) error) error {
			return f.file.View(ctx, func(tx storage.Tx) error { return fn(tx) })
		},
	}
}

// A batch is sent twice because the first reply was lost, and counts once.
func ExampleRecorder() {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "counter")
	must(err)
	defer func() { must(os.RemoveAll(dir)) }()
	file, err := sqlite.Open(ctx, filepath.Join(dir, "cell.db"),
		cell.Identity{Map: "example", Hi: 1 << 40, Rules: "example"}, nil)
	must(err)
	defer func() { must(file.Close()) }()

	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r, err := counter.New(oneFile{file, map[counter.Metric]counter.ID{}}, &counter.Options{Now: func() time.Time { return noon }})
	must(err)
	defer func() { must(r.Close()) }()

	batch := counter.Batch{Key: "b2c5", Hits: []counter.Hit{
		{Metric: "page /", At: noon, N: 2},
		{Metric: "page /", At: noon.Add(-2 * time.Hour), N: 1},
		{Metric: "page /", At: noon.Add(-8 * 24 * time.Hour), N: 1},
	}}
	for range 2 {
		answer, err := r.AddBatch(ctx, batch)
		must(err)
		fmt.Println(answer.Results, answer.Replayed)
	}
	series, err := r.Series(ctx, counter.Query{
		Metrics: []counter.Metric{"page /"}, Step: counter.ByHour, From: noon.Add(-2 * time.Hour), To: noon.Add(time.Hour),
	})
	must(err)
	fmt.Println(series.Lines[0].Values, series.Lines[0].Total)
	// Output:
	// [<nil> <nil> counter: too old: a hit may be 7 days late] false
	// [<nil> <nil> counter: too old: a hit may be 7 days late] true
	// [1 0 2] 3
}
