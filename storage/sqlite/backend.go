// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync/atomic"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/internal/breaker"
	"github.com/locus-db/locus/storage/internal/posting"
)

// Options configures a cell.
type Options struct {
	// PageSize of a new file in bytes, a power of two. Defaults to 2048; see the figures in the package comment.
	PageSize int
	// CacheSize is the page cache in bytes: one half for the write connection, the other shared by all readers.
	// Defaults to 12 MiB.
	CacheSize int
	// Readers is the maximum number of concurrent read transactions. Defaults to 4.
	Readers int
	// LogSize is the size of the write-ahead log, in bytes, that triggers a checkpoint. Defaults to 32 MiB.
	LogSize int
	// MustExist makes Open fail instead of creating a file.
	MustExist bool
	// Scratch opens a cell that is thrown away in the end: without syncs and without overwriting deleted content.
	Scratch bool
}

func (o *Options) withDefaults() *Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.PageSize == 0 {
		d.PageSize = 2048
	}
	if d.CacheSize == 0 {
		d.CacheSize = 12 << 20
	}
	if d.Readers == 0 {
		d.Readers = 4
	}
	if d.LogSize == 0 {
		d.LogSize = 32 << 20
	}
	return &d
}

// Cell is one SQLite file. It is safe for concurrent use: any number of transactions may read while one writes.
type Cell struct {
	path string
	id   atomic.Pointer[cell.Identity] // nil until the cell is identified
	opts *Options
	// cache is the size of the cell's page cache in bytes. Each connection takes its share when it begins a
	// transaction.
	cache atomic.Int64

	writer  chan *conn // holds the write connection while it is idle
	readers chan *conn // holds the idle read connections
	spare   chan *conn // holds a nil for each read connection that is not open
	closed  chan struct{}
	closing atomic.Bool
	breaker *breaker.Breaker           // open while another program holds the file's write lock
	failure atomic.Pointer[error]      // why the cell closed itself
	pulse   atomic.Pointer[cell.Pulse] // the last one committed or read

	postings posting.Cache
	absent   absent // guarded by possession of the write connection

	pending int // pages in the log; guarded by possession of the write connection
	pages   int // log size that triggers a checkpoint, in pages
}

