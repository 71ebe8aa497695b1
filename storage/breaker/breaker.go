// SPDX-License-Identifier: Apache-2.0

// Package breaker keeps callers from waiting for a database that does not answer, one after the other.
//
//	closed ── Doubt ──► doubted ── the probe fails ──► open
//	   ▲                   │                            │
//	   └── it passes ──────┴── a later probe passes ────┘
//
// A caller whose transaction failed as it would with a database that is gone, hangs or is locked does not decide
// that it is: it reports a doubt, and a probe of its own, in the background, decides. So neither a slow
// statement nor a row that is locked for long opens the breaker. A caller that is certain trips it. While it is
// open callers are refused at once, and none of them is used as a probe.
package breaker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
)

// Options of a breaker. Probe is required.
type Options struct {
	// Probe asks the database for the least that shows that transactions can run, and returns nil if they
	// can. It returns soon after ctx ends.
	Probe func(ctx context.Context) error
	// Patience is how long a probe may take; each of a series of failing probes may take twice as long as
	// the one before, up to eight times as long, so that a machine that is merely slow comes back. Defaults to 1 s.
	Patience time.Duration
	// Pause is how long after the first failing probe the next one begins, on average. It doubles up to
	// eight times as long. Defaults to 500 ms.
	Pause time.Duration
	// Rand returns a number in [0, 1) and spreads the probes. Required.
	Rand func() float64
}

// growth is how many times the patience and the pause of probes double.
const growth = 3

// Breaker is the breaker of one database. It is safe for many goroutines.
type Breaker struct {
	opts Options
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	reason error // why it is open; nil while it is closed
	probe  *probe
	closed bool
}

// probe is a series of probes, which ends with the first that passes.
type probe struct {
	judged chan struct{} // closed once the first verdict is known
}

// New returns a breaker that is closed.
func New(opts Options) *Breaker {
	if opts.Patience == 0 {
		opts.Patience = time.Second
	}
	if opts.Pause == 0 {
		opts.Pause = 500 * time.Millisecond
	}
	b := &Breaker{opts: opts}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Err returns nil if callers may use the database, and otherwise why not; that error wraps cell.ErrUnavailable.
func (b *Breaker) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reason == nil {
		return nil
	}
	return fmt.Errorf("%w: not asked again until it answers a probe: %w", cell.ErrUnavailable, b.reason)
}

// Doubt has the database probed, in the background, unless that is going on already.
func (b *Breaker) Doubt() { b.begin(nil) }

// Trip opens the breaker for a reason, until a probe passes.
func (b *Breaker) Trip(reason error) { b.begin(reason) }

// begin starts the probes unless there are some. They begin with a pause if the verdict is known.
func (b *Breaker) begin(reason error) *probe {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	if reason != nil && b.reason == nil {
		b.reason = reason
	}
	if b.probe == nil {
		p := &probe{judged: make(chan struct{})}
		b.probe = p
		b.work.Go(func() { b.run(p, reason != nil) })
	}
	return b.probe
}

// Ask is Doubt for a caller that waits for the verdict, which is that of Err.
func (b *Breaker) Ask(ctx context.Context) error {
	if p := b.begin(nil); p != nil {
		select {
		case <-p.judged:
		case <-ctx.Done():
		}
	}
	return b.Err()
}

// run probes until the database answers.
func (b *Breaker) run(p *probe, tripped bool) {
	if tripped {
		close(p.judged)
	}
	for n := 0; b.ctx.Err() == nil; n++ {
		if n > 0 || tripped {
			b.pause(n)
		}
		patience := b.opts.Patience << min(n, growth)
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		err := b.opts.Probe(ctx)
		if err != nil && ctx.Err() != nil { // the deadline of the probe is not one of a caller
			err = fmt.Errorf("no answer in %v: %v", patience, err) //nolint:errorlint // so it is not wrapped
		}
		cancel()
		b.mu.Lock()
		b.reason = err
		if err == nil {
			b.probe = nil
		}
		b.mu.Unlock()
		if n == 0 && !tripped {
			close(p.judged)
		}
		if err == nil {
			return
		}
	}
}

// pause is the time before the probe with number n.
func (b *Breaker) pause(n int) {
	mean := b.opts.Pause << min(max(n-1, 0), growth)
	timer := time.NewTimer(mean/2 + time.Duration(b.opts.Rand()*float64(mean)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.ctx.Done():
	}
}

// Close ends a probe that is under way and waits for it.
func (b *Breaker) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.work.Wait()
}
