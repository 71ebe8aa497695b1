// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/storage"
)

// Update runs fn in the cell's only write transaction and returns nil once the writes are durable. If fn or a
// statement fails, or ctx is done when fn returns, nothing is written. If the cell no longer lives in this file,
// the error wraps cell.ErrMoved and fn did not run. If the commit fails on a disk error, the error wraps
// cell.ErrCommitUnknown: the cell is closed, and reopening it shows whether the write is there.
func (c *Cell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return c.write(ctx, writing, func(t *tx) error {
		s, err := t.own(ctx)
		if err != nil {
			return err
		}
		if *s == (state{}) {
			return fmt.Errorf("%s: %w", c, errNobody)
		}
		if s.head.Home != cell.Serving {
			return fmt.Errorf("cell %s at %s is %s: %w", c, c.path, s.head.Home, cell.ErrMoved)
		}
		return fn(t)
	})
}

// Exclusive is an Update: updates run one at a time, in order of arrival. It also works in a cell that has moved.
func (c *Cell) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	return c.write(ctx, alone, func(t *tx) error { return fn(t) })
}

// write runs fn in a transaction on the write connection.
func (c *Cell) write(ctx context.Context, m mode, fn func(*tx) error) (err error) {
	ctx, s := c.span(ctx, "cell write")
	if s.On() {
		defer func() { s.End(err) }()
	}
	if err := c.breaker.Err(); err != nil {
		return fmt.Errorf("cell %s: %w", c, err)
	}
	w, err := take(ctx, c, c.writer, nil)
	if err != nil {
		return err
	}
	defer func() { c.writer <- w }()
	t, err := c.lock(ctx, w, m)
	if err != nil {
		return c.failed(err)
	}
	t.span = s
	defer t.end()
	if err := fn(t); err != nil {
		return c.failed(err)
	}
	if err := errors.Join(t.err, ctx.Err()); err != nil {
		return c.failed(err)
	}
	if err := t.count(ctx); err != nil {
		return c.failed(err)
	}
	if err := t.keep(ctx); err != nil {
		return c.failed(err)
	}
	if err := t.exec("COMMIT"); err != nil {
		c.failed(err)
		if isDiskFailure(err) {
			return fmt.Errorf("commit in cell %s: %w: %w", c, cell.ErrCommitUnknown, err)
		}
		return fmt.Errorf("commit in cell %s: %w", c, err)
	}
	t.over = true
	if t.state != nil && t.lasting {
		c.raise(t.state.pulse())
	}
	c.checkpoint(w, c.pages)
	return nil
}

// View runs fn in a transaction that reads one snapshot of the cell. Readers and writers do not block each other.
func (c *Cell) View(ctx context.Context, fn func(storage.Tx) error) (err error) {
	ctx, s := c.span(ctx, "cell read")
	if s.On() {
		defer func() { s.End(err) }()
	}
	r, err := take(ctx, c, c.readers, c.spare)
	if err != nil {
		return err
	}
	defer func() { c.release(r) }()
	if r == nil {
		on, err := dial(c.path, nil)
		if err != nil {
			return err
		}
		if r, err = c.equip(on, false); err != nil {
			return err
		}
	}
	return c.read(r, s, fn)
}

// Read runs fn in a read transaction on the write connection, between updates, with the pages that they left in the
// cache.
func (c *Cell) Read(ctx context.Context, fn func(storage.Tx) error) (err error) {
	ctx, s := c.span(ctx, "cell read")
	if s.On() {
		defer func() { s.End(err) }()
	}
	w, err := take(ctx, c, c.writer, nil)
	if err != nil {
		return err
	}
	defer func() { c.writer <- w }()
	return c.failed(c.read(w, s, fn))
}

// system is the name of the database in spans.
const system = "sqlite"

// span starts the span of a transaction.
func (c *Cell) span(ctx context.Context, name string) (context.Context, span.Span) {
	ctx, s := span.Start(ctx, name)
	if s.On() {
		s.Text("db.system.name", system)
		s.Text("locus.cell", c.String())
	}
	return ctx, s
}

func (c *Cell) read(on *conn, s span.Span, fn func(storage.Tx) error) error {
	t, err := c.begin(on, reading)
	if err != nil {
		return err
	}
	t.span = s
	defer t.end()
	return fn(t)
}

// release puts back what take got from readers or spare.
func (c *Cell) release(r *conn) {
	if r == nil {
		c.spare <- nil
	} else {
		c.readers <- r
	}
}

// take waits for a connection. It prefers an idle one to a spare: opening one reads the schema, a millisecond.
func take(ctx context.Context, c *Cell, idle, spare chan *conn) (got *conn, err error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	from := idle
	select {
	case got = <-idle:
	default:
		select {
		case got = <-idle:
		case got = <-spare:
			from = spare
		case <-c.closed:
			return nil, c.err()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := c.err(); err != nil {
		from <- got
		return nil, err
	}
	return got, nil
}

// err returns why the cell takes no more work, or nil.
func (c *Cell) err() error {
	if reason := c.failure.Load(); reason != nil {
		return *reason
	}
	if c.closing.Load() {
		return fmt.Errorf("cell %s: %w", c, ErrClosed)
	}
	return nil
}

// failed closes the cell if err is a disk failure. It returns err.
func (c *Cell) failed(err error) error {
	if isDiskFailure(err) {
		reason := fmt.Errorf("cell %s: %w: %w", c, ErrFailed, err)
		c.failure.CompareAndSwap(nil, &reason)
	}
	return err
}
