// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// home is a cell as a Database. It opens the database on first use, and reopens it at its new URL after the cell moved.
type home[T Store] struct {
	cells *Cells[T]
	id    ID

	mu      sync.Mutex
	conn    *connection[T]
	dialing *dialing
	closed  bool
}

// connection is an open database with its users and its URL.
type connection[T Store] struct {
	Opened[T]
	url   string
	users sync.WaitGroup
}

// leave closes the database once it has no users.
func (conn *connection[T]) leave() error {
	conn.users.Wait()
	return conn.Close()
}

// dialing is an attempt to open a database. Concurrent callers share it, so that an unreachable cell is dialled once
// and not by each of them in turn.
type dialing struct {
	done chan struct{}
	err  error
	// the context of the dialling caller ended; the others retry with their own contexts
	givenUp bool
}

// use calls fn with the open database.
func (h *home[T]) use(ctx context.Context, fn func(Opened[T]) error) error {
	_, err := h.useAt(ctx, fn)
	return err
}

// useAt is use, and returns the URL of the database.
func (h *home[T]) useAt(ctx context.Context, fn func(Opened[T]) error) (url string, err error) {
	conn, err := h.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.users.Done()
	err = fn(conn.Opened)
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		damaged.Cell = h.id.String()
	}
	return conn.url, err
}

// acquire opens the database if necessary. The caller is one of its users afterwards.
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

// create creates the database if it does not exist, while no other goroutine of this process opens it.
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

// dial opens the database where a map places the cell, and keeps the connection unless there is one already. create
// creates a missing database.
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

// dial opens the database of a cell of a map. create creates a missing one.
func (c *Cells[T]) dial(ctx context.Context, m *Map, id ID, create bool) (*connection[T], error) {
	url := c.url(m, id)
	fail := func(err error) (*connection[T], error) {
		if create {
			err = unfit(err)
		}
		if ctx.Err() == nil && !errors.Is(err, ErrIdentity) && !errors.Is(err, ErrMissing) &&
			!errors.Is(err, ErrUnavailable) && !(create && errors.Is(err, ErrURL)) {
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

// keep makes conn the connection of its cell, unless the cell has one.
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

// move drops a connection that is not at url; it is closed when its transactions have ended.
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

// refuse drops the connection to a database that went back. The next use dials again and examines the database.
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

// wrote reports a commit, or a possible one, to the watch.
func (h *home[T]) wrote(db Opened[T], err error) error {
	if err == nil || errors.Is(err, ErrCommitUnknown) {
		h.cells.wrote(h.id, db)
	}
	return err
}

// View runs fn in the database of the cell. The error wraps ErrMoved if the cell has left it, because its rows are out
// of date.
func (h *home[T]) View(ctx context.Context, fn func(T) error) error {
	return h.use(ctx, func(db Opened[T]) error { return db.View(ctx, h.here(ctx, fn)) })
}

// Read runs fn in the database of the cell, as View does.
func (h *home[T]) Read(ctx context.Context, fn func(T) error) error {
	return h.use(ctx, func(db Opened[T]) error { return db.Read(ctx, h.here(ctx, fn)) })
}

// here makes fn fail with ErrMoved if the cell has left the database. It also passes the epoch of the cell's newest map
// to the process.
func (h *home[T]) here(ctx context.Context, fn func(T) error) func(T) error {
	return func(t T) error {
		if err := t.Require(ctx, func(head Head) error {
			h.cells.hear(head.KnownEpoch)
			if head.Home == Moved {
				return ErrMoved
			}
			return nil
		}); err != nil {
			return err
		}
		return fn(t)
	}
}
