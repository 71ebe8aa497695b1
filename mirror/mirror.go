// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/delay"
)

// Options of a mirror. Nil is the default.
type Options struct {
	// Once makes Run return as soon as everything acknowledged before its start is mirrored.
	Once bool
	// Poll is the interval between polls for changes. Defaults to 250 ms.
	Poll time.Duration
	// Abreast is the number of cells that work in parallel. Defaults to 4.
	Abreast int
	// Now is the clock for reported times. Defaults to time.Now.
	Now func() time.Time
	// Again reports whether an error is worth retrying. By default, errors of unreachable cells or targets and
	// writes with unknown outcome are retried.
	Again func(error) bool
	Events
}

// Events report the actions of a mirror. Nil fields are skipped; the functions are called one at a time.
type Events struct {
	// Refill is called when a cell must be filled again because its log does not reach back to the mirror's
	// position.
	Refill func(id cell.ID, why error)
	// Trouble is called with an error after which a cell retries, and with nil when it recovers.
	Trouble func(id cell.ID, err error)
}

const (
	defaultPoll    = 250 * time.Millisecond
	defaultAbreast = 4
	// patience is the longest pause before a retry.
	patience = 5 * time.Second
	// review is how often a cell without changes checks whether it must be filled again, and how often the list
	// of cells is read.
	review = 5 * time.Second
)

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Poll <= 0 {
		d.Poll = defaultPoll
	}
	if d.Abreast <= 0 {
		d.Abreast = defaultAbreast
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Again == nil {
		d.Again = func(err error) bool {
			return errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrCommitUnknown)
		}
	}
	if d.Refill == nil {
		d.Refill = func(cell.ID, error) {}
	}
	if d.Trouble == nil {
		d.Trouble = func(cell.ID, error) {}
	}
	return d
}

// Mirror follows all cells of a source. Several mirrors may follow one source into one target; this is safe but
// not faster.
type Mirror struct {
	source Source
	target Target
	opts   Options
	work   chan struct{} // semaphore of the cells that work

	telling sync.Mutex // serialises events

	mu       sync.Mutex
	cells    map[cell.ID]*Standing
	awaiting chan struct{} // closed when there may be changes
}

// New returns a mirror. Nothing is read or written before Run.
func New(source Source, target Target, opts *Options) *Mirror {
	o := opts.withDefaults()
	return &Mirror{
		source: source, target: target, opts: o, work: make(chan struct{}, o.Abreast),
		cells: map[cell.ID]*Standing{}, awaiting: make(chan struct{}),
	}
}

// Run fills cells that are not filled yet and then follows the changes, until the context ends, which is not an error,
// or with Once until everything is mirrored. It continues where an earlier run stopped, even after a crash. The error
// wraps ErrForeign or ErrFormat, or is one that Options.Again does not retry.
func (m *Mirror) Run(ctx context.Context) error {
	installation, cells, err := m.source.Installation(ctx)
	if err != nil {
		return ended(ctx, fmt.Errorf("read the cell map: %w", err))
	}
	if !m.opts.Once {
		return ended(ctx, m.followAll(ctx, installation, cells))
	}
	for {
		if err := m.followAll(ctx, installation, cells); err != nil || ctx.Err() != nil {
			return ended(ctx, err)
		}
		// A trimmed log may have started a new fill of cells that were already done.
		unfilled := func(s Standing) bool { return !s.Filled }
		if standings, err := StandingOf(ctx, m.source, m.target); err != nil || !slices.ContainsFunc(standings, unfilled) {
			return ended(ctx, err)
		}
	}
}

// followAll follows all cells until the context ends, or with Once until all are done.
func (m *Mirror) followAll(ctx context.Context, installation string, cells []cell.ID) error {
	ctx, stop := context.WithCancel(ctx)
	g, working := errgroup.WithContext(ctx)
	hired := map[cell.ID]bool{}
	hire := func(cells []cell.ID) {
		for _, id := range cells {
			if !hired[id] {
				hired[id] = true
				m.enter(id)
				g.Go(func() error { return m.follow(working, id, installation) })
			}
		}
	}
	hire(cells)
	var beside sync.WaitGroup
	if m.opts.Once {
		beside.Go(func() { m.watch(working, func([]cell.ID) {}) })
	} else {
		g.Go(func() error { m.watch(working, hire); return nil })
	}
	err := g.Wait()
	stop()
	beside.Wait()
	return err
}