// Open opens the cell in the file at path, and creates the file and its parent directories if needed. It refuses a
// file that belongs to another cell, was made under other rules, or was written by a newer Locus. The caller must
// make sure that only one process has the file open; OpenDir does.
func Open(ctx context.Context, path string, id cell.Identity, opts *Options) (*Cell, error) {
	c, err := open(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	if err := c.Identify(ctx, id); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open opens a file without checking its identity.
func open(ctx context.Context, path string, opts *Options) (*Cell, error) {
	c := &Cell{path: path, opts: opts.withDefaults(), closed: make(chan struct{})}
	c.cache.Store(int64(c.opts.CacheSize))
	if err := c.touch(); err != nil {
		return nil, err
	}
	w, err := migrated(ctx, path, c.opts)
	if err != nil {
		return nil, err
	}
	if w, err = c.equip(w, true); err != nil {
		return nil, err
	}
	size, err := w.do("SELECT page_size, sqlite_version() FROM pragma_page_size")
	if err == nil {
		err = checkVersion(size.text(1))
	}
	if err == nil {
		err = w.tune()
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	c.pages = c.opts.LogSize / int(size.int(0))
	c.writer = make(chan *conn, 1)
	c.writer <- w
	c.breaker = breaker.New(breaker.Options{Probe: c.probe, Rand: rand.Float64})
	c.readers, c.spare = make(chan *conn, c.opts.Readers), make(chan *conn, c.opts.Readers)
	for range c.opts.Readers {
		c.spare <- nil
	}
	return c, nil
}

// touch creates the file if it does not exist.
func (c *Cell) touch() error {
	if !c.opts.MustExist {
		return makeFile(c.path)
	}
	_, err := os.Stat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s: restore it from a backup", storage.ErrLost, c.path)
	case err != nil:
		return fmt.Errorf("open cell: %w", err)
	}
	return nil
}

// equip makes a new connection the writer of the cell or one of its readers. On an error it closes the connection.
func (c *Cell) equip(on *conn, writer bool) (*conn, error) {
	on.cache, on.parts = int64(c.opts.CacheSize), int64(c.opts.parts(writer))
	err := on.apply(c.opts.settings(writer))
	if err == nil {
		err = on.vocabulary(writer)
	}
	if err != nil {
		return nil, explain(errors.Join(err, on.close()))
	}
	return on, nil
}

// checkpoint copies the log into the file once the log has that many pages. Commits are durable before that, so an
// error affects later calls only: a full disk is retried, a failed sync closes the cell. SQLite's automatic checkpoint
// ignores both.
func (c *Cell) checkpoint(w *conn, pages int) {
	n, err := w.written()
	if err != nil {
		c.failed(err)
		return
	}
	if c.pending += n; c.pending < pages {
		return
	}
	r, err := w.do("PRAGMA wal_checkpoint(PASSIVE)")
	switch {
	case err != nil:
		c.failed(err)
		c.pending -= pages / 4
	case r.int(1) == r.int(2):
		c.pending = 0
	default: // a reader still needs part of the log
		c.pending -= pages / 4
	}
}

// Close waits for the transactions in flight, then copies the log into the file. It is idempotent. A cell that has
// closed itself is abandoned with its files open, because closing the last connection would sync once more.
func (c *Cell) Close() error {
	if !c.closing.CompareAndSwap(false, true) {
		return nil
	}
	close(c.closed)
	c.breaker.Close()
	w := <-c.writer
	var errs []error
	for range c.opts.Readers {
		select {
		case r := <-c.readers:
			if c.failure.Load() == nil {
				errs = append(errs, r.close())
			}
		case <-c.spare:
		}
	}
	if c.failure.Load() != nil {
		return nil
	}
	if _, err := w.do("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		if c.failed(err); c.failure.Load() != nil {
			return errors.Join(append(errs, fmt.Errorf("close cell %s: %w", c, err))...)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(append(errs, w.close())...); err != nil {
		return fmt.Errorf("close cell %s: %w", c, err)
	}
	return nil
}

// Stats returns how full the cell is. It reads two rows and the sizes of two files.
func (c *Cell) Stats(ctx context.Context) (cell.Stats, error) {
	var stats cell.Stats
	if id := c.id.Load(); id != nil {
		stats.Cell, stats.PUIDRoom = id.Cell, uint64(id.Hi-id.Lo)
	}
	err := c.View(ctx, func(rt storage.Tx) error {
		t := rt.(*tx)
		s, err := t.own(ctx)
		if err != nil {
			return err
		}
		stats.Head, stats.PUIDs = s.head, uint64(s.used)
		return t.query(ctx, "SELECT 1 FROM locus_filter", func(row) error { stats.Filter = true; return nil })
	})
	if err != nil {
		return cell.Stats{}, fmt.Errorf("stats of cell %s: %w", c, err)
	}
	if info, err := os.Stat(c.path); err == nil {
		stats.Bytes = info.Size()
	}
	if info, err := os.Stat(c.path + "-wal"); err == nil {
		stats.WAL = info.Size()
		stats.Bytes += stats.WAL
	}
	return stats, nil
}

// String returns the name of the cell, or the path of its file until the cell is identified.
func (c *Cell) String() string {
	if id := c.id.Load(); id != nil {
		return id.Cell.String()
	}
	return c.path
}

// bounds returns the cell's range of puids, empty until the cell is identified.
func (c *Cell) bounds() (lo, hi int64) {
	if id := c.id.Load(); id != nil {
		return id.Lo, id.Hi
	}
	return 0, 0
}

var _ cell.Opened[storage.Tx] = (*Cell)(nil)
