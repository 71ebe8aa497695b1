// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/mirror"
)

// Options of a Runner. Name, Source, Open, Store and Lease are required.
type Options struct {
	// Name of the sink, for the log.
	Name string
	// Source is the installation.
	Source mirror.Source
	// Open opens the target. It is called once the lease is held.
	Open func(ctx context.Context) (Sink, error)
	// OpenChanges, if not nil, opens a target of changes in place of Open.
	OpenChanges func(ctx context.Context) (ChangeSink, error)
	// Store keeps the progress.
	Store Store
	// Lease is the lease of the sink; see LeaseName. The runner acquires it, renews it and gives it back.
	Lease *lease.Holder
	// Kind, if not "", delivers only the entities of this kind. Redirects and deletions are delivered of every kind.
	Kind string
	// Adopt, if not "", is the installation whose target may be taken over: it is filled again. Every token is above
	// Above, so that the target has no higher rev.
	Adopt string
	Above int64
	// Lanes is the number of batches on their way at once, and Batch the most events in one. Both default to 1. They
	// are 1 and any number for a target that stores positions.
	Lanes, Batch int
	// Poll is the interval between polls for changes. Defaults to 250 ms.
	Poll time.Duration
	// Patience is the longest pause before a retry. Defaults to 5 minutes.
	Patience time.Duration
	// Tracer receives a span for each attempt to deliver, nil for none.
	Tracer span.Tracer
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger receives a line when delivery fails and when it resumes. Defaults to discarding them.
	Logger *slog.Logger
}

const (
	defaultPoll     = 250 * time.Millisecond
	defaultPatience = 5 * time.Minute
	// firstPause is the pause before the first retry.
	firstPause = 500 * time.Millisecond
	// review is how often the list of cells is read.
	review = 5 * time.Second
	// saveEvery is how often the progress is stored.
	saveEvery = time.Second
	// poison is the number of attempts after which an event becomes a dead letter if others were accepted since.
	poison = 10
	// abreast is the number of cells read at once.
	abreast = 4
)

// LeaseName returns the name of the lease of a sink.
func LeaseName(name string) string { return "sink/" + name }

// Runner runs a sink in one process while that holds the sink's lease.
type Runner struct {
	opts Options
	feed atomic.Pointer[feed] // while the lease is held
	wake chan struct{}        // there may be changes

	recording atomic.Pointer[recording] // the same for changes

	delivered, failed atomic.Int64              // by this process before the current feed
	due               atomic.Pointer[time.Time] // see note
}

// New returns a runner. Nothing is read or written before Run.
func New(opts Options) *Runner {
	if opts.Poll <= 0 {
		opts.Poll = defaultPoll
	}
	if opts.Patience <= 0 {
		opts.Patience = defaultPatience
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts.Lanes, opts.Batch = max(opts.Lanes, 1), max(opts.Batch, 1)
	return &Runner{opts: opts, wake: make(chan struct{}, 1)}
}

// Wake makes the runner look for changes now.
func (r *Runner) Wake() { wake(r.wake) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run runs the sink whenever this process can have its lease, until the context ends, which is not an error. Any
// other error wraps ErrStop: a person has to look at the sink.
func (r *Runner) Run(ctx context.Context) error {
	pause, failed := firstPause, false
	for ctx.Err() == nil {
		err := r.own(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, ErrStop):
			return err
		case err == nil, errors.Is(err, lease.ErrLost), errors.Is(err, ErrFenced): // another process runs it
			pause, failed = firstPause, false
			r.due.Store(nil)
			rest(ctx, saveEvery, nil)
		default:
			if !failed {
				r.opts.Logger.Warn("sink failed to start", "sink", r.opts.Name, "err", err)
			}
			failed = true
			rest(ctx, jitter(pause), nil)
			pause = min(2*pause, r.opts.Patience)
		}
	}
	return nil
}

// own runs the sink while this process holds the lease. It returns nil if it cannot have it.
func (r *Runner) own(ctx context.Context) error {
	return r.opts.Lease.Work(ctx, func(ctx context.Context, token int64, _ func() bool) error {
		err := r.run(ctx, token)
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrStop) && !errors.Is(err, lease.ErrLost) {
			r.note(ctx, token, err) // refused if the lease was lost; fenced without that, there is another installation
		}
		return err
	})
}

// run delivers until the context ends.
func (r *Runner) run(ctx context.Context, token int64) error {
	if r.opts.OpenChanges != nil {
		return r.record(ctx, token)
	}
	target, err := r.opts.Open(ctx)
	if err != nil {
		return fmt.Errorf("open the target: %w", err)
	}
	defer func() { _ = target.Close() }() // everything acknowledged is durable
	f := newFeed(r.opts.Source, target, r.opts.Store, r.opts.Lanes, r.opts.Batch, r.opts.Kind, r.opts.Now)
	f.adopt, f.above = r.opts.Adopt, r.opts.Above
	if err := f.start(ctx, token); err != nil {
		return err
	}
	r.feed.Store(f)
	r.due.Store(nil)
	r.opts.Logger.Debug("sink started", "sink", r.opts.Name, "token", f.token)
	g, ctx := errgroup.WithContext(ctx)
	b := &backoff{patience: r.opts.Patience, recovered: make(chan struct{})}
	lanes := make([]chan struct{}, r.opts.Lanes)
	room := make(chan struct{}, 1)
	for i := range lanes {
		lanes[i] = make(chan struct{}, 1)
		g.Go(func() error { return r.deliver(ctx, f, i, lanes[i], room, b) })
	}
	g.Go(func() error { r.read(ctx, f, lanes, room); return nil })
	g.Go(func() error { return r.save(ctx, f) })
	err = g.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if saved := f.save(last); err == nil && errors.Is(saved, lease.ErrLost) {
		err = saved
	}
	r.feed.Store(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	r.delivered.Add(f.progress.Delivered - f.began.Delivered)
	r.failed.Add(f.progress.Failed - f.began.Failed)
	return err
}

// Stats are the statistics of the runner in this process.
type Stats struct {
	// Running reports that this process holds the lease.
	Running bool
	// Lag is how long the oldest change has been waiting, Dead the number of dead letters; both only if Running. A
	// process that cannot open the target also reports the lag, as of its last attempt.
	Lag  time.Duration
	Dead int
	// Delivered counts accepted events, and Failed failed attempts, since the start of the process.
	Delivered, Failed int64
}

// Stats returns what the runner has done and is doing.
func (r *Runner) Stats() Stats {
	s := Stats{Delivered: r.delivered.Load(), Failed: r.failed.Load()}
	if due := r.due.Load(); due != nil {
		s.Lag = r.opts.Now().Sub(*due)
	}
	if f := r.feed.Load(); f != nil {
		s.Running, s.Lag = true, f.lag()
		f.mu.Lock()
		defer f.mu.Unlock()
		s.Dead = len(f.dead)
		s.Delivered += f.progress.Delivered - f.began.Delivered
		s.Failed += f.progress.Failed - f.began.Failed
	}
	if c := r.recording.Load(); c != nil {
		s.Running, s.Lag = true, c.lag()
		c.mu.Lock()
		defer c.mu.Unlock()
		s.Delivered += c.progress.Delivered - c.began.Delivered
		s.Failed += c.progress.Failed - c.began.Failed
	}
	return s
}
