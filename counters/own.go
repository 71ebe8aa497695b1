// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/counter"
)

// own collects Locus's own counters in memory by minute, so that no request waits for them. It is a producer like
// any client: a batch whose reply was lost is sent again with the same number, and counts once.
type own struct {
	now      func() time.Time
	add      func(context.Context, counter.Batch) (counter.Answer, error)
	producer counter.Producer

	mu     sync.Mutex
	counts map[ownCount]int64

	batch []counter.Hit // last batch sent, nil if it was answered
	seq   uint64
}

type ownCount struct {
	minute counter.Minute
	metric counter.Metric
}

func newOwn(now func() time.Time, add func(context.Context, counter.Batch) (counter.Answer, error)) *own {
	o := &own{now: now, add: add, counts: map[ownCount]int64{}}
	_, _ = rand.Read(o.producer[:]) // never fails
	return o
}

// count may be called on nil, which counts nothing.
func (o *own) count(metric counter.Metric, n int64) {
	if o == nil || n <= 0 {
		return
	}
	at := ownCount{counter.MinuteOf(o.now()), metric}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[at] += n
}

// write sends the collected counts. A failed batch is sent again by the next write.
func (o *own) write(ctx context.Context) error {
	for {
		if o.batch == nil {
			if o.batch = o.take(); o.batch == nil {
				return nil
			}
			o.seq++
		}
		answer, err := o.add(ctx, counter.Batch{Hits: o.batch, Producer: o.producer, Seq: o.seq})
		for _, failed := range answer.Results {
			if failed != nil && !refused(failed) {
				err = errors.Join(err, failed)
			}
		}
		if err != nil && !refused(err) {
			return err
		}
		o.batch = nil
	}
}

func refused(err error) bool {
	for _, final := range []error{
		counter.ErrTooOld, counter.ErrInFuture, counter.ErrOverflow, counter.ErrKind, counter.ErrQuota, counter.ErrKeyReused,
		counter.ErrSequence,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return errors.As(err, new(*counter.InvalidError))
}

// take makes a batch of the collected counts, the oldest first, nil if there are none. Counts that do not fit stay.
func (o *own) take() (hits []counter.Hit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	order := slices.SortedFunc(maps.Keys(o.counts), func(a, b ownCount) int {
		return cmp.Or(cmp.Compare(a.minute, b.minute), cmp.Compare(a.metric, b.metric))
	})
	for _, of := range order {
		for o.counts[of] > 0 {
			if len(hits) == counter.MaxBatch {
				return hits
			}
			n := min(o.counts[of], counter.MaxN)
			hits = append(hits, counter.Hit{Metric: of.metric, At: of.minute.Time(), N: n})
			o.counts[of] -= n
		}
		delete(o.counts, of)
	}
	return hits
}
