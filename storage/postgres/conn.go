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

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/locality/localitypgx"
	"github.com/locus-db/locus/storage"
)

// conn is a connection to the database of one cell.
type conn struct {
	*pgx.Conn
	cell  *Cell
	until time.Time // end of its lifetime
	used  bool      // a transaction has run on it, so it may have been closed unnoticed since
	// viewing is set while a transaction that only read is still open: its COMMIT is sent with the next one, or by
	// itself after linger. Nothing waits for it.
	viewing bool
	timer   *time.Timer // calls settleIdle; nil before the first use
	idle    time.Time   // when it became idle
}

// parameters returns the settings of a connection. Every statement of this package uses an index. A planner that
// sees an empty table, or no statistics, would choose a sequential scan and keep that plan when the table has
// grown.
func (o *Options) parameters() map[string]string {
	return map[string]string{
		"statement_timeout":                   milliseconds(o.StatementTimeout),
		"lock_timeout":                        milliseconds(o.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(o.IdleTimeout),
		"jit":                                 "off", // it compiles because of the high cost estimate of a one-row table
		"enable_seqscan":                      "off",
		"enable_hashjoin":                     "off",
		"enable_mergejoin":                    "off",
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// with returns the connection config. Connections owned by this process carry their settings. Behind a pooler each
// transaction sets them, and no statement is prepared.
func (t *target) with(o *Options) *pgx.ConnConfig {
	config := t.config.Copy()
	// The password file is read again, so that a changed password takes effect.
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

// ended returns the error of a context that has ended, or nil. The network may notice a deadline before the context does.
func ended(ctx context.Context) error {
	if at, has := ctx.Deadline(); has && ctx.Err() == nil && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// dial opens a connection without checking the server.
func (t *target) dial(ctx context.Context, o *Options) (*pgx.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
	defer cancel()
	c, err := pgx.ConnectConfig(limited, t.with(o))
	switch {
	case err == nil:
		localitypgx.Register(c.TypeMap())
		return c, nil
	case ended(ctx) != nil:
		return nil, ended(ctx)
	case state(err) == missingDatabase:
		return nil, fmt.Errorf("%w: %s", cell.ErrMissing, t.shown)
	case ended(limited) != nil:
		return nil, fmt.Errorf("connect to %s: %w", t.shown, &slowError{err})
	case isRefused(err):
		return nil, fmt.Errorf("connect to %s: %w: %w", t.shown, storage.ErrRefused, err)
	}
	return nil, fmt.Errorf("connect to %s: %w", t.shown, &lostError{err})
}

// connect opens a connection to the cell and checks the server. strange accepts a database that is not the cell's.
func (c *Cell) connect(ctx context.Context, strange bool) (*conn, error) {
	pg, err := c.target.dial(ctx, c.opts)
	if err != nil {
		return nil, err
	}
	c.pool.opened()
	// A fifth of the lifetime is random, so that connections opened together do not end together.
	life := c.opts.Lifetime - time.Duration(c.opts.Rand()*float64(c.opts.Lifetime)/5)
	got := &conn{Conn: pg, cell: c, until: c.opts.Now().Add(life)}
	if err := c.inspect(ctx, got); err != nil && !(strange && errors.Is(err, storage.ErrStrange)) {
		got.close()
		return nil, err
	}
	return got, nil
}

// run sends the batch in one round trip, reads the results, and classifies the error. m is the mode of the
// transaction.
func (c *conn) run(ctx context.Context, m mode, b *pgx.Batch) (err error) {
	if s := span.Of(ctx).Statements(ctx, system, b.Len(), func(i int) string { return b.QueuedQueries[i].SQL }); s.On() {
		defer func() { s.End(err) }()
	}
	limited, cancel := context.WithTimeout(ctx, c.cell.opts.StatementTimeout+patience)
	defer cancel()
	defer c.cell.watch(limited, m, cancel)()
	err = c.SendBatch(limited, b).Close()
	switch {
	case err == nil:
		return nil
	case state(err) == readOnly:
		c.close() // the server is no longer the primary
		return &lostError{err}
	case ended(ctx) != nil:
		return ended(ctx)
	case ended(limited) != nil:
		return &slowError{err}
	case c.IsClosed():
		return &lostError{err}
	}
	return err
}

// patience is added to the statement timeout for the client's own timeout.
const patience = 2 * time.Second

// close closes the connection without waiting for the server.
func (c *conn) close() {
	if c.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// usable reports whether the connection can run another transaction.
func (c *conn) usable(now time.Time) bool {
	return !c.IsClosed() && (c.viewing || c.PgConn().TxStatus() == 'I') && now.Before(c.until)
}

// settle ends the transaction of a connection that is viewing.
func (c *conn) settle(ctx context.Context) error {
	if !c.viewing {
		return nil
	}
	c.viewing = false
	b := new(pgx.Batch)
	b.Queue("COMMIT")
	return c.run(ctx, reading, b)
}

// linger is how long a transaction that only read stays open if no other one uses its connection. It blocks no writes,
// but for that long the server cannot remove old row versions.
const linger = 20 * time.Millisecond

// settleIdle ends the transaction of a connection that was not used within linger.
func (c *Cell) settleIdle(on *conn) {
	if c.enter() != nil {
		return // the connection is closed with the cell
	}
	defer c.leave()
	if !c.pool.remove(on) {
		return
	}
	_ = on.settle(context.Background()) // a connection that is lost is not usable
	c.release(on, false)
}

// acquire returns a connection that the caller owns until it releases it. With adopt, it returns a new connection,
// to any database.
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

// isFull reports whether a server refused a connection because it has too many.
func isFull(err error) bool {
	lost, ok := errors.AsType[*lostError](err)
	return ok && state(lost.reason) == tooManyConnections
}

// release returns a connection to the pool.
func (c *Cell) release(on *conn, strange bool) {
	on.used = true
	if !on.usable(c.opts.Now()) || strange {
		c.dying.add(on)
		on.close()
		on = nil
	}
	if on != nil && on.viewing {
		if on.timer == nil {
			on.timer = time.AfterFunc(linger, func() { c.settleIdle(on) })
		} else {
			on.timer.Reset(linger)
		}
	}
	c.pool.put(on)
}
