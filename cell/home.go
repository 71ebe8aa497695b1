// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// home is a cell as a Database that is opened when it is first asked, and opened anew
// where the map says that it has moved to.
type home[T Store] struct {
	cells *Cells[T]
	id    ID

	mu      sync.Mutex
	conn    *connection[T]
	dialing *dialing
	closed  bool
}

// connection is an opened database, who works with it, and where it is.
type connection[T Store] struct {
	Opened[T]
	url   string
	users sync.WaitGroup
}

// leave closes the database once nobody works with it.
func (conn *connection[T]) leave() error {
	conn.users.Wait()
	return conn.Close()
}

// dialing is an attempt to open a database, which all wait for who need it meanwhile: a
// cell that is down is asked by one of them, not by each in turn.
type dialing struct {
	done chan struct{}
	err  error
	// given up: whoever dialled lost its patience, and the others may have more.
	givenUp bool
}

// use gives fn the opened database.
func (h *home[T]) use(ctx context.Context, fn func(Opened[T]) error) error {
	conn, err := h.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.users.Done()
	err = fn(conn.Opened)
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		damaged.Cell = h.id.String()
	}
	return err
}

// acquire opens the database if need be. The caller is one of its users afterwards.
func (h *home[T]) acquire(ctx context.Context) (*connection[T], error) {
	for {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return nil, errClosed(h.id)
		}
		if conn := h.conn; conn != nil {
			conn.users.Add(1)
			h.mu.Unlock()
			return conn, nil
		}
		d := h.dialing
		if d == nil {
			d = &dialing{done: make(chan struct{})}
			h.dialing = d
			h.mu.Unlock()
			h.dial(ctx, d, h.cells.Map(), false)
		} else {
			h.mu.Unlock()
			select {
			case <-d.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if d.givenUp {
				continue
			}
		}
		if d.err != nil {
			return nil, d.err
		}
	}
}

// create makes the database, if it is not there, while nobody else in this process opens it.
func (h *home[T]) create(ctx context.Context, m *Map) error {
	for {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return errClosed(h.id)
		}
		other := h.dialing
		if other == nil {
			d := &dialing{done: make(chan struct{})}
			h.dialing = d
			h.mu.Unlock()
			h.dial(ctx, d, m, true)
			return d.err
		}
		h.mu.Unlock()
		select {
		case <-other.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dial opens the database where a map says that the cell is, and keeps it if nobody was first. create makes
// one that is not there.
func (h *home[T]) dial(ctx context.Context, d *dialing, m *Map, create bool) {
	c := h.cells
	var conn *connection[T]
	conn, d.err = c.dial(ctx, m, h.id, create)
	d.givenUp = d.err != nil && ctx.Err() != nil
	h.mu.Lock()
	h.dialing = nil
	keep := d.err == nil && !h.closed && h.conn == nil && conn.url == c.url(c.Map(), h.id)
	if keep {
		h.conn = conn
	}
	h.mu.Unlock()
	if conn != nil && !keep {
		d.err = conn.Close()
	}
	c.event(Event{What: EventOpened, Cell: h.id, Err: d.err})
	close(d.done)
}

// dial opens the database of a cell of a map. create makes one that is not there.
func (c *Cells[T]) dial(ctx context.Context, m *Map, id ID, create bool) (*connection[T], error) {
	url := c.url(m, id)
	fail := func(err error) (*connection[T], error) {
		if create {
			err = unfit(err)
		}
		if ctx.Err() == nil && !errors.Is(err, ErrIdentity) && !errors.Is(err, ErrMissing) && !errors.Is(err, ErrUnavailable) && !(create && errors.Is(err, ErrURL)) {
			err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return nil, fmt.Errorf("open cell %v at %s: %w", id, url, err)
	}
	if url == "" {
		return nil, fmt.Errorf("open cell %v: %w: the cell map does not say where it is", id, ErrMap)
	}
	db, err := c.Dial(ctx, url, create)
	if err != nil {
		return fail(err)
	}
	if create {
		if current := c.Map(); current != nil {
			err = putFirst(ctx, db, current)
		}
	}
	if err == nil {
		err = db.Identify(ctx, m.IdentityOf(id, c.opts.Rules))
	}
	if err == nil {
		err = c.examine(ctx, id, url, db)
	}
	if err == nil {
		err = c.arrived(ctx, db, m, id)
	}
	if err == nil {
		err = c.tellFirst(ctx, db, m, id)
	}
	if err != nil {
		return fail(errors.Join(err, db.Close()))
	}
	return &connection[T]{Opened: db, url: url}, nil
}

// keep makes a connection the one of its cell, unless it has one.
func (c *Cells[T]) keep(id ID, conn *connection[T]) bool {
	h, err := c.home(id)
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.conn != nil {
		return false
	}
	h.conn = conn
	return true
}

// move lets go of a database that is not at url; it is closed when its transactions have
// ended.
func (h *home[T]) move(url string) {
	h.mu.Lock()
	conn := h.conn
	if conn == nil || conn.url == url {
		h.mu.Unlock()
		return
	}
	h.conn = nil
	h.mu.Unlock()
	h.cells.goes(func() { h.cells.event(Event{What: EventClosed, Cell: h.id, Err: conn.leave()}) })
}

// refuse lets go of a database that went back. The next use opens what is there then, and
// examines it.
func (h *home[T]) refuse(db Opened[T]) {
	h.mu.Lock()
	conn := h.conn
	if conn == nil || conn.Opened != db {
		h.mu.Unlock()
		return
	}
	h.conn = nil
	h.mu.Unlock()
	h.cells.goes(func() { h.cells.event(Event{What: EventClosed, Cell: h.id, Err: conn.leave()}) })
}

func (h *home[T]) close() error {
	h.mu.Lock()
	conn := h.conn
	h.conn, h.closed = nil, true
	h.mu.Unlock()
	if conn == nil {
		return nil
	}
	return conn.leave()
}

// Update runs fn in the database of the cell.
func (h *home[T]) Update(ctx context.Context, fn func(T) error) error {
	return h.use(ctx, func(db Opened[T]) error { return h.wrote(db, db.Update(ctx, fn)) })
}

// Exclusive runs fn in the database of the cell.
func (h *home[T]) Exclusive(ctx context.Context, fn func(T) error) error {
	return h.use(ctx, func(db Opened[T]) error { return h.wrote(db, db.Exclusive(ctx, fn)) })
}

// wrote has a commit witnessed.
func (h *home[T]) wrote(db Opened[T], err error) error {
	if err == nil || errors.Is(err, ErrUnknownOutcome) {
		h.cells.wrote(h.id, db)
	}
	return err
}

// View runs fn in the database of the cell. The error wraps ErrMoved if the cell has left it: what is there
// has grown old.
func (h *home[T]) View(ctx context.Context, fn func(T) error) error {
	return h.use(ctx, func(db Opened[T]) error { return db.View(ctx, here(ctx, fn)) })
}

// Read runs fn in the database of the cell, as View does.
func (h *home[T]) Read(ctx context.Context, fn func(T) error) error {
	return h.use(ctx, func(db Opened[T]) error { return db.Read(ctx, here(ctx, fn)) })
}

// here reads only where the cell is.
func here[T Store](ctx context.Context, fn func(T) error) func(T) error {
	return func(t T) error {
		head, err := t.Head(ctx)
		switch {
		case err != nil:
			return err
		case head.Home == Moved:
			return ErrMoved
		}
		return fn(t)
	}
}
