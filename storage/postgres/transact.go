// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/storage"
)

// mode is the access of a transaction.
type mode uint8

const (
	reading mode = iota
	writing
	alone    // writing, including the head of the cell
	adopting // alone, in a database that may not be the cell's
)

// String returns the name of a transaction in a trace.
func (m mode) String() string {
	if m == reading {
		return "cell read"
	}
	return "cell write"
}

// Update runs fn in a transaction. PostgreSQL may require a retry, for example after a deadlock; then fn runs
// again. The error wraps cell.ErrCommitUnknown if the connection ended during the commit.
func (c *Cell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return c.run(ctx, writing, func(t *tx) error { return fn(t) })
}

// Exclusive runs fn in the only transaction that writes in the cell.
func (c *Cell) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	return c.run(ctx, alone, func(t *tx) error { return fn(t) })
}

// View runs fn in a transaction that reads one snapshot.
func (c *Cell) View(ctx context.Context, fn func(storage.Tx) error) error {
	return c.run(ctx, reading, func(t *tx) error { return fn(t) })
}

// Read is a View: the server's cache serves all connections.
func (c *Cell) Read(ctx context.Context, fn func(storage.Tx) error) error { return c.View(ctx, fn) }

// tries is the maximum number of attempts of a transaction that the server asks to retry.
const tries = 10

// system is the name of the database in spans.
const system = "postgresql"

func (c *Cell) run(ctx context.Context, m mode, fn func(*tx) error) (err error) {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	ctx, s := span.Start(ctx, m.String())
	if s.On() {
		s.Text("db.system.name", system)
		s.Text("locus.cell", c.String())
		defer func() { s.End(err) }()
	}
	guess := true
	for try := 1; ; try++ {
		err, failure := c.attempt(ctx, m, func(t *tx) error {
			t.guess = guess
			return fn(t)
		})
		// A lock timeout may be due to a process stopped in the middle of a transaction, which the server ends
		// after a while. An exclusive transaction retries, so that those queued behind it can pass.
		repeat := again(failure)
		if m != reading && state(failure) == lockNotAvailable {
			// Or a table is locked, for an unknown time.
			repeat = m >= alone || c.writable.Ask(ctx) == nil
		}
		if errors.Is(failure, errBucketsMissing) {
			guess = false // otherwise a transaction that hits existing and missing rows would retry for ever
			continue
		}
		if !repeat || try >= tries { // more if buckets were missing
			return err
		}
		if err := c.pause(ctx, try); err != nil {
			return err
		}
	}
}

// pause sleeps for a random time, longer with each try.
func (c *Cell) pause(ctx context.Context, try int) error {
	_ = delay.For(ctx, time.Duration(c.opts.Rand()*float64(try)*float64(4*time.Millisecond)))
	return ctx.Err()
}

// attempt runs fn once, or twice if the first connection turns out to have ended while idle. failure is the error
// of the database, if any.
func (c *Cell) attempt(ctx context.Context, m mode, fn func(*tx) error) (err, failure error) {
	if err := c.breaker(m).Err(); err != nil {
		return fmt.Errorf("cell %s: %w", c, err), nil
	}
	defer func() {
		switch {
		case doubtful(failure):
			c.breaker(m).Doubt()
		case err == nil && m != reading:
			c.wrote.Store(time.Now().UnixNano())
		}
	}()
	err, failure, stale := c.once(ctx, m, fn)
	if stale {
		c.pool.drop(c) // the others have probably ended too
		err, failure, _ = c.once(ctx, m, fn)
	}
	if errors.Is(failure, storage.ErrStrange) && m != adopting {
		if err = c.adopt(ctx, c.newest); err == nil {
			err, failure, _ = c.once(ctx, m, fn)
		}
	}
	return err, failure
}

// once runs fn in a transaction on one connection. stale means that the connection had already ended and nothing
// was done.
func (c *Cell) once(ctx context.Context, m mode, fn func(*tx) error) (err, failure error, stale bool) {
	on, err := c.acquire(ctx, m == adopting)
	if err != nil {
		return fmt.Errorf("cell %s: %w", c, err), err, false
	}
	defer c.release(on, m == adopting)
	t := &tx{cell: c, conn: on, mode: m, queue: new(pgx.Batch)}
	defer t.end()
	if err = t.begin(ctx); err == nil {
		err = fn(t)
	}
	if err == nil {
		err = t.finish(ctx)
	}
	return err, t.err, on.used && !t.begun && isLost(t.err)
}
