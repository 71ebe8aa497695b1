// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/span"
)

// ErrClosed means that the queue takes no more work.
var ErrClosed = problem.Class(problem.ErrClosed, "resolve: queue closed")

// maxGroup is the maximum number of ops per Apply, unless a single caller brings more: enough to share the syncs of all
// cells, few enough to bound the wait. heldGroup is the maximum of a resolver that only puts.
const maxGroup, heldGroup = 8000, 64_000

// Callers that wait for each batch come back at the same time. The queue waits a little for the callers of the last
// batch, and for the calls that waited for its end, for at most this fraction of the time that the batch took. So
// callers that are out of step share the next batch. Otherwise they would form two groups that wait for each other.
const (
	gatherPart = 8
	gatherMost = 50 * time.Millisecond
)

// Queue lets many callers share the syncs of a Resolver: calls that arrive while a batch is written form
// the next batch.
type Queue struct {
	resolver *Resolver
	calls    chan *call
	stop     chan struct{} // closed when no more calls are taken
	done     chan struct{} // closed when the last call is answered
	callers  int           // of the last group, and of the calls that waited when it ended
	took     time.Duration // how long the last group took
}

// call holds the ops of one caller.
//
//	waiting ── begin ──► begun ──► done
//	   │                   └─ leave ──► what is known: durable and pending, refused, or unknown
//	   └─ leave ──► withdrawn: none of them is done
type call struct {
	ops     []Op
	results []Result
	done    chan struct{}
	span    span.Span // of the caller

	mu    sync.Mutex
	begun bool
	left  bool
	known []*Result // the result of each op, set once its first round is over
}

// begin starts the call and reports whether its caller still waits.
func (c *call) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.left {
		c.begun, c.known = true, make([]*Result, len(c.ops))
	}
	return c.begun
}

func (c *call) tell(i int, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.left {
		c.known[i] = &r
	}
}

// leave ends the wait of the caller. If the work has begun it continues, and leave returns the results
// known so far.
func (c *call) leave(reason error) ([]Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
	if !c.begun {
		return nil, fmt.Errorf("wait for a place in the queue: %w", reason)
	}
	results := make([]Result, len(c.ops))
	for i, r := range c.known {
		switch {
		case r == nil:
			results[i].Err = fmt.Errorf("%w: the caller's deadline passed while the records were being written: %s", cell.ErrCommitUnknown, reason.Error())
		default:
			results[i] = *r
			results[i].Pending = r.Err == nil && r.Outcome != Unchanged && r.Outcome != Stale
		}
	}
	return results, nil
}

// NewQueue starts a queue for a resolver. waiting is the buffer for waiting calls; further callers block in
// Do.
func NewQueue(r *Resolver, waiting int) *Queue {
	q := &Queue{resolver: r, calls: make(chan *call, waiting), stop: make(chan struct{}), done: make(chan struct{})}
	go q.run()
	return q
}

// Do writes ops like Resolver.Apply, in a batch shared with concurrent callers, in this process or in the one that
// holds the lease. If the context ends first, Do returns at once. Waiting ops are withdrawn, which is an error. Work
// that has begun continues: results of durable records are Pending, and ops whose outcome is not known have an Err that
// wraps ErrCommitUnknown.
func (q *Queue) Do(ctx context.Context, ops []Op) ([]Result, error) {
	results, unknown := q.forward(ctx, ops)
	if results != nil {
		return results, nil
	}
	results, err := q.do(ctx, ops)
	if err != nil && unknown != nil {
		return unknownResults(ops, unknown), nil
	}
	return results, err
}

func (q *Queue) do(ctx context.Context, ops []Op) ([]Result, error) {
	c := &call{ops: ops, done: make(chan struct{}), span: span.Of(ctx)}
	select {
	case <-q.stop:
		return nil, ErrClosed
	default:
	}
	select {
	case <-q.stop:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a place in the queue: %w", context.Cause(ctx))
	case q.calls <- c:
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return c.leave(context.Cause(ctx))
	case <-q.done:
		select {
		case <-c.done:
		default:
			return nil, ErrClosed
		}
	}
	return c.results, nil
}

