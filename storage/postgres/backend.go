// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/internal/breaker"
	"github.com/locus-db/locus/storage/internal/posting"
)

// Options configures a driver. Timeouts apply to every transaction; a context may end it earlier.
type Options struct {
	// Connections is the maximum number of connections of this process to one server, over all its databases.
	// Defaults to 64. All processes together must leave 10 of the server's max_connections to others.
	Connections int
	// ConnectTimeout defaults to 3 s.
	ConnectTimeout time.Duration
	// StatementTimeout is the limit for one statement. Defaults to 5 s.
	StatementTimeout time.Duration
	// LockTimeout is how long a transaction waits for a row lock before it is retried, up to ten times. Defaults to 1.5
	// s, slightly longer than PostgreSQL takes to detect a deadlock.
	LockTimeout time.Duration
	// IdleTimeout is how long a transaction may go without a statement. Defaults to 5 s. A process stopped in the
	// middle of a transaction blocks others that long, which is less than they wait.
	IdleTimeout time.Duration
	// ProbeAfter is how long statements may go unanswered before the server is probed on another connection, and how
	// long the first probe may take. A server that fails it is not asked again for a while. Defaults to 1 s.
	ProbeAfter time.Duration
	// Lifetime is the maximum age of a connection. Up to a fifth of it is subtracted at random. Defaults to 1 h.
	Lifetime time.Duration
	// Unsafe accepts servers that may lose acknowledged writes, and unverified connections to other hosts.
	Unsafe bool
	// Standby accepts hot standbys; for a process that only reads.
	Standby bool
	// Restored accepts the database of the authority although it was restored from a backup or promoted; for locus
	// cell restored.
	Restored bool
	// Now is the clock for lifetimes. Defaults to time.Now.
	Now func() time.Time
	// Rand returns a number in [0, 1), used to spread events in time. Defaults to math/rand.
	Rand func() float64
}

func (o *Options) withDefaults() *Options {
	var d Options
	if o != nil {
		d = *o
	}
	set := func(v *time.Duration, to time.Duration) {
		if *v == 0 {
			*v = to
		}
	}
	if d.Connections == 0 {
		d.Connections = 64
	}
	set(&d.ConnectTimeout, 3*time.Second)
	set(&d.StatementTimeout, 5*time.Second)
	set(&d.LockTimeout, 1500*time.Millisecond)
	set(&d.IdleTimeout, 5*time.Second)
	set(&d.ProbeAfter, time.Second)
	set(&d.Lifetime, time.Hour)
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Rand == nil {
		d.Rand = rand.Float64
	}
	return &d
}

// Driver opens databases of PostgreSQL servers and shares the connections to each server among them. A process has
// one Driver.
type Driver struct {
	opts  *Options
	cells atomic.Pointer[storage.Cells] // the installation of the cells, see Follow

	mu    sync.Mutex
	pools map[string]*pool
}

// NewDriver returns a driver without connections.
func NewDriver(opts *Options) *Driver {
	return &Driver{opts: opts.withDefaults(), pools: map[string]*pool{}}
}

// Check implements cell.Driver.
func (d *Driver) Check(url string) error {
	_, err := parseURL(url, d.opts.Unsafe, d.opts.Standby)
	return err
}

// Dial opens the database at a URL and migrates an old schema. With create, it creates the database if needed, with
// the schema of a cell; several processes may do so at once. Without create, the error is ErrMissing if there is no
// database, or no cell in it.
func (d *Driver) Dial(ctx context.Context, url string, create bool) (cell.Opened[storage.Tx], error) {
	t, err := parseURL(url, d.opts.Unsafe, d.opts.Standby)
	if err != nil {
		return nil, err
	}
	p := d.pool(t)
	if err := p.hanging(); err != nil {
		return nil, err
	}
	if err := t.prepare(ctx, d.opts, create); err != nil {
		p.hung(err, d.opts.ConnectTimeout)
		if why := refusedParameter(err); create && why != "" {
			return nil, fmt.Errorf("%w: the server refuses a parameter of %s: %s", cell.ErrURL, t.shown, why)
		}
		return nil, err
	}
	c := &Cell{
		driver: d, target: t, opts: d.opts, pool: p, closed: make(chan struct{}),
	}
	c.readable = breaker.New(breaker.Options{Probe: c.probe(readers), Rand: d.opts.Rand})
	c.writable = breaker.New(breaker.Options{Probe: c.probe(writers), Rand: d.opts.Rand})
	on, err := c.acquire(ctx, false)
	switch {
	case errors.Is(err, storage.ErrStrange): // transactions will report it, and Adopt may resolve it
	case err != nil:
		return nil, errors.Join(err, c.Close())
	default:
		c.release(on, false)
	}
	return c, nil
}

// pool returns the pool of the database's server.
func (d *Driver) pool(t *target) *pool {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.pools[t.server]
	if !ok {
		p = &pool{budget: d.opts.Connections, stats: Pool{Server: t.server}}
		d.pools[t.server] = p
	}
	return p
}

// Pools returns the use of connections, by server.
func (d *Driver) Pools() []Pool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Pool
	for _, p := range d.pools {
		all = append(all, p.read())
	}
	slices.SortFunc(all, func(a, b Pool) int { return strings.Compare(a.Server, b.Server) })
	return all
}

// Cell is one database. It is safe for concurrent use.
type Cell struct {
	driver  *Driver
	target  *target
	opts    *Options
	pool    *pool
	buckets bucketsThere
	// Reads and writes have a breaker each, because a lock may block only one of them.
	readable, writable *breaker.Breaker
	wrote              atomic.Int64 // when a write transaction last succeeded, in nanoseconds since 1970
	admits             atomic.Bool  // the last write transaction was admitted by the head

	pulse    atomic.Pointer[cell.Pulse] // as last read
	unbeaten atomic.Bool                // something that lasts was written since

	postings posting.Cache

	mu     sync.Mutex
	id     cell.Identity
	users  int
	closed chan struct{} // closed by Close
	idle   chan struct{} // closed when Close was called and the last user has left
	dying  dying
}

// String returns the name of the cell, or its redacted URL until the cell is identified.
func (c *Cell) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id.Map == "" {
		return c.target.shown
	}
	return c.id.Cell.String()
}

// enter begins a use of the cell, unless the cell is closed.
func (c *Cell) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
		return ErrClosed
	default:
		c.users++
		return nil
	}
}

func (c *Cell) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 && c.idle != nil {
		close(c.idle)
	}
}

// Close waits for the transactions in flight and closes the connections. It is idempotent.
func (c *Cell) Close() error {
	c.mu.Lock()
	select {
	case <-c.closed:
		c.mu.Unlock()
		return nil
	default:
	}
	close(c.closed)
	c.idle = make(chan struct{})
	if c.users == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	c.readable.Close()
	c.writable.Close()
	<-c.idle
	c.pool.drop(c)
	c.dying.wait()
	return nil
}

// Stats returns how full the cell is.
func (c *Cell) Stats(ctx context.Context) (cell.Stats, error) {
	var stats cell.Stats
	err := c.run(ctx, reading, func(t *tx) (err error) {
		stats, err = t.stats(ctx)
		return err
	})
	if err != nil {
		return cell.Stats{}, fmt.Errorf("stats of cell %s: %w", c, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stats.Cell, stats.URL = c.id.Cell, c.target.shown
	stats.PUIDRoom = uint64(c.id.Hi) - uint64(c.id.Lo)
	return stats, nil
}

var (
	_ cell.Opened[storage.Tx] = (*Cell)(nil)
	_ storage.Driver          = (*Driver)(nil)
)
