// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
)

// nothing is a cell that stores nothing, to measure everything but the database.
type nothing struct{ counter.Store }

func (nothing) Metrics(_ context.Context, ids []counter.ID) ([]counter.Meta, error) {
	metas := make([]counter.Meta, len(ids))
	for i, id := range ids {
		metas[i] = counter.Meta{ID: id}
	}
	return metas, nil
}

func (nothing) CountMetrics(context.Context) (int, error) { return 0, nil }

func (nothing) AddTallies(context.Context, []counter.Tally) ([]counter.BucketKey, error) {
	return nil, nil
}

func (nothing) DedupHorizon(context.Context) (int64, error) { return 0, nil }

func (nothing) PutProducers(context.Context, []counter.ProducedBatch) error { return nil }

func (nothing) PrepareBuckets(context.Context, counter.Table, []counter.BucketKey) ([]counter.BucketKey, error) {
	return nil, nil
}

func (nothing) Producers(_ context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	return make([]counter.DedupRecord, len(producers)), nil
}

func (nothing) List() []string { return []string{"a"} }

func (nothing) Places(_ context.Context, metrics []counter.Metric, _, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	for i, m := range metrics {
		places[i] = counter.Place{Cell: "a", ID: 1}
		for _, c := range []byte(m) {
			places[i].ID = places[i].ID*31 + counter.ID(c)
		}
		places[i].ID &= counter.MaxID
	}
	return places
}

func (n nothing) Cell(string) counter.Database {
	run := func(_ context.Context, fn func(counter.Tx) error) error { return fn(n) }
	return counter.Database{Update: run, View: run}
}

func BenchmarkRecorder(b *testing.B) {
	metrics := make([]counter.Metric, 100)
	for i := range metrics {
		metrics[i] = counter.Metric(fmt.Sprint("page /", i))
	}
	for _, bench := range []struct {
		callers, hits int
		produced      bool
	}{{1, 1, false}, {64, 1, false}, {8, 1000, false}, {8, 1000, true}} {
		b.Run(fmt.Sprintf("callers=%d/hits=%d/once=%t", bench.callers, bench.hits, bench.produced), func(b *testing.B) {
			groups, counted := 0, 0
			r, err := counter.New(nothing{}, &counter.Options{OnGroup: func(g counter.Group) { groups, counted = groups+1, counted+g.Hits }})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var wg sync.WaitGroup
			for c := range bench.callers {
				wg.Go(func() {
					batch := counter.Batch{Hits: make([]counter.Hit, bench.hits)}
					now := time.Now()
					for i := range batch.Hits {
						batch.Hits[i] = counter.Hit{Metric: metrics[(c+i)%len(metrics)], N: 1, At: now}
					}
					for i := range max(b.N/bench.callers/bench.hits, 1) {
						if bench.produced {
							batch.Producer, batch.Seq = counter.Producer{byte(c + 1)}, uint64(i+1)
						}
						if _, err := r.AddBatch(b.Context(), batch); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			if err := r.Close(); err != nil {
				b.Error(err)
			}
			b.ReportMetric(float64(counted)/float64(groups), "hits/commit")
			b.ReportMetric(float64(counted)/b.Elapsed().Seconds(), "hits/s")
		})
	}
}
