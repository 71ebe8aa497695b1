// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"sync"
)

// Recorder counts hits and answers queries about them. It is safe for concurrent use.
type Recorder struct {
	opts   Options
	cells  Cells
	places *places
	quota  *quota
	calls  sync.Pool

	mu        sync.RWMutex
	compacted bool
	combiners map[string]*groupCommitter
	callers   sync.WaitGroup

	upkeep upkeep
}

// New returns a recorder over cells. Its goroutines end with Close. The error names every invalid option.
func New(cells Cells, opts *Options) (*Recorder, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return &Recorder{
		opts: o, cells: cells, places: newPlaces(o.Names),
		quota:     &quota{most: o.Quota, cells: cells, now: o.Now, counted: map[string]int{}},
		combiners: map[string]*groupCommitter{},
	}, nil
}

// Hit counts one hit now.
func (r *Recorder) Hit(ctx context.Context, metric Metric) error {
	results, err := r.Add(ctx, []Hit{{Metric: metric, N: 1}})
	if err != nil {
		return err
	}
	return results[0]
}

// Add counts hits and returns when they are durable. The result of each hit is nil, or the reason why it was not
// applied, or wraps ErrCommitUnknown. If the error is not nil, nothing was applied.
func (r *Recorder) Add(ctx context.Context, hits []Hit) ([]error, error) {
	answer, err := r.AddBatch(ctx, Batch{Hits: hits})
	return answer.Results, err
}

// AddBatch is Add for a batch that may have a key, which then counts once, however often it is sent. The error is
// an *InvalidError if the batch as a whole is invalid; ErrKeyReused and ErrSequence are returned as the result of
// every hit. The context bounds the wait for room in the queue; a queued batch is counted.
func (r *Recorder) AddBatch(ctx context.Context, b Batch) (Answer, error) {
	c, err := r.call(&b)
	if err != nil {
		return Answer{}, err
	}
	if !r.enter() {
		return Answer{}, ErrClosed
	}
	defer r.callers.Done()
	r.split(ctx, c, r.opts.Now())
	r.send(ctx, c)
	answer := Answer{Results: c.results, Replayed: c.replayed()}
	if lost := c.collect(); len(lost) > 0 {
		answer.Replayed = false
		r.relocate(ctx, c, lost)
		r.send(ctx, c)
		for _, i := range c.collect() {
			c.results[i] = ErrForgotten
		}
	}
	r.release(c)
	return answer, nil
}

// send queues all parts of a call, in all cells at once, and waits for the answers.
func (r *Recorder) send(ctx context.Context, c *request) {
	n := len(c.parts)
	if n == 0 {
		return
	}
	c.waiting.Store(int32(n)) //nolint:gosec // at most MaxBatch
	for _, p := range c.parts {
		if err := r.combiner(p.cell).send(ctx, p); err != nil {
			p.fail(err)
			p.answered()
		}
	}
	<-c.done
}

// relocate asks the directory again for metrics that a cell has lost, and makes parts of their hits.
func (r *Recorder) relocate(ctx context.Context, c *request, hits []int) {
	for _, i := range hits {
		if at := r.places.get(c.hits[i].Metric); at != nil {
			r.places.forget(at)
		}
	}
	c.renew()
	r.locate(ctx, c, hits, true)
}

// combiner returns the combiner of a cell, and starts it with the first hit.
func (r *Recorder) combiner(cell string) *groupCommitter {
	r.mu.RLock()
	c := r.combiners[cell]
	r.mu.RUnlock()
	if c != nil {
		return c
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c = r.combiners[cell]; c == nil {
		c = newGroupCommitter(cell, r.cells.Cell(cell), &r.opts)
		r.combiners[cell] = c
		go c.run()
	}
	return c
}

// enter registers a caller for which Close waits, or reports false after Close.
func (r *Recorder) enter() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.compacted {
		return false
	}
	r.callers.Add(1)
	return true
}

// Close refuses further hits, and returns when all accepted ones are answered.
func (r *Recorder) Close() error {
	r.mu.Lock()
	r.compacted = true
	r.mu.Unlock()
	r.callers.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for cell, c := range r.combiners {
		close(c.stop)
		<-c.done
		delete(r.combiners, cell)
	}
	return nil
}