// Waiting returns the number of waiting calls.
func (q *Queue) Waiting() int { return len(q.calls) }

// Close stops accepting calls and returns when all accepted calls are answered.
func (q *Queue) Close() {
	close(q.stop)
	<-q.done
}

func (q *Queue) run() {
	defer close(q.done)
	ctx := context.Background()
	for {
		first, open := q.wait(ctx)
		if !open {
			q.rest(ctx)
			return
		}
		q.serve(ctx, q.gather(first))
	}
}

// wait calls Rest until a call arrives, which it returns, or the queue is closed.
func (q *Queue) wait(ctx context.Context) (*call, bool) {
	again := time.NewTimer(restAfter)
	defer again.Stop()
	for {
		select {
		case first := <-q.calls:
			return first, true
		case <-q.stop:
			return nil, false
		case <-again.C:
		}
		next := q.resolver.Rest(ctx)
		if next <= 0 {
			next = forever
		}
		again.Reset(next)
	}
}

// restAfter is how long the queue has no call before it rests: callers that just got a result often call again at once,
// and would have to wait for the rest to end.
const restAfter = 10 * time.Millisecond

// forever is longer than the lifetime of any process.
const forever = 1<<63 - 1

// rest serves the calls that were buffered when the queue was closed, then drains the resolver and releases
// the lease.
func (q *Queue) rest(ctx context.Context) {
	for {
		select {
		case c := <-q.calls:
			q.serve(ctx, q.gather(c))
		default:
			_ = q.resolver.Drain(ctx)
			q.resolver.Leave(ctx)
			return
		}
	}
}

// gather returns the calls of the next group.
func (q *Queue) gather(first *call) []*call {
	group, n, most := []*call{first}, len(first.ops), maxGroup
	if q.resolver.opts.Hold {
		most = heldGroup
	}
	var over <-chan time.Time
	for n < most {
		select {
		case c := <-q.calls:
			group = append(group, c)
			n += len(c.ops)
			continue
		default:
		}
		if len(group) >= q.callers {
			return group
		}
		if over == nil {
			timer := time.NewTimer(min(q.took/gatherPart, gatherMost))
			defer timer.Stop()
			over = timer.C
		}
		select {
		case c := <-q.calls:
			group = append(group, c)
			n += len(c.ops)
		case <-over:
			return group
		case <-q.stop:
			return group
		}
	}
	return group
}

func (q *Queue) serve(ctx context.Context, group []*call) {
	group = slices.DeleteFunc(group, func(c *call) bool { return !c.begin() })
	var ops []Op
	var first []int // index of each call's first op
	for _, c := range group {
		first = append(first, len(ops))
		ops = append(ops, c.ops...)
	}
	if len(ops) == 0 {
		return
	}
	begun := q.resolver.opts.Now()
	defer func() { q.callers, q.took = len(group)+len(q.calls), q.resolver.opts.Now().Sub(begun) }()
	ctx, batch := shared(ctx, group)
	batch.Number("locus.operations", int64(len(ops)))
	defer batch.End(nil)
	results := q.resolver.apply(ctx, ops, func(i int, r Result) {
		n, exact := slices.BinarySearch(first, i)
		if !exact {
			n--
		}
		group[n].tell(i-first[n], r)
	})
	for _, c := range group {
		c.results, results = results[:len(c.ops):len(c.ops)], results[len(c.ops):]
		close(c.done)
	}
}

// shared starts the span of a group below the first caller that is traced, and links it to the others.
func shared(ctx context.Context, group []*call) (context.Context, span.Span) {
	traced := slices.IndexFunc(group, func(c *call) bool { return c.span.On() })
	if traced < 0 {
		return ctx, span.Span{}
	}
	ctx, s := group[traced].span.Start(ctx, "batch")
	for _, c := range group[traced+1:] {
		s.Link(c.span)
	}
	return ctx, s
}
