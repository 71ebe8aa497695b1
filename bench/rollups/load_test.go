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

// errDeadlock is what a peer's write answers with if the server ended it for others to go on.
var errDeadlock = errors.New("deadlock")

// writer commits documents as they are now in one transaction. client is who asks, from 0.
type writer func(ctx context.Context, client int, pets []*pet) error

// commit is an update whose client was told that it is durable.
type commit struct {
	pet int32
	at  time.Duration // since the beginning of the load
}

// written is what a load has done.
type written struct {
	began     time.Time
	spent     time.Duration
	commits   [][]commit // by client, in order; of one document all are in one list
	waits     []time.Duration
	deadlocks int
}

// drive writes documents for so long, each client once at least unless there is a rate. It returns when the last
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
				if l.Rate > 0 { // the next one to come
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

// until waits for a moment, and answers whether it came.
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

// updates is how many documents were written.
func (w *written) updates() (n int) {
	for _, c := range w.commits {
		n += len(c)
	}
	return n
}

// queue lets clients share transactions as resolve.Queue does: who comes while one is under way goes into
// the next one together with all others who wait.
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

// gathered is how many documents a transaction takes, as many as resolve.Queue takes.
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

// close is called when nobody waits any more.
func (q *queue) close() {
	close(q.calls)
	<-q.done
}
