// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/counter"
)

// OwnMetrics begins the names of the metrics that Locus counts itself by: everybody may read them, and only
// Locus adds to them.
const OwnMetrics = "locus."

// maintainEvery is how often days that are over are packed, and keys forgotten.
const maintainEvery = time.Minute

// Counters counts hits on metrics and answers questions about them. It takes any name; hits that come from
// somebody else go through AddHits.
func (s *Service) Counters() *counter.Recorder { return s.counters.recorder }

// AddHits counts a batch as counter.Recorder.AddBatch does, but for hits on names that begin with OwnMetrics:
// those are refused, each by itself.
func (s *Service) AddHits(ctx context.Context, b counter.Batch) (counter.Answer, error) {
	if err := s.changes(); err != nil {
		return counter.Answer{}, err
	}
	refused := 0
	for _, h := range b.Hits {
		if CheckMetric(h.Metric) != nil {
			refused++
		}
	}
	if refused == 0 {
		return s.addHits(ctx, b)
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
	answer, err := s.addHits(ctx, b)
	if err != nil {
		return answer, err
	}
	for n, i := range at {
		results[i] = answer.Results[n]
	}
	answer.Results = results
	return answer, nil
}

// addHits counts, and counts how many there were.
func (s *Service) addHits(ctx context.Context, b counter.Batch) (counter.Answer, error) {
	answer, err := s.counters.recorder.AddBatch(ctx, b)
	if err != nil || answer.Replayed {
		return answer, err
	}
	var durable int64
	for i, failed := range answer.Results {
		if failed == nil {
			durable += b.Hits[i].Count()
		}
	}
	s.counters.own.count(ownHits, durable)
	return answer, nil
}

// CheckMetric says why hits on a metric are refused although it has a good name, nil if they are not: the
// error is a *counter.InvalidError.
func CheckMetric(metric counter.Metric) error {
	if !strings.HasPrefix(string(metric), OwnMetrics) {
		return nil
	}
	return &counter.InvalidError{Problems: []counter.Problem{{
		Field: "metric", Message: "names that begin with " + OwnMetrics + " are Locus's own: read them, and count under another name",
	}}}
}

// CountError counts an answer that failed through no fault of who asked, in locus.errors.
func (s *Service) CountError() { s.counters.own.count(ownErrors, 1) }

// counters counts hits, and does what has to be done for that now and then.
type counters struct {
	*Service
	recorder *counter.Recorder
	own      *own // nil if Locus does not count itself
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

func count(s *Service) (*counters, error) {
	opts := s.opts.Counters
	if opts.Now == nil {
		opts.Now = s.opts.Now
	}
	recorder, err := counter.New(s.metrics(), &opts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &counters{Service: s, recorder: recorder, cancel: cancel}
	if !s.passive() {
		c.done.Go(func() { c.maintain(ctx) })
	}
	if s.opts.CountItself && !s.opts.ReadOnly {
		c.own = newOwn(opts.Now, recorder.AddBatch)
		c.done.Go(func() { c.writeOwn(ctx) })
	}
	return c, nil
}

// stop writes what Locus has counted of itself, and takes no more hits.
func (c *counters) stop() error {
	c.cancel()
	c.done.Wait()
	return c.recorder.Close()
}

// maintain packs days that are over, and forgets keys, now and then.
func (c *counters) maintain(ctx context.Context) {
	every(ctx, maintainEvery, c.recorder.Maintain, func(err error) {
		c.opts.Logger.Warn("days that are over cannot be packed", "err", err)
	})
}

// ownPatience is how long the last of that may take at the end. What a command has done is counted then.
const ownPatience = 5 * time.Second

// writeOwn adds once a second what Locus has counted of itself, and once more at the end.
func (c *counters) writeOwn(ctx context.Context) {
	every(ctx, time.Second, c.own.write, func(err error) {
		c.opts.Logger.Warn("what Locus counts of itself waits in memory", "err", err)
	})
	ctx, cancel := context.WithTimeout(context.Background(), ownPatience)
	defer cancel()
	if err := c.own.write(ctx); err != nil {
		c.opts.Logger.Warn("what Locus counted of itself last is lost", "err", err)
	}
}

// every does something now and then until the context ends. A failure is told of, but not the next one in a row.
func every(ctx context.Context, pause time.Duration, do func(context.Context) error, tell func(error)) {
	for failed := false; ; {
		rest(ctx, pause, nil)
		if ctx.Err() != nil {
			return
		}
		err := do(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			tell(err)
		}
		failed = err != nil
	}
}
