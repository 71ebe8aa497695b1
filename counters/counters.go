// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/engine"
)

// maintainEvery is how often days that are over are packed, and keys forgotten.
const maintainEvery = time.Minute

// ownPatience is how long the last write of what Locus counts of itself may take when it closes.
const ownPatience = 5 * time.Second

// Handle counts hits on metrics and reads them: DB.Counters of package locus. It is safe for concurrent use.
type Handle struct {
	engine   *engine.Engine
	recorder *counter.Recorder
	own      *own // nil if Locus does not count itself
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// Open returns the handle of an installation and starts its maintenance. With countItself Locus counts what it does, in
// metrics whose names begin with engine.OwnMetrics.
func Open(e *engine.Engine, opts counter.Options, countItself bool) (*Handle, error) {
	if opts.Now == nil {
		opts.Now = e.Now
	}
	recorder, err := counter.New(e.Metrics(), &opts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &Handle{engine: e, recorder: recorder, cancel: cancel}
	if !e.Passive() {
		h.done.Go(func() { h.maintain(ctx) })
	}
	if countItself && !e.ReadOnly {
		h.own = newOwn(opts.Now, recorder.AddBatch)
		h.done.Go(func() { h.writeOwn(ctx) })
	}
	return h, nil
}

// Close writes what Locus has counted of itself, and takes no more hits.
func (h *Handle) Close() error {
	h.cancel()
	h.done.Wait()
	return h.recorder.Close()
}

// Recorder returns the recorder, which takes any name; hits of other programs go through Add.
func (h *Handle) Recorder() *counter.Recorder { return h.recorder }

// CountOwn adds to a metric that Locus keeps of itself, if it does. It does not wait.
func (h *Handle) CountOwn(metric counter.Metric, n int64) { h.own.count(metric, n) }

// Add counts a batch as counter.Recorder.AddBatch does, but for hits on names that begin with engine.OwnMetrics:
// those are refused, each by itself.
func (h *Handle) Add(ctx context.Context, b counter.Batch) (counter.Answer, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return counter.Answer{}, err
	}
	refused := 0
	for _, h := range b.Hits {
		if CheckMetric(h.Metric) != nil {
			refused++
		}
	}
	if refused == 0 {
		return h.add(ctx, b)
	}
	results := make([]error, len(b.Hits))
	others := make([]counter.Hit, 0, len(b.Hits)-refused)
	var at []int
	for i, h := range b.Hits {
		if results[i] = CheckMetric(h.Metric); results[i] == nil {
			others, at = append(others, h), append(at, i)
		}
	}
	if b.Hits = others; len(others) == 0 {
		return counter.Answer{Results: results}, nil
	}
	answer, err := h.add(ctx, b)
	if err != nil {
		return answer, err
	}
	for n, i := range at {
		results[i] = answer.Results[n]
	}
	answer.Results = results
	return answer, nil
}

// add counts, and counts how many there were.
func (h *Handle) add(ctx context.Context, b counter.Batch) (counter.Answer, error) {
	answer, err := h.recorder.AddBatch(ctx, b)
	if err != nil || answer.Replayed {
		return answer, err
	}
	var durable int64
	for i, failed := range answer.Results {
		if failed == nil {
			durable += b.Hits[i].Count()
		}
	}
	h.own.count(engine.OwnHits, durable)
	return answer, nil
}

// CheckMetric says why hits on a metric are refused although it has a good name, nil if they are not: the
// error is a *counter.InvalidError.
func CheckMetric(metric counter.Metric) error {
	if !strings.HasPrefix(string(metric), engine.OwnMetrics) {
		return nil
	}
	return &counter.InvalidError{Problems: []counter.Problem{{
		Field: "metric", Message: "names that begin with " + engine.OwnMetrics + " are Locus's own: read them, and count under another name",
	}}}
}

// CountError counts a response that failed through no fault of the caller, in locus.errors.
func (h *Handle) CountError() { h.own.count(engine.OwnErrors, 1) }

// maintain packs days that are over, and forgets keys, now and then.
func (h *Handle) maintain(ctx context.Context) {
	engine.Every(ctx, maintainEvery, h.recorder.Maintain, func(err error) {
		h.engine.Logger.Warn("days that are over cannot be packed", "err", err)
	})
}

// writeOwn adds once a second what Locus has counted of itself, and once more when it closes.
func (h *Handle) writeOwn(ctx context.Context) {
	engine.Every(ctx, time.Second, h.own.write, func(err error) {
		h.engine.Logger.Warn("what Locus counts of itself waits in memory", "err", err)
	})
	ctx, cancel := context.WithTimeout(context.Background(), ownPatience)
	defer cancel()
	if err := h.own.write(ctx); err != nil {
		h.engine.Logger.Warn("what Locus counted of itself last is lost", "err", err)
	}
}
