// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/storage/breaker"
)

const (
	// silence is how long statements may go without an answer before the server is asked whether it is there.
	silence = time.Second
	// probeLock is how long a probe waits for the lock that every transaction takes.
	probeLock = "400ms"
	// writtenLately is for how long a cell that took a write is believed to take the next one.
	writtenLately = 5 * time.Second
)

// The locks that transactions take of the tables. They wait for each other's rows, and not for these: only one
// that locks a whole table is in their way.
const (
	readers = "ACCESS SHARE"
	writers = "ROW EXCLUSIVE"
)

// tables are those that transactions use, but for the gate, which this package locks itself.
const tables = "locus_key, record, birth, entity, decision, change, posting, edge, redo, metric, counter_hour, counter_day, " +
	"counter_closed, counter_key, rollup_row"

// probe asks the server for the locks of a mode, on a connection of its own: those of the pool may be what hangs.
func (c *Cell) probe(locks string) func(context.Context) error {
	return func(ctx context.Context) error {
		on, err := c.target.dial(ctx, c.opts)
		if isFull(err) {
			return nil // it is there
		}
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = on.Close(ctx)
		}()
		_, err = on.Exec(ctx, "BEGIN; SET LOCAL lock_timeout = '"+probeLock+"'; LOCK TABLE "+tables+" IN "+locks+" MODE; ROLLBACK")
		switch state(err) {
		case "":
		case lockNotAvailable:
			return fmt.Errorf("a table is locked: %w", err)
		case queryCanceled, readOnly:
		default:
			return nil // any other answer is one
		}
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		return nil
	}
}

// breaker is the one of transactions of a mode.
func (c *Cell) breaker(m mode) *breaker.Breaker {
	if m == reading {
		return c.readable
	}
	return c.writable
}

// doubtful reports whether a failure is one of a server that may be gone, hang, or be locked.
func doubtful(failure error) bool {
	_, slow := errors.AsType[*slowError](failure)
	return slow || isLost(failure) || state(failure) == queryCanceled || state(failure) == lockNotAvailable
}

// watch gives up statements that a server which does not answer a probe either does not answer. The caller
// ends the watch.
func (c *Cell) watch(ctx context.Context, m mode, giveUp func()) (end func()) {
	began := time.Now()
	timer := time.AfterFunc(silence, func() {
		if c.breaker(m).Ask(ctx) != nil {
			giveUp()
		}
	})
	return func() {
		if timer.Stop() && ctx.Err() != nil && time.Since(began) >= silence/4 {
			c.breaker(m).Doubt() // the caller had less patience
		}
	}
}

// Writable is what the last write tells, or a transaction that locks what writes lock.
func (c *Cell) Writable(ctx context.Context) error {
	err := c.writable.Err()
	if err == nil {
		err = c.enter()
	}
	if err != nil {
		return fmt.Errorf("cell %s takes no writes: %w", c, err)
	}
	c.leave()
	if time.Since(time.Unix(0, c.wrote.Load())) < writtenLately {
		return nil
	}
	if err := c.run(ctx, writing, func(t *tx) error {
		t.exec("SET LOCAL lock_timeout = '" + probeLock + "'")
		t.exec("LOCK TABLE " + tables + " IN " + writers + " MODE")
		return t.flush(ctx)
	}); err != nil {
		return fmt.Errorf("cell %s takes no writes: %w", c, err)
	}
	return nil
}
