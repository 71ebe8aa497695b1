// SPDX-License-Identifier: Apache-2.0

// Package breaker stops callers from waiting, one after the other, for a database that does not answer.
//
//	closed ── Doubt ──► doubted ── the probe fails ──► open
//	   ▲                   │                            │
//	   └── it passes ──────┴── a later probe passes ────┘
//
// A failed transaction may mean that the database is gone, hangs or is locked. The caller does not decide that: it
// reports a doubt, and a background probe decides. So a slow statement or a long-held row lock does not open the
// breaker. A caller that knows the database is gone trips it. While the breaker is open, callers are refused at once;
// none of them serves as a probe.
package breaker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/delay"
)

// Options configures a breaker. Probe and Rand are required.
type Options struct {
	// Probe runs the minimum that shows that transactions can run, and returns nil if they can. It must return soon
	// after ctx is done.
	Probe func(ctx context.Context) error
	// Patience is the timeout of the first probe. It doubles with each failing probe, up to eight times the value,
	// so that a machine that is merely slow recovers. Defaults to 1 s.
	Patience time.Duration
	// Pause is the average time between the first failing probe and the next. It doubles up to eight times the
	// value. Defaults to 500 ms.
	Pause time.Duration
	// Rand returns a number in [0, 1) and spreads the probes in time.
	Rand func() float64
}

// growth is how many times the patience and the pause are doubled.
const growth = 3

// Breaker is the breaker of one database. It is safe for concurrent use.
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

// probe is a series of probes that ends with the first that passes.
type probe struct {
	judged chan struct{} // closed once the first verdict is known
}

// New returns a closed breaker.
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

// Err returns nil if callers may use the database; otherwise the reason, which wraps cell.ErrUnavailable.
func (b *Breaker) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reason == nil {
		return nil
	}
	return fmt.Errorf("%w: not asked again until it answers a probe: %w", cell.ErrUnavailable, b.reason)
}

// Doubt starts a probe in the background, unless one is running.
func (b *Breaker) Doubt() { b.begin(nil) }

// Trip opens the breaker with a reason, until a probe passes.
func (b *Breaker) Trip(reason error) { b.begin(reason) }

// begin starts the probes unless they are running. They start with a pause if the breaker is already tripped.
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

// Ask is Doubt, but waits for the verdict and returns Err.
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
		if err != nil && ctx.Err() != nil { // the probe's deadline is not the caller's
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

// pause waits before the n-th probe.
func (b *Breaker) pause(n int) {
	mean := b.opts.Pause << min(max(n-1, 0), growth)
	_ = delay.For(b.ctx, mean/2+time.Duration(b.opts.Rand()*float64(mean)))
}

// Close cancels a running probe and waits for it.
func (b *Breaker) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.work.Wait()
}
