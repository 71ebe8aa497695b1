// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// process is one process's view of a cell, whose metrics are m1, m2 and so on.
type process struct{ db *postgres.Cell }

func (process) Places(_ context.Context, metrics []counter.Metric, _, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	for i, m := range metrics {
		places[i].Cell = "one"
		_, places[i].Err = fmt.Sscanf(string(m), "m%d", &places[i].ID)
	}
	return places
}

func (process) List() []string { return []string{"one"} }

func (p process) Cell(string) counter.Database {
	run := func(how func(context.Context, func(storage.Tx) error) error) func(context.Context, func(counter.Tx) error) error {
		return func(ctx context.Context, fn func(counter.Tx) error) error {
			err := how(ctx, func(tx storage.Tx) error { return fn(tx) })
			if errors.Is(err, cell.ErrCommitUnknown) {
				err = errors.Join(err, counter.ErrCommitUnknown)
			}
			return err
		}
	}
	return counter.Database{Update: run(p.db.Update), View: run(p.db.View)}
}

// Two processes count in one cell, including late hits, and compact its days at the same time. Each batch with a
// key is sent to both concurrently. In the end every hit is counted once, at every step.
func TestTwoProcessesCount(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := direct(t).open(t)
	other, err := dialled(t, postgres.NewDriver(nil), d.url, d.id, false)
	must(t, err)
	now := time.Date(2026, 11, 20, 0, 0, 20, 0, time.UTC)
	var recorders []*counter.Recorder
	for i, c := range []*postgres.Cell{d.Cell, other} {
		r, err := counter.New(process{c}, &counter.Options{
			Now:  func() time.Time { return now.Add(time.Duration(i-1) * time.Minute) }, // their clocks differ
			Rand: func() float64 { return 0 },                                           // everything is prepared
		})
		must(t, err)
		recorders = append(recorders, r)
	}
	const metrics, senders, batches = 4, 6, 6
	var mu sync.Mutex
	want := map[counter.Metric]int64{}
	errs := make([]error, senders+len(recorders))
	var senderGroup, group sync.WaitGroup
	for s := range senders {
		senderGroup.Go(func() {
			rnd := rand.New(rand.NewPCG(5, uint64(s)))
			for n := range batches {
				b := counter.Batch{Key: counter.Key(fmt.Sprintf("%d-%d", s, n))}
				for range 1 + rnd.IntN(8) {
					late := []time.Duration{time.Minute, time.Hour, 100 * time.Hour}[rnd.IntN(3)]
					b.Hits = append(b.Hits, counter.Hit{
						Metric: counter.Metric(fmt.Sprintf("m%d", 1+rnd.IntN(metrics))),
						At:     now.Add(-time.Duration(rnd.Int64N(int64(late)))), N: 1 + rnd.Int64N(5),
					})
				}
				mu.Lock()
				for _, h := range b.Hits {
					want[h.Metric] += h.N
				}
				mu.Unlock()
				errs[s] = errors.Join(errs[s], sendTwice(ctx, recorders, b))
			}
		})
	}
	sent := make(chan struct{})
	for i, r := range recorders {
		group.Go(func() {
			for errs[senders+i] == nil {
				select {
				case <-sent:
					return
				default:
					// Maintain leaves a day in which others keep counting for the next run.
					if err := r.Maintain(ctx); err != nil && !strings.Contains(err.Error(), "day differs from the sum of its hours") {
						errs[senders+i] = err
					}
				}
			}
		})
	}
	senderGroup.Wait()
	close(sent)
	group.Wait()
	must(t, errors.Join(errs...))
	for i, r := range recorders {
		must(t, r.Maintain(ctx))
		for _, step := range []counter.Step{counter.ByMinute, counter.ByHour, counter.ByDay} {
			sums(t, r, step, now, want)
		}
		if i == 1 {
			must(t, errors.Join(recorders[0].Close(), r.Close()))
		}
	}
}

// sendTwice sends a batch to all processes concurrently. One of them counts it, or each counts a part if one did
// not know the metrics yet.
func sendTwice(ctx context.Context, to []*counter.Recorder, b counter.Batch) error {
	answers, errs := make([]counter.Answer, len(to)), make([]error, len(to))
	var wg sync.WaitGroup
	for i, r := range to {
		wg.Go(func() { answers[i], errs[i] = r.AddBatch(ctx, b) })
	}
	wg.Wait()
	err, replayed := errors.Join(errs...), 0
	for _, a := range answers {
		err = errors.Join(err, errors.Join(a.Results...))
		if a.Replayed {
			replayed++
		}
	}
	if replayed == len(to) {
		err = errors.Join(err, fmt.Errorf("batch %s: all answers say that it had been counted before", b.Key))
	}
	return err
}

// sums compares the results of a process with the hits that were sent.
func sums(t *testing.T, r *counter.Recorder, step counter.Step, now time.Time, want map[counter.Metric]int64) {
	t.Helper()
	prefix := counter.Metric("m")
	series, err := r.Series(t.Context(), counter.Query{Prefix: &prefix, From: now.Add(-5 * 24 * time.Hour), To: now.Add(time.Hour), Step: step})
	must(t, err)
	if len(series.Lines) != len(want) {
		t.Errorf("by %s: %d lines, want %d", step, len(series.Lines), len(want))
	}
	for _, line := range series.Lines {
		var sum int64
		for _, v := range line.Values {
			if v != counter.Null {
				sum += int64(v)
			}
		}
		if sum != want[line.Metric] || int64(line.Total) != sum {
			t.Errorf("%s by %s adds up to %d, in all %d, want %d", line.Metric, step, sum, line.Total, want[line.Metric])
		}
	}
}
