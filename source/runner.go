// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/lease"
)

// Options of a Runner. Name, Open, Decode, Target, Store and Lease are required.
type Options struct {
	// Name of the source, for the log.
	Name string
	// Open opens the stream at a position. It is called while the lease is held.
	Open func(ctx context.Context, at Position) (Stream, error)
	// Decode returns the operation of a message. ok is false if the message has none, such as a tombstone. An error is
	// the reason for a dead letter, or wraps ErrStop.
	Decode func(m Message) (op Op, ok bool, err error)
	Target Target
	Store  Store
	// Lease is the lease of the source; see LeaseName. The runner acquires it, renews it and gives it back.
	Lease *lease.Holder
	// Poll is how long to wait for messages before the store is asked for dead letters to try again. Defaults to 2 s.
	Poll time.Duration
	// Batch is the largest number of messages between two saves. Defaults to 2,000.
	Batch int
	// Patience is the longest pause before a retry. Defaults to a minute.
	Patience time.Duration
	// Tracer receives a span for each batch of messages, nil for none.
	Tracer span.Tracer
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
	// Logger receives a line when the source fails and when it resumes. Defaults to discarding them.
	Logger *slog.Logger
}

const (
	defaultPoll     = 2 * time.Second
	defaultBatch    = 2000
	defaultPatience = time.Minute
	// firstPause is the pause before the first retry, otherPause that before the lease of another process is tried
	// again.
	firstPause = 250 * time.Millisecond
	otherPause = time.Second
	// measureEvery is how often the ends of the stream are read for the lag.
	measureEvery = 5 * time.Second
)

// LeaseName returns the name of the lease of a source.
func LeaseName(name string) string { return "source/" + name }

// Stats are the statistics of the runner in this process.
type Stats struct {
	// Running reports that this process holds the lease. Lag and Dead are 0 otherwise.
	Running bool
	// Lag is the number of messages that wait, as of a few seconds ago.
	Lag int64
	// Dead is the number of dead letters.
	Dead int
	// Records counts the records put and deleted since the runner was made.
	Records int64
	// Trouble is why the source is not running though it should, or, if it is, why the broker does not answer. It is ""
	// otherwise.
	Trouble string
}

// Runner runs a source in one process while that holds the source's lease.
type Runner struct {
	opts    Options
	records atomic.Int64

	mu    sync.Mutex
	stats Stats
}

// New returns a runner. Nothing is read or written before Run.
func New(opts Options) *Runner {
	if opts.Poll <= 0 {
		opts.Poll = defaultPoll
	}
	if opts.Batch <= 0 {
		opts.Batch = defaultBatch
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
	return &Runner{opts: opts}
}

// Stats returns what the runner has done and is doing.
func (r *Runner) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Records = r.records.Load()
	return s
}

func (r *Runner) note(change func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.stats)
}

// Run runs the source whenever this process can have its lease, until the context ends, which is not an error. Any
// other error wraps ErrStop: a person has to look at the source.
func (r *Runner) Run(ctx context.Context) error {
	pause, failed := firstPause, false
	for ctx.Err() == nil {
		before := r.records.Load()
		err := r.opts.Lease.Work(ctx, r.run)
		r.note(func(s *Stats) { *s = Stats{} })
		if r.records.Load() > before {
			pause = firstPause
		}
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, ErrStop):
			return err
		case errors.Is(err, ErrGap):
			return fmt.Errorf("%w: %w", ErrStop, err)
		case err == nil, errors.Is(err, lease.ErrLost): // another process runs it
			pause, failed = firstPause, false
			rest(ctx, otherPause)
		default:
			if !failed {
				r.opts.Logger.Warn("source stream failed to start", "source", r.opts.Name, "err", err)
			}
			failed = true
			r.note(func(s *Stats) { s.Trouble = err.Error() })
			rest(ctx, pause/2+rand.N(pause/2+1))
			pause = min(2*pause, r.opts.Patience)
		}
	}
	return nil
}

// run reads and writes until the context ends or something fails. After a failure the next run begins at the stored
// position.
func (r *Runner) run(ctx context.Context, token int64, late func() bool) error {
	progress, err := r.opts.Store.Load(ctx)
	if err != nil {
		return fmt.Errorf("read the position: %w", err)
	}
	stream, err := r.opts.Open(ctx, progress.Position.Clone())
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	defer func() { _ = stream.Close() }() // everything read is stored or is read again
	progress.Position = stream.Position()
	w := &work{opts: &r.opts, stream: stream, token: token, progress: progress, late: late}
	r.note(func(s *Stats) { *s = Stats{Running: true, Lag: progress.Lag, Dead: progress.Dead} })
	if err := w.save(ctx, nil, nil); err != nil { // fences a former owner, and reads the letters to try again
		return err
	}
	r.opts.Logger.Info("source stream started", "source", r.opts.Name, "token", token)
	for away := false; ctx.Err() == nil; {
		done, err := w.step(ctx)
		r.records.Add(done)
		if err != nil {
			return err
		}
		trouble := ""
		if w.away != nil && ctx.Err() == nil {
			trouble = w.away.Error()
		}
		switch {
		case trouble != "" && !away:
			r.opts.Logger.Warn("source stream read failed, retrying", "source", r.opts.Name, "err", w.away)
		case trouble == "" && away:
			r.opts.Logger.Info("source stream recovered", "source", r.opts.Name)
		}
		away = trouble != ""
		r.note(func(s *Stats) { s.Lag, s.Dead, s.Trouble = w.progress.Lag, w.progress.Dead, trouble })
	}
	return nil
}

// rest waits, and reports whether the context is still active.
func rest(ctx context.Context, d time.Duration) bool {
	return delay.For(ctx, d) == nil
}
