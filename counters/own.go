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

// own gathers what Locus counts of itself in memory, by minutes, so that no request waits for it. It is a
// producer as any client: a batch whose answer was lost is sent again under its number, and counts once.
type own struct {
	now      func() time.Time
	add      func(context.Context, counter.Batch) (counter.Answer, error)
	producer counter.Producer

	mu     sync.Mutex
	counts map[ownCount]int64

	batch []counter.Hit // that was sent last, nil if it was answered
	seq   uint64
}

// ownCount names what is counted in a minute.
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

// write adds what was gathered. What fails is added the next time.
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

// refused reports whether an error would come again, however often the hit was sent.
func refused(err error) bool {
	for _, final := range []error{
		counter.ErrTooOld, counter.ErrInFuture, counter.ErrOverflow, counter.ErrKind, counter.ErrQuota, counter.ErrKeyReused, counter.ErrSequence,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return errors.As(err, new(*counter.InvalidError))
}

// take makes a batch of what was gathered, the oldest first, nil if there is nothing. What has no room in it
// stays.
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
