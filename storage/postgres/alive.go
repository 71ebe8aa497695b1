// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/storage/internal/breaker"
)

const (
	// probeLock is how long a probe waits for the table locks that every transaction takes.
	probeLock = "400ms"
	// writtenLately is how long after a successful write a cell is assumed to be writable.
	writtenLately = 5 * time.Second
)

// The table locks that transactions take. Transactions wait for each other's rows but not for these locks; only a
// lock on a whole table conflicts with them.
const (
	readers = "ACCESS SHARE"
	writers = "ROW EXCLUSIVE"
)

// tables lists the tables that transactions use, except the gate, which only this package locks.
const tables = "locus_key, record, birth, entity, decision, change, posting_state, posting_chunk, edge, redo, metric, counter_hour, counter_day, " +
	"counter_compacted, counter_key, rollup_row"

// probe takes the table locks of a mode on a new connection, because the pooled ones may hang.
func (c *Cell) probe(locks string) func(context.Context) error {
	return func(ctx context.Context) error {
		on, err := c.target.dial(ctx, c.opts)
		if isFull(err) {
			return nil // the server is up
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
			return nil // any other answer proves that the server responds
		}
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		return nil
	}
}

// breaker returns the breaker for transactions of a mode.
func (c *Cell) breaker(m mode) *breaker.Breaker {
	if m == reading {
		return c.readable
	}
	return c.writable
}

// doubtful reports whether a failure may mean that the server is gone, hangs, or is locked.
func doubtful(failure error) bool {
	_, slow := errors.AsType[*slowError](failure)
	return slow || isLost(failure) || state(failure) == queryCanceled || state(failure) == lockNotAvailable
}

// watch calls giveUp if statements go unanswered for ProbeAfter and the server does not answer a probe either. The
// caller must call end.
func (c *Cell) watch(ctx context.Context, m mode, giveUp func()) (end func()) {
	began := time.Now()
	timer := time.AfterFunc(c.opts.ProbeAfter, func() {
		if c.breaker(m).Ask(ctx) != nil {
			giveUp()
		}
	})
	return func() {
		if timer.Stop() && ctx.Err() != nil && time.Since(began) >= c.opts.ProbeAfter/4 {
			c.breaker(m).Doubt() // the caller's deadline was shorter
		}
	}
}

// Writable returns nil after a recent write. Otherwise it runs a transaction that takes the locks of writers.
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
