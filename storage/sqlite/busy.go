// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"time"

	lib "modernc.org/sqlite/lib"
)

const (
	// lockPatience is how long a write waits while another program holds the file's lock of writers. A process
	// has one writer a cell, so the lock is never contended from within.
	lockPatience = time.Second
	// probePatience is the same for the question of whether writes are possible.
	probePatience = 100 * time.Millisecond
)

// isBusy reports whether another program holds a lock that a statement needs.
func isBusy(err error) bool { return code(err)&0xff == lib.SQLITE_BUSY }

// lock begins a transaction that writes. It waits for another program no longer than the caller does,
// and after lockPatience trips the breaker, so that those behind it are refused at once.
func (c *Cell) lock(ctx context.Context, w *conn, m mode) (*tx, error) {
	for began := time.Now(); ; {
		if err := c.breaker.Err(); err != nil {
			return nil, fmt.Errorf("cell %s: %w", c, err)
		}
		t, err := c.begin(w, m)
		if !isBusy(err) {
			return t, err
		}
		switch waited := time.Since(began); {
		case waited >= lockPatience:
			c.breaker.Trip(err)
			return nil, err
		case ctx.Err() != nil:
			if waited >= lockPatience/4 {
				c.breaker.Trip(err)
			}
			return nil, fmt.Errorf("wait for another program that holds the file of cell %s: %w", c, ctx.Err())
		}
	}
}

// probe tries the lock once it has the write connection, which others may be reading with.
func (c *Cell) probe(ctx context.Context) error {
	select {
	case w := <-c.writer:
		defer func() { c.writer <- w }()
		return c.tryLock(ctx, w)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Cell) tryLock(ctx context.Context, w *conn) error {
	for began := time.Now(); ; {
		t, err := c.begin(w, alone)
		if err == nil {
			t.end()
			return nil
		}
		if !isBusy(err) || ctx.Err() != nil || time.Since(began) >= probePatience {
			return err
		}
	}
}

// Writable tries the lock of writers. While the write connection is in use there is nothing to try: its user has
// the lock, or will find that another program does.
func (c *Cell) Writable(ctx context.Context) error {
	err := c.err()
	if err == nil {
		err = c.breaker.Err()
	}
	if err == nil {
		select {
		case w := <-c.writer:
			err = c.tryLock(ctx, w)
			c.writer <- w
		default:
		}
	}
	if err != nil {
		return fmt.Errorf("cell %s takes no writes: %w", c, err)
	}
	return nil
}
