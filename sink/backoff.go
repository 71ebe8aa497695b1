// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// backoff paces the retries of the lanes of a sink.
type backoff struct {
	patience            time.Duration
	successes, failures atomic.Int64 // failures since the last success

	mu        sync.Mutex
	recovered chan struct{} // closed when the target recovers
}

// succeeded notes a success, and reports whether it ends a series of failures. If all lanes may be waiting, they all
// try again.
func (b *backoff) succeeded() bool {
	b.successes.Add(1)
	failures := b.failures.Swap(0)
	if failures > 1 {
		b.mu.Lock()
		defer b.mu.Unlock()
		close(b.recovered)
		b.recovered = make(chan struct{})
	}
	return failures > 0
}

// wait waits before a retry: twice as long each time, with jitter, and shorter if the target recovers after at least
// one failure per lane.
func (b *backoff) wait(ctx context.Context, tries, lanes int) {
	pause := min(firstPause<<min(tries-1, 20), b.patience)
	b.mu.Lock()
	recovered := b.recovered
	b.mu.Unlock()
	if b.failures.Load() < int64(lanes) {
		recovered = nil
	}
	t := time.NewTimer(jitter(pause))
	defer t.Stop()
	select {
	case <-t.C:
	case <-recovered:
	case <-ctx.Done():
	}
}

// jitter returns a random duration of 50 to 100 % of d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// rest waits, until early is signalled at most, and reports whether the context is still active.
func rest(ctx context.Context, d time.Duration, early <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-early:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
