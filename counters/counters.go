// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

// maintainEvery is how often ended days are compacted and dedup records forgotten.
const maintainEvery = time.Minute

// ownPatience limits the last write of Locus's own counters on Close.
const ownPatience = 5 * time.Second

// Handle counts hits on metrics and reads them: DB.Counters of package locus. It is safe for concurrent use.
type Handle struct {
	engine   *engine.Engine
	recorder *counter.Recorder
	own      *own // nil if Locus does not count its own work
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// Open returns the handle of an installation and starts its maintenance. With countItself, Locus counts its own
// work in metrics whose names begin with engine.OwnMetrics.
func Open(e *engine.Engine, opts counter.Options, countItself bool) (*Handle, error) {
	if opts.Now == nil {
		opts.Now = e.Now
	}
	recorder, err := counter.New(storesOf(e), &opts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &Handle{engine: e, recorder: recorder, cancel: cancel}
	if !e.Passive {
		h.done.Go(func() { h.maintain(ctx) })
	}
	if countItself && !e.ReadOnly {
		h.own = newOwn(opts.Now, recorder.AddBatch)
		h.done.Go(func() { h.writeOwn(ctx) })
	}
	return h, nil
}

// Close writes Locus's own counters and refuses further hits.
func (h *Handle) Close() error {
	h.cancel()
	h.done.Wait()
	return h.recorder.Close()
}

// Recorder returns the recorder, which accepts any name; hits of other programs go through Add.
func (h *Handle) Recorder() *counter.Recorder { return h.recorder }

// CountOwn adds to one of Locus's own counters, if enabled. It does not block.
func (h *Handle) CountOwn(metric string, n int64) { h.own.count(counter.Metric(metric), n) }

// Add counts a batch like counter.Recorder.AddBatch, but refuses each hit on a name that begins with
// engine.OwnMetrics.
func (h *Handle) Add(ctx context.Context, b counter.Batch) (counter.Answer, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return counter.Answer{}, err
	}
	refused := 0
	for _, h := range b.Hits {
		if checkMetric(h.Metric) != nil {
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
		if results[i] = checkMetric(h.Metric); results[i] == nil {
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

// add counts a batch, and counts its durable hits.
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

// checkMetric returns a *counter.InvalidError if the name is reserved for Locus itself.
func checkMetric(metric counter.Metric) error {
	if !strings.HasPrefix(string(metric), engine.OwnMetrics) {
		return nil
	}
	return problem.Invalid("/metric", "invalid",
		"names that begin with %s are Locus's own: read them, and count under another name", engine.OwnMetrics)
}

// CountError counts a response that failed through no fault of the caller, in locus.errors.
func (h *Handle) CountError() { h.own.count(engine.OwnErrors, 1) }

func (h *Handle) maintain(ctx context.Context) {
	engine.Every(ctx, maintainEvery, h.recorder.Maintain, func(err error) {
		h.engine.Logger.Warn("counter compaction failed", "err", err)
	})
}

// writeOwn writes Locus's own counters once a second, and once more on Close.
func (h *Handle) writeOwn(ctx context.Context) {
	engine.Every(ctx, time.Second, h.own.write, func(err error) {
		h.engine.Logger.Warn("self-metrics flush failed, buffering in memory", "err", err)
	})
	ctx, cancel := context.WithTimeout(context.Background(), ownPatience)
	defer cancel()
	if err := h.own.write(ctx); err != nil {
		h.engine.Logger.Warn("self-metrics lost at shutdown", "err", err)
	}
}