// ended returns the error that ended a mirror; the end of the context is not an error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // being stopped is no error
	}
	return err
}

// enter adds a cell to the standings.
func (m *Mirror) enter(id cell.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cells[id] == nil {
		m.cells[id] = &Standing{Cell: id}
	}
}

// watch polls the ends of the logs, and now and then the list of cells.
func (m *Mirror) watch(ctx context.Context, hire func([]cell.ID)) {
	asked := time.Now()
	for {
		if tail, err := m.source.Tail(ctx); err == nil {
			m.mu.Lock()
			for id, s := range m.cells {
				s.Tail = tail[id]
			}
			close(m.awaiting)
			m.awaiting = make(chan struct{})
			m.mu.Unlock()
		}
		if time.Since(asked) >= review {
			asked = time.Now()
			if _, cells, err := m.source.Installation(ctx); err == nil {
				hire(cells)
			}
		}
		if !rest(ctx, m.opts.Poll) {
			return
		}
	}
}

// follow mirrors one cell.
func (m *Mirror) follow(ctx context.Context, id cell.ID, installation string) error {
	w := &worker{
		copier: copier{source: m.source, target: m.target}, cell: id, installation: installation, now: m.opts.Now,
		refilled: func(id cell.ID, why error) { m.tell(func() { m.opts.Refill(id, why) }) },
	}
	wait, troubled := m.opts.Poll, false
	for ctx.Err() == nil {
		end := m.end(id)
		idle, err := m.step(ctx, w, end)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // nor here
		case err != nil && !m.opts.Again(err):
			return fmt.Errorf("cell %v: %w", id, err)
		case err != nil:
			if !troubled {
				m.tell(func() { m.opts.Trouble(id, err) })
			}
			troubled, w.loaded = true, false
			rest(ctx, wait)
			wait = min(2*wait, patience)
			continue
		case troubled:
			m.tell(func() { m.opts.Trouble(id, nil) })
			troubled, wait = false, m.opts.Poll
		}
		switch {
		case !idle:
		case len(w.control.Settling) > 0:
			rest(ctx, m.opts.Poll)
		case m.opts.Once: // the log has no more from before the start of Run
			return nil
		default:
			m.await(ctx, id, max(end, w.control.At))
		}
	}
	return nil
}

// end returns the end of a cell's log as last polled.
func (m *Mirror) end(id cell.ID) changelog.Seq {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cells[id].Tail
}

// step does one piece of work when a slot is free. If it was idle, the mirror has everything up to the polled end
// of the log: log numbers may have gaps.
func (m *Mirror) step(ctx context.Context, w *worker, end changelog.Seq) (idle bool, err error) {
	select {
	case m.work <- struct{}{}:
		defer func() { <-m.work }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	idle, err = w.step(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.cells[w.cell]
	s.note(&w.control)
	if idle && len(w.control.Settling) == 0 {
		s.At = max(s.At, end)
	}
	return idle, err
}

// await waits until the log of a cell ends beyond a position, or review has passed.
func (m *Mirror) await(ctx context.Context, id cell.ID, beyond changelog.Seq) {
	ctx, cancel := context.WithTimeout(ctx, review)
	defer cancel()
	for ctx.Err() == nil {
		m.mu.Lock()
		awaiting, end := m.awaiting, m.cells[id].Tail
		m.mu.Unlock()
		if end > beyond {
			return
		}
		select {
		case <-awaiting:
		case <-ctx.Done():
		}
	}
}

func (m *Mirror) tell(event func()) {
	m.telling.Lock()
	defer m.telling.Unlock()
	event()
}

// rest waits, and reports whether the context is still active.
func rest(ctx context.Context, d time.Duration) bool {
	return delay.For(ctx, d) == nil
}
