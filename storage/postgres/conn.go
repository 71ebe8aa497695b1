// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/locality/localitypgx"
)

// conn is one connection to the database of one cell.
type conn struct {
	*pgx.Conn
	cell  *Cell
	until time.Time // when it has lived long enough
	used  bool      // it has run a transaction, and may have ended since without our knowing
	idle  time.Time // since when nobody uses it
}

// parameters are the settings of a connection. Every statement of this package finds its rows by an
// index; a planner that sees a table before it has rows, or statistics, would read the whole table, and
// keep the plan when it has grown.
func (o *Options) parameters() map[string]string {
	return map[string]string{
		"statement_timeout":                   milliseconds(o.StatementTimeout),
		"lock_timeout":                        milliseconds(o.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(o.IdleTimeout),
		"jit":                                 "off", // it takes the price of a table of one row for a reason to compile
		"enable_seqscan":                      "off",
		"enable_hashjoin":                     "off",
		"enable_mergejoin":                    "off",
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// with is how connections to the database are opened: connections that this process owns carry their
// settings; behind a pooler a transaction brings them along, and no statement is prepared.
func (t *target) with(o *Options) *pgx.ConnConfig {
	config := t.config.Copy()
	// The password file is read again: a password that was changed there holds from now on.
	if fresh, err := pgx.ParseConfig(t.config.ConnString()); err == nil {
		config.Password = fresh.Password
	}
	config.ConnectTimeout = o.ConnectTimeout
	config.StatementCacheCapacity = 256
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "locus"
	}
	if t.pooler {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		return config
	}
	maps.Copy(config.RuntimeParams, o.parameters())
	return config
}

// dial opens a connection, without asking what answers.
func (t *target) dial(ctx context.Context, o *Options) (*pgx.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
	defer cancel()
	c, err := pgx.ConnectConfig(limited, t.with(o))
	switch {
	case err == nil:
		localitypgx.Register(c.TypeMap())
		return c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case state(err) == missingDatabase:
		return nil, fmt.Errorf("%w: %s", ErrMissing, t.shown)
	case limited.Err() != nil:
		return nil, fmt.Errorf("connect to %s: %w", t.shown, &slowError{err})
	case isRefused(err):
		return nil, fmt.Errorf("connect to %s: %w: %w", t.shown, ErrRefused, err)
	}
	return nil, fmt.Errorf("connect to %s: %w", t.shown, &lostError{err})
}

// connect opens a connection to the cell and looks at what answers; strange is whether a database will
// do that is not the cell's.
func (c *Cell) connect(ctx context.Context, strange bool) (*conn, error) {
	pg, err := c.target.dial(ctx, c.opts)
	if err != nil {
		return nil, err
	}
	c.pool.opened()
	// A fifth of the lifetime is left to chance, so that connections opened together do not end so.
	life := c.opts.Lifetime - time.Duration(c.opts.Rand()*float64(c.opts.Lifetime)/5)
	got := &conn{Conn: pg, cell: c, until: c.opts.Now().Add(life)}
	if err := c.inspect(ctx, got); err != nil && !(strange && errors.Is(err, ErrStrange)) {
		got.close()
		return nil, err
	}
	return got, nil
}

// run sends statements at once, reads their answers, and explains how that ended. m is the mode of their
// transaction.
func (c *conn) run(ctx context.Context, m mode, b *pgx.Batch) error {
	limited, cancel := context.WithTimeout(ctx, c.cell.opts.StatementTimeout+patience)
	defer cancel()
	defer c.cell.watch(limited, m, cancel)()
	err := c.SendBatch(limited, b).Close()
	switch {
	case err == nil:
		return nil
	case state(err) == readOnly:
		c.close() // a server that is not the primary any more
		return &lostError{err}
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return &slowError{err}
	case c.IsClosed():
		return &lostError{err}
	}
	return err
}

// patience is how much longer than the server takes an answer may take.
const patience = 2 * time.Second

// close ends the connection without waiting for the server to notice.
func (c *conn) close() {
	if c.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// usable tells whether the connection can run another transaction.
func (c *conn) usable(now time.Time) bool {
	return !c.IsClosed() && c.PgConn().TxStatus() == 'I' && now.Before(c.until)
}

// acquire answers with a connection that is the caller's until it is released; with a new one, whatever
// database it leads to, to somebody who adopts.
func (c *Cell) acquire(ctx context.Context, adopt bool) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for began := time.Now(); ; {
		got, err := c.pool.take(ctx, c)
		if err != nil {
			return nil, err
		}
		if got != nil && got.usable(c.opts.Now()) && !adopt {
			return got, nil
		}
		if got != nil {
			got.close()
		}
		if got, err = c.connect(ctx, adopt); err == nil {
			return got, nil
		}
		if !isFull(err) {
			c.pool.put(nil)
			return nil, err
		}
		if !c.pool.full() {
			if time.Since(began) > c.opts.ConnectTimeout {
				return nil, fmt.Errorf("%w: all processes together have more connections than it takes; give each less, or raise max_connections", err)
			}
			if err := c.pause(ctx, 10); err != nil {
				return nil, err
			}
		}
	}
}

// isFull tells whether a server took no connection because it has too many.
func isFull(err error) bool {
	lost, ok := errors.AsType[*lostError](err)
	return ok && state(lost.reason) == tooManyConnections
}

// release gives a connection back.
func (c *Cell) release(on *conn, strange bool) {
	on.used = true
	if !on.usable(c.opts.Now()) || strange {
		c.dying.add(on)
		on.close()
		on = nil
	}
	c.pool.put(on)
}
