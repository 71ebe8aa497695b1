// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/engine"
)

// A batch of own counts is sent again unchanged, with its number, until it is answered; new counts go into the
// next batch. Permanently refused counts are dropped.
func TestOwn_SendsAgainWhatWasNotAnswered(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 59, 0, time.UTC)
	var sent []counter.Batch
	var fails []error // of the first hit, in turn
	o := newOwn(func() time.Time { return now }, func(_ context.Context, b counter.Batch) (counter.Answer, error) {
		sent = append(sent, b)
		results := make([]error, len(b.Hits))
		if len(fails) > 0 {
			results[0], fails = fails[0], fails[1:]
		}
		return counter.Answer{Results: results}, nil
	})
	o.count(engine.OwnHits, 2*counter.MaxN+5)
	o.count(engine.OwnRecords, 0)
	now = now.Add(time.Second)
	o.count(engine.OwnHits, 1)
	fails = []error{counter.ErrCommitUnknown, engine.ErrUnavailable, nil}
	for _, want := range fails {
		o.count(engine.OwnErrors, 1)
		if err := o.write(t.Context()); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	fails = []error{counter.ErrTooOld}
	o.count(engine.OwnErrors, 1)
	if err := o.write(t.Context()); err != nil {
		t.Error(err)
	}
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	of := func(m counter.Metric, minute int, n int64) counter.Hit {
		return counter.Hit{Metric: m, At: noon.Add(time.Duration(minute) * time.Minute), N: n}
	}
	first := counter.Batch{Producer: o.producer, Seq: 1, Hits: []counter.Hit{
		of(engine.OwnHits, 0, counter.MaxN), of(engine.OwnHits, 0, counter.MaxN), of(engine.OwnHits, 0, 5),
		of(engine.OwnErrors, 1, 1), of(engine.OwnHits, 1, 1),
	}}
	second := counter.Batch{Producer: o.producer, Seq: 2, Hits: []counter.Hit{of(engine.OwnErrors, 1, 2)}}
	third := counter.Batch{Producer: o.producer, Seq: 3, Hits: []counter.Hit{of(engine.OwnErrors, 1, 1)}}
	if diff := cmp.Diff([]counter.Batch{first, first, first, second, third}, sent); diff != "" || len(o.counts) > 0 || o.producer == (counter.Producer{}) {
		t.Errorf("-want +got\n%s%v", diff, o.counts)
	}
	for i := range counter.MaxBatch + 3 {
		now = now.Add(time.Minute)
		o.count(engine.OwnHits, int64(i+1))
	}
	sent = nil
	if err := o.write(t.Context()); err != nil || len(sent) != 2 || len(sent[0].Hits) != counter.MaxBatch || len(sent[1].Hits) != 3 || sent[1].Seq != 5 {
		t.Errorf("%d batches, %v", len(sent), err)
	}
	(*own)(nil).count(engine.OwnHits, 1)
}
