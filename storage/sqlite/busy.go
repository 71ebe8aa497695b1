// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"time"

	lib "modernc.org/sqlite/lib"
)

const (
	// lockPatience is how long a write waits for another program to release the file's write lock. A process has
	// one writer per cell, so it never contends with itself.
	lockPatience = time.Second
	// probePatience is the same limit for a probe of whether writes are possible.
	probePatience = 100 * time.Millisecond
)

// isBusy reports whether another program holds a lock that a statement needs.
func isBusy(err error) bool { return code(err)&0xff == lib.SQLITE_BUSY }

// lock begins a write transaction. It waits for another program at most as long as the caller does, and trips the
// breaker after lockPatience, so that queued writes fail at once.
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

// probe waits for the write connection, which readers may be using, and tries the lock.
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

// Writable tries the write lock. While the write connection is in use it does not try: the transaction on it holds
// the lock or will find that another program does.
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
