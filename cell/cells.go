// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/internal/problem"
)

// ErrMissing means that there is no database where one must be: no installation, or one of its cells was lost. Drivers
// wrap it when they dial without creating.
var ErrMissing = problem.Class(problem.ErrUnavailable, "cell: no database there")

// abreast is how many cells are processed concurrently.
const abreast = 8

// Cells is an open installation: the newest cell map of the process, and the databases of its cells, each opened on
// first use. It is safe for concurrent use.
type Cells[T Store] struct {
	opts CellsOptions[T]
	m    atomic.Pointer[Map]
	// knownEpoch is the highest epoch reported by a cell.
	knownEpoch atomic.Uint64

	mu    sync.Mutex
	homes map[ID]*home[T]
	// moving holds the target URLs of the cells that this process is moving.
	moving map[ID]string
	// work counts background goroutines, until closing.
	work            sync.WaitGroup
	closing, closed bool

	refresh refreshOnce
	// making is held by a Grow of this process until its generation is announced.
	making  chan struct{}
	filters filterCache
	watch   watch
}

// OpenCells opens an installation, or creates it if New is set. Creation is ordered so that the next call finishes what
// a crash left undone: the authority gets the map, all other cells are created, and then the authority's head records
// the map's epoch, which completes the installation. If two processes create the same installation, both use the map of
// one of them.
func OpenCells[T Store](ctx context.Context, opts CellsOptions[T]) (*Cells[T], error) {
	if opts.Notice == 0 {
		opts.Notice = time.Minute
	}
	if opts.MovePatience == 0 {
		opts.MovePatience = 15 * time.Second
	}
	if opts.FilterMemory == 0 {
		opts.FilterMemory = 256 << 20
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if now := opts.Now(); now.Before(time.Unix(0, 0)) {
		return nil, fmt.Errorf("%w: it says %s, and an id holds the time since 1970 at which it was minted: set the clock of the machine", ErrClock, now.UTC().Format(time.RFC3339))
	}
	c := &Cells[T]{opts: opts, homes: map[ID]*home[T]{}, moving: map[ID]string{}, refresh: newRefreshOnce(), making: make(chan struct{}, 1), watch: newWatch()}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// horizon returns the Until, a whole second, for a map written now.
func (c *Cells[T]) horizon() time.Time {
	return wholeSecond(c.opts.Now().Add(c.opts.Notice))
}

// wholeSecond rounds t up to a whole second, in UTC.
func wholeSecond(t time.Time) time.Time {
	if s := t.Truncate(time.Second); s.Before(t) {
		return s.Add(time.Second).UTC()
	}
	return t.UTC()
}

// Alone reports whether no other process has these cells open.
func (c *Cells[T]) Alone() bool { return c.opts.Alone }

// Map returns the newest cell map that this process has read.
func (c *Cells[T]) Map() *Map { return c.m.Load() }

// Cell returns a handle to a cell that follows the cell when it moves; the database is opened on first use. The error
// is ErrNoCell.
func (c *Cells[T]) Cell(id ID) (Database[T], error) {
	h, err := c.home(id)
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (c *Cells[T]) home(id ID) (*home[T], error) {
	if !c.Map().Has(id) {
		return nil, fmt.Errorf("cell %v: %w", id, ErrNoCell)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed(id)
	}
	h, ok := c.homes[id]
	if !ok {
		h = &home[T]{cells: c, id: id}
		c.homes[id] = h
	}
	return h, nil
}

// url returns where a cell is. The authority is at the URL given by the caller until it moves.
func (c *Cells[T]) url(m *Map, id ID) string {
	if _, moved := m.spec.Moved[id]; !moved && id == m.spec.Authority {
		return c.opts.Authority
	}
	return m.URL(id)
}

// Dial opens the database at a URL without checking which cell it is; the caller closes it.
func (c *Cells[T]) Dial(ctx context.Context, url string, create bool) (Opened[T], error) {
	driver, err := c.driver(url)
	if err != nil {
		return nil, err
	}
	return driver.Dial(ctx, url, create)
}

// Ensure creates the databases of cells that do not exist yet; existing ones are unchanged. It is idempotent.
func (c *Cells[T]) Ensure(ctx context.Context, ids []ID) error {
	return c.ensure(ctx, c.Map(), ids, func() {})
}

// ensure creates the databases of cells of a map that is not in use yet.
func (c *Cells[T]) ensure(ctx context.Context, m *Map, ids []ID, made func()) error {
	return each(ctx, ids, func(ctx context.Context, id ID) error {
		if err := c.create(ctx, m, id); err != nil {
			return err
		}
		made()
		return nil
	})
}

func (c *Cells[T]) create(ctx context.Context, m *Map, id ID) error {
	if c.Map().Has(id) {
		h, err := c.home(id)
		if err != nil {
			return err
		}
		return h.create(ctx, m)
	}
	conn, err := c.dial(ctx, m, id, true)
	if err != nil {
		return err
	}
	return conn.Close()
}

// OpenAll opens all cells of the map now and returns an error if one cannot be opened.
func (c *Cells[T]) OpenAll(ctx context.Context) error {
	return each(ctx, c.Map().Cells(), func(ctx context.Context, id ID) error {
		h, err := c.home(id)
		if err != nil {
			return err
		}
		return h.use(ctx, func(Opened[T]) error { return nil })
	})
}

// each calls do for cells, up to abreast at a time, and stops at the first error.
func each(ctx context.Context, ids []ID, do func(context.Context, ID) error) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(abreast)
	for _, id := range ids {
		if within.Err() != nil {
			break
		}
		g.Go(func() error { return do(within, id) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// Stats returns the statistics of a cell; ErrNoCell if the map does not list it.
func (c *Cells[T]) Stats(ctx context.Context, id ID) (Stats, error) {
	h, err := c.home(id)
	if err != nil {
		return Stats{}, err
	}
	var stats Stats
	err = h.use(ctx, func(db Opened[T]) (err error) { stats, err = db.Stats(ctx); return err })
	stats.Cell, stats.URL = id, c.Map().URL(id)
	return stats, err
}

// Writable returns why a cell takes no writes at the moment; see Opened.
func (c *Cells[T]) Writable(ctx context.Context, id ID) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	return h.use(ctx, func(db Opened[T]) error { return db.Writable(ctx) })
}

// Vacuum rewrites the database of a cell; see Opened.
func (c *Cells[T]) Vacuum(ctx context.Context, id ID) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	return h.use(ctx, func(db Opened[T]) error { return db.Vacuum(ctx) })
}

// Tidy does part of the maintenance that makes reads of a cell cheaper, unless the cell was written to after the given
// pulse. It returns the cell's pulse as this process knows it, and whether there may be more work.
func (c *Cells[T]) Tidy(ctx context.Context, id ID, since Pulse) (at Pulse, more bool, err error) {
	h, err := c.home(id)
	if err != nil {
		return at, false, err
	}
	err = h.use(ctx, func(db Opened[T]) (err error) {
		if at, more = db.Latest(); more || at != since {
			more = true
			return nil
		}
		more, err = db.Tidy(ctx)
		return err
	})
	return at, more, err
}

// Close waits for background work and for the transactions in flight, and closes all cells. Calling it again does
// nothing.
func (c *Cells[T]) Close() error {
	c.mu.Lock()
	again := c.closing
	c.closing = true
	c.mu.Unlock()
	if !again {
		close(c.watch.stop)
	}
	c.work.Wait()
	c.mu.Lock()
	c.closed = true
	homes := c.homes
	c.homes = map[ID]*home[T]{}
	c.mu.Unlock()
	var g errgroup.Group
	g.SetLimit(abreast)
	for _, h := range homes {
		g.Go(h.close)
	}
	err := g.Wait()
	if c.opts.OnClose != nil && !again {
		err = errors.Join(err, c.opts.OnClose())
	}
	return err
}

// closed is both what the caller of an installation sees and what the workers of its cells expect.
var closed = problem.Class(errors.Join(problem.ErrClosed, ErrUnavailable), "the installation is closed")

func errClosed(id ID) error { return fmt.Errorf("cell %v: %w", id, closed) }

// goes runs fn in the background, and Close waits for it. After Close, fn runs synchronously.
func (c *Cells[T]) goes(fn func()) {
	c.mu.Lock()
	closing := c.closing
	if !closing {
		c.work.Go(fn)
	}
	c.mu.Unlock()
	if closing {
		fn()
	}
}

func (c *Cells[T]) event(e Event) {
	if c.opts.OnEvent != nil {
		c.opts.OnEvent(e)
	}
}
