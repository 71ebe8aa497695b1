// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// errDeadlock is the error of a peer's write that the server aborted because of a deadlock.
var errDeadlock = errors.New("deadlock")

// writer commits the current state of documents in one transaction. client is the caller's number, from 0.
type writer func(ctx context.Context, client int, pets []*pet) error

// commit is an update acknowledged as durable.
type commit struct {
	pet int32
	at  time.Duration // since the beginning of the load
}

// written is the result of a load.
type written struct {
	began     time.Time
	spent     time.Duration
	commits   [][]commit // by client, in order; all commits of a document are in one list
	waits     []time.Duration
	deadlocks int
}

// drive writes documents for a duration, each client at least once unless there is a rate. It returns when the last
// one is committed.
func drive(ctx context.Context, w *world, l Load, d time.Duration, write writer) (*written, error) {
	l.Clients = min(l.Clients, w.o.Documents)
	clients := w.clients(l.Clients)
	if l.Queue {
		q := newQueue(write)
		defer q.close()
		write = q.do
	}
	done := &written{began: time.Now(), commits: make([][]commit, l.Clients)}
	waits := make([][]time.Duration, l.Clients)
	var arrivals, deadlocks atomic.Int64
	errs := make([]error, l.Clients)
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			for first := true; errs[i] == nil; first = false {
				if l.Rate > 0 { // the next one due
					n := arrivals.Add(1) - 1
					due := time.Duration(float64(n) / (l.Rate * textLoad) * float64(time.Second))
					if due >= d || !until(ctx, done.began.Add(due)) {
						return
					}
				}
				sent := time.Now()
				if sent.Sub(done.began) >= d && !first {
					return
				}
				pets := c.next(l.Batch)
				err := write(ctx, i, pets)
				for errors.Is(err, errDeadlock) {
					deadlocks.Add(1)
					if time.Since(done.began) >= d {
						return
					}
					err = write(ctx, i, pets)
				}
				if errs[i] = err; err != nil {
					return
				}
				now := time.Now()
				waits[i] = append(waits[i], now.Sub(sent))
				for _, p := range pets {
					done.commits[i] = append(done.commits[i], commit{int32(p.n), now.Sub(done.began)})
				}
			}
		})
	}
	wg.Wait()
	done.spent = time.Since(done.began)
	done.waits, done.deadlocks = slices.Concat(waits...), int(deadlocks.Load())
	return done, cmp.Or(errors.Join(errs...), ctx.Err())
}

// until waits for a time, and reports whether it was reached.
func until(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// updates returns the number of documents written.
func (w *written) updates() (n int) {
	for _, c := range w.commits {
		n += len(c)
	}
	return n
}

// queue lets clients share transactions like resolve.Queue: calls that arrive during a transaction go into the next
// one together.
type queue struct {
	write writer
	calls chan *call
	done  chan struct{}
}

type call struct {
	ctx  context.Context
	pets []*pet
	err  chan error
}

// gathered is the maximum number of documents per transaction, as in resolve.Queue.
const gathered = 4000

func newQueue(write writer) *queue {
	q := &queue{write: write, calls: make(chan *call, 1024), done: make(chan struct{})}
	go q.run()
	return q
}

func (q *queue) do(ctx context.Context, _ int, pets []*pet) error {
	c := &call{ctx: ctx, pets: pets, err: make(chan error, 1)}
	q.calls <- c
	return <-c.err
}

func (q *queue) run() {
	defer close(q.done)
	for first := range q.calls {
		group, pets := []*call{first}, slices.Clone(first.pets)
	more:
		for len(pets) < gathered {
			select {
			case c, ok := <-q.calls:
				if !ok {
					break more
				}
				group, pets = append(group, c), append(pets, c.pets...)
			default:
				break more
			}
		}
		err := q.write(first.ctx, 0, pets)
		for _, c := range group {
			c.err <- err
		}
	}
}

// close may be called when no call is pending.
func (q *queue) close() {
	close(q.calls)
	<-q.done
}
