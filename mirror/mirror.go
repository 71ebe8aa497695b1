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
)

// Options of a mirror. Nil is the default.
type Options struct {
	// Once ends it as soon as everything is mirrored that was acknowledged before it began.
	Once bool
	// Poll is how often it asks for changes. Defaults to 250 ms.
	Poll time.Duration
	// Abreast is how many cells work at the same time. Defaults to 4.
	Abreast int
	// Now is the clock of what is shown. Defaults to time.Now.
	Now func() time.Time
	// Again tells whether what failed is worth trying again. Defaults to errors of cells, or of the target,
	// that cannot be reached, and to writes whose outcome nobody knows.
	Again func(error) bool
	Events
}

// Events tell what a mirror does. Nil fields cost nothing; they are called one at a time.
type Events struct {
	// Refill is called when a cell is to be filled again, since its log does not reach back to the mirror.
	Refill func(id cell.ID, why error)
	// Trouble is called with an error after which a cell tries again, and with nil when it goes on.
	Trouble func(id cell.ID, err error)
}

const (
	defaultPoll    = 250 * time.Millisecond
	defaultAbreast = 4
	// patience is how long at most is waited before something that failed is tried again.
	patience = 5 * time.Second
	// review is how often a cell without changes looks whether it is to be filled again, and how often it is asked
	// whether cells were added.
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
			return errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrUnknownOutcome)
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

// Mirror follows all cells of a source. Any number may follow one source into one target at once; it is no faster.
type Mirror struct {
	source Source
	target Target
	opts   Options
	work   chan struct{} // has room for the cells that work

	telling sync.Mutex // events come one at a time

	mu       sync.Mutex
	cells    map[cell.ID]*Standing
	awaiting chan struct{} // closed when there may be changes
}

// New makes a mirror. Nothing is read or written before Run.
func New(source Source, target Target, opts *Options) *Mirror {
	o := opts.withDefaults()
	return &Mirror{
		source: source, target: target, opts: o, work: make(chan struct{}, o.Abreast),
		cells: map[cell.ID]*Standing{}, awaiting: make(chan struct{}),
	}
}

// Run fills what is not filled and then follows, until the context ends, which is no error, or with Once until
// everything is there. It goes on where an earlier one was stopped, however that was. The error wraps ErrForeign or
// ErrFormat, or is one that trying again does not help against.
func (m *Mirror) Run(ctx context.Context) error {
	installation, cells, err := m.source.Installation(ctx)
	if err != nil {
		return ended(ctx, fmt.Errorf("ask the installation for its cells: %w", err))
	}
	if !m.opts.Once {
		return ended(ctx, m.followAll(ctx, installation, cells))
	}
	for {
		if err := m.followAll(ctx, installation, cells); err != nil || ctx.Err() != nil {
			return ended(ctx, err)
		}
		// A cell whose log was trimmed may have had others filled again that were done.
		unfilled := func(s Standing) bool { return !s.Filled }
		if standings, err := StandingOf(ctx, m.source, m.target); err != nil || !slices.ContainsFunc(standings, unfilled) {
			return ended(ctx, err)
		}
	}
}

// followAll follows all cells until the context ends, or with Once until none has more.
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

// ended is why a mirror ended; that it was told to is no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // that somebody ended it is no error
	}
	return err
}

// enter notes a cell.
func (m *Mirror) enter(id cell.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cells[id] == nil {
		m.cells[id] = &Standing{Cell: id}
	}
}

// watch asks for the ends of the logs again and again, and now and then for cells that were added.
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
		case m.opts.Once: // the log had no more after Run began
			return nil
		default:
			m.await(ctx, id, max(end, w.control.At))
		}
	}
	return nil
}

// end is where the log of a cell ended when it was asked last.
func (m *Mirror) end(id cell.ID) changelog.Seq {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cells[id].Tail
}

// step does a piece of work when it is the cell's turn. If there was none then nothing lies before the end of the
// log as it was known: numbers of a log may be left out.
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

// await waits until the log of a cell ends beyond a place, or for so long that it is time for a look.
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

// tell reports an event.
func (m *Mirror) tell(event func()) {
	m.telling.Lock()
	defer m.telling.Unlock()
	event()
}

// rest waits, and answers whether the context goes on.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
