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
)

// ErrMissing says that there is no database where one must be: no installation, or
// a cell of one that was lost. Drivers wrap it when they dial without making one.
var ErrMissing = errors.New("cell: no database there")

// abreast is how many cells are worked on at the same time.
const abreast = 8

// CellsOptions are options of OpenCells.
type CellsOptions[T Store] struct {
	// Authority is the URL of the cell that keeps the newest cell map.
	Authority string
	// Driver answers with the driver of a URL. Required.
	Driver func(url string) (Driver[T], error)
	// New is the first cell map of an installation that is not there yet. Its Until
	// defaults to Notice from now. nil refuses to make an installation: ErrMissing.
	New *Spec
	// Rules name what the derived rows of the cells are made with; see Identity.
	Rules string
	// Alone promises that no other process has these cells open, nor will while this one
	// does.
	Alone bool
	// Notice is how long before its start a generation is announced: for how long a map
	// speaks. Defaults to one minute.
	Notice time.Duration
	// MovePatience is for how long the process that moves a cell may give no sign of life before another one takes the
	// move over. Defaults to 15 s.
	MovePatience time.Duration
	// FilterMemory is the memory for filters of sealed cells, in bytes. Defaults to 256 MiB.
	FilterMemory int
	// Now is the clock that ids are minted by. Defaults to time.Now.
	Now func() time.Time
	// OnEvent is told what happens besides what was asked for; nil if nobody listens. It
	// is called from many goroutines and must not wait.
	OnEvent func(Event)
	// Ledger keeps the pulses of the cells outside of them; nil if nothing does.
	Ledger Ledger
	// Beat is how often, while cells are written to, their pulses are attested in others.
	// 0 never does.
	Beat time.Duration
	// Others are URLs where cells of the first generation may be found, the i-th at Others[i],
	// while the authority cannot be reached. Empty ones are passed over.
	Others []string
	// Restored takes cells that went back as they are: for Reincarnate.
	Restored bool
	// Readdress, if set, makes a copy an installation of its own. It comes with Restored.
	Readdress *Readdress
	// Check, if set, is asked about the map of the authority before another database is opened.
	Check func(*Map) error
	// OnClose gives back what the drivers hold besides the databases, such as the lock of a
	// directory. Close calls it once, last, also after an OpenCells that failed.
	OnClose func() error
}

// Event is something that an opened installation did by itself.
type Event struct {
	// What is one of the names below.
	What string
	// Cell that it happened to, if to one.
	Cell ID
	// Epoch of the cell map that it is about, if about one.
	Epoch uint64
	// Err says why it did not work, nil if it did.
	Err error
}

// What an Event may be.
const (
	EventMap    = "map"    // a newer cell map is worked with
	EventCopied = "copied" // a cell got a copy of the map, or did not
	EventOpened = "opened" // the database of a cell was opened, or was not
	EventClosed = "closed" // the database that a cell has left was closed
	EventFilter = "filter" // the filter of a sealed cell was read, or could not be
	EventBeat   = "beat"   // the pulse of a cell could not be read, or was not attested
	EventBack   = "back"   // a cell went back and is not used any more
)

// Cells is an opened installation: the newest cell map that the process knows, and
// the databases of its cells, each opened when it is first asked for something. It is
// safe for many goroutines.
type Cells[T Store] struct {
	opts CellsOptions[T]
	m    atomic.Pointer[Map]
	// told is the highest epoch that a cell has told of.
	told atomic.Uint64

	mu    sync.Mutex
	homes map[ID]*home[T]
	// moving says where this process is moving cells to.
	moving map[ID]string
	// work counts what goes on by itself, until closing.
	work            sync.WaitGroup
	closing, closed bool

	refresh turn
	// making is held by the growth of this process that makes its cells and announces them.
	making  chan struct{}
	filters shelf
	watch   watch
}

// OpenCells opens an installation, or makes one if New says how. An installation is
// made in an order in which a crash leaves nothing that the next call does not finish:
// the authority gets the map, all other cells are made, then the authority's head says
// that it was told of the map, and only then it is one. Two processes that begin the
// same installation agree on the map of one of them.
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
	c := &Cells[T]{opts: opts, homes: map[ID]*home[T]{}, moving: map[ID]string{}, refresh: newTurn(), making: make(chan struct{}, 1), watch: newWatch()}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// horizon is until when a map may speak that is written now, on a whole second.
func (c *Cells[T]) horizon() time.Time {
	return wholeSecond(c.opts.Now().Add(c.opts.Notice))
}

// wholeSecond is t, or the next whole second after it.
func wholeSecond(t time.Time) time.Time {
	if s := t.Truncate(time.Second); s.Before(t) {
		return s.Add(time.Second).UTC()
	}
	return t.UTC()
}

// Alone reports whether no other process has these cells open.
func (c *Cells[T]) Alone() bool { return c.opts.Alone }

// Map returns the newest cell map that the process knows.
func (c *Cells[T]) Map() *Map { return c.m.Load() }

// Cell returns a cell, wherever it is and will be; its database is opened when it is
// first asked for something. The error is ErrNoCell.
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

// url is where a cell is. The authority is where the caller found it, until it moves.
func (c *Cells[T]) url(m *Map, id ID) string {
	if _, moved := m.spec.Moved[id]; !moved && id == m.spec.Authority {
		return c.opts.Authority
	}
	return m.URL(id)
}

// Dial opens the database at a URL without asking which cell it is; the caller closes it.
func (c *Cells[T]) Dial(ctx context.Context, url string, create bool) (Opened[T], error) {
	driver, err := c.driver(url)
	if err != nil {
		return nil, err
	}
	return driver.Dial(ctx, url, create)
}

// Ensure makes the databases of cells that are not there yet; those that are stay as
// they are. It may be repeated.
func (c *Cells[T]) Ensure(ctx context.Context, ids []ID) error {
	return c.ensure(ctx, c.Map(), ids, func() {})
}

// ensure makes the databases of cells of a map that nobody works with yet.
func (c *Cells[T]) ensure(ctx context.Context, m *Map, ids []ID, made func()) error {
	return each(ctx, ids, func(ctx context.Context, id ID) error {
		if err := c.create(ctx, m, id); err != nil {
			return err
		}
		made()
		return nil
	})
}

// create makes the database of a cell of a map.
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

// OpenAll opens all cells of the map now, and says which cannot be.
func (c *Cells[T]) OpenAll(ctx context.Context) error {
	return each(ctx, c.Map().Cells(), func(ctx context.Context, id ID) error {
		h, err := c.home(id)
		if err != nil {
			return err
		}
		return h.use(ctx, func(Opened[T]) error { return nil })
	})
}

// each does something with cells, several at a time, and stops at the first error.
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

// Stats tells how full a cell is; ErrNoCell if the map does not list it.
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

// Writable says why a cell takes no writes at the moment, see Opened.
func (c *Cells[T]) Writable(ctx context.Context, id ID) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	return h.use(ctx, func(db Opened[T]) error { return db.Writable(ctx) })
}

// Vacuum writes the database of a cell anew, see Opened.
func (c *Cells[T]) Vacuum(ctx context.Context, id ID) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	return h.use(ctx, func(db Opened[T]) error { return db.Vacuum(ctx) })
}

// Close waits for what goes on by itself and for the transactions in flight, and closes
// all cells. Calling it again does nothing.
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

// errClosed is what a cell of a closed installation answers.
func errClosed(id ID) error {
	return fmt.Errorf("cell %v: %w: the installation was closed", id, ErrUnavailable)
}

// goes runs fn beside the caller, and Close waits for it; after Close the caller does.
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
