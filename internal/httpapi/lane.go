// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"slices"
	"sync"
	"time"
)

// lane limits the concurrent work of a class, in places, and the number of waiting requests and their waiting time.
// Overload is detected here, before any work is done, and never later.
//
// Clients share a lane fairly: a free place goes to the client with the fewest places, no client has more than three
// quarters of the places or of the queue, and if too many requests wait, one of the client with the most waiting
// requests is refused.
type lane struct {
	places  int
	waiters int // maximum number of waiting requests
	wait    time.Duration
	// refused is called for each refusal; waits is called with +1 and -1 around each wait.
	refused func()
	waits   func(delta int)

	mu    sync.Mutex
	taken int
	held  map[string]int // places per client
	queue []*waiter      // in order of arrival
}

// waiter is a request waiting for places.
type waiter struct {
	client string
	places int
	told   chan error // receives nil once it has its places
}

// share is how many places one client may have: three quarters.
func (l *lane) share() int { return l.places - l.places/4 }

// enter takes places for a client and returns the function that releases them. It fails with overloaded at once if too
// many requests wait, and after the wait if not enough places become free.
func (l *lane) enter(ctx context.Context, client string, places int) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err // the client has left
	}
	w := &waiter{client: client, places: min(places, l.share()), told: make(chan error, 1)}
	leave = func() { l.leave(w) }
	l.mu.Lock()
	l.queue = append(l.queue, w)
	l.admit()
	if len(l.queue) > max(l.waiters, 0) || l.waiting(client) > max(l.waiters-l.waiters/4, 0) {
		l.drop() // a client with more than its share has the most
	}
	l.mu.Unlock()
	select {
	case err := <-w.told:
		return leave, err
	default:
	}
	l.waits(1)
	defer l.waits(-1)
	timer := time.NewTimer(l.wait)
	defer timer.Stop()
	select {
	case err := <-w.told:
		return leave, err
	case <-timer.C:
		err = standard(CodeOverloaded)
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue, w)
	if i < 0 {
		return leave, <-w.told // admitted or refused at the same moment
	}
	l.queue = slices.Delete(l.queue, i, i+1)
	l.admit() // requests that waited behind it
	if ctx.Err() == nil {
		l.refused()
	}
	return nil, err
}

// waiting returns how many requests of a client wait.
func (l *lane) waiting(client string) (n int) {
	for _, w := range l.queue {
		if w.client == client {
			n++
		}
	}
	return n
}

// admit gives places to the next requests. If the next one needs more places than are free, all others wait; otherwise
// it could wait until it is refused.
func (l *lane) admit() {
	for {
		next := -1
		for i, w := range l.queue {
			if l.held[w.client]+w.places <= l.share() && (next < 0 || l.held[w.client] < l.held[l.queue[next].client]) {
				next = i
			}
		}
		if next < 0 || l.taken+l.queue[next].places > l.places {
			return
		}
		w := l.queue[next]
		l.queue = slices.Delete(l.queue, next, next+1)
		l.taken += w.places
		l.held[w.client] += w.places
		w.told <- nil
	}
}

// drop refuses the newest request of the client with the most waiting requests.
func (l *lane) drop() {
	waiting := map[string]int{}
	for _, w := range l.queue {
		waiting[w.client]++
	}
	last := 0
	for i, w := range l.queue {
		if waiting[w.client] >= waiting[l.queue[last].client] {
			last = i
		}
	}
	w := l.queue[last]
	l.queue = slices.Delete(l.queue, last, last+1)
	l.refused()
	w.told <- standard(CodeOverloaded)
}

func (l *lane) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken -= w.places
	if l.held[w.client] -= w.places; l.held[w.client] == 0 {
		delete(l.held, w.client)
	}
	l.admit()
}
