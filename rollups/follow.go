// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
)

// Handle defines, reads and verifies rollups, and keeps them up to date: DB.Rollups of package locus. It is safe for
// concurrent use.
type Handle struct {
	engine  *engine.Engine
	changes *changes.Handle
	follow  *following
}

// Open returns the handle of an installation and starts the followers of its cells. Owner names the process in their
// leases; retention is how long changes that every rollup has counted stay in the logs.
func Open(e *engine.Engine, c *changes.Handle, owner string, retention time.Duration) *Handle {
	return &Handle{e, c, follow(e, owner, retention)}
}

// Close stops the followers, which give their leases back.
func (h *Handle) Close() { h.follow.stop() }

// Wake tells the followers of this process that there may be changes.
func (h *Handle) Wake() { h.follow.wakeAll() }

const (
	// followTTL is how long a process that follows a cell may be silent before another one takes over.
	followTTL = 5 * time.Second
	// followPause is for how long at least a follower lets changes gather after it has applied some, since a
	// commit costs a sync, and followLongest for how long at most.
	followPause   = 2 * time.Millisecond
	followLongest = 50 * time.Millisecond
	// followIdle is how seldom it looks for changes that the resolver has not told it of, and followBusy while a
	// generation is being built, or something does not work.
	followIdle = 5 * time.Second
	followBusy = 250 * time.Millisecond
	// followElse is how often it looks whether a cell that another process follows is free.
	followElse = time.Second
	// catalogEvery is how often the catalogue is read, and catalogBusy while a rollup is being built.
	catalogEvery = time.Second
	catalogBusy  = 50 * time.Millisecond
	// trimEvery is how often the logs are trimmed, trimmed how many changes in one transaction.
	trimEvery = time.Minute
	trimmed   = 5000
)

// following keeps the rollups of an installation: a follower for each cell, of which this process follows its
// share, and one goroutine that reads the catalogue, lets new generations take their place, and trims the
// logs.
type following struct {
	engine    *engine.Engine
	retention time.Duration
	owner     string
	cancel    context.CancelFunc
	done      sync.WaitGroup
	wake      chan struct{} // the catalogue may have changed

	catalog atomic.Pointer[rollup.Catalog]
	reading chan struct{} // a semaphore of one, so that a slow reading of the catalogue cannot overwrite a newer one
	applied atomic.Int64  // changes, since the start

	mu      sync.Mutex
	workers map[cell.ID]*worker
	trimmed time.Time
}

func follow(e *engine.Engine, owner string, retention time.Duration) *following {
	ctx, cancel := context.WithCancel(context.Background())
	if owner == "" {
		owner = "alone" // the same after a crash, so that no process waits for the lease of one that is gone
	}
	f := &following{
		engine: e, retention: retention, owner: owner, cancel: cancel,
		wake: make(chan struct{}, 1), reading: make(chan struct{}, 1), workers: map[cell.ID]*worker{}, trimmed: e.Now(),
	}
	f.done.Go(func() { f.run(ctx) })
	return f
}

// stop ends the followers, which give their leases back.
func (f *following) stop() {
	f.cancel()
	f.done.Wait()
}

// wakeAll tells all followers of this process that there may be changes.
func (f *following) wakeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.workers {
		engine.Wake(w.wake)
	}
}

// run reads the catalogue and does what it asks for.
func (f *following) run(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		wait := catalogEvery
		err := f.refresh(ctx)
		if err == nil && !f.engine.Passive() {
			f.staff(ctx)
			if f.promote(ctx) {
				wait = catalogBusy
			}
			f.trim(ctx)
		}
		if err != nil && !failed && ctx.Err() == nil {
			f.engine.Logger.Warn("the catalogue of rollups cannot be read", "err", err)
		}
		failed = err != nil
		engine.Sleep(ctx, wait, f.wake)
	}
}

// refresh reads the catalogue.
func (f *following) refresh(ctx context.Context) error {
	select {
	case f.reading <- struct{}{}:
		defer func() { <-f.reading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	catalog, err := f.readCatalog(ctx)
	if err == nil && !f.engine.Alone() {
		err = f.engine.Resolver.Reload(ctx) // a rollup may be of a kind that another process has created
	}
	if err == nil {
		if before := f.catalog.Swap(&catalog); before != nil && !reflect.DeepEqual(*before, catalog) {
			f.wakeAll()
		}
	}
	return err
}

func (f *following) readCatalog(ctx context.Context) (catalog rollup.Catalog, err error) {
	err = f.engine.View(ctx, f.engine.Map().Authority(), func(tx resolve.Tx) error {
		catalog, err = tx.Rollups(ctx)
		return err
	})
	return catalog, err
}

// known returns the catalogue as it was read last; ok reports whether it ever was.
func (f *following) known() (catalog rollup.Catalog, ok bool) {
	if c := f.catalog.Load(); c != nil {
		return *c, true
	}
	return nil, false
}

// staff has a follower for each cell, as soon as there ever was a rollup.
func (f *following) staff(ctx context.Context) {
	if catalog, _ := f.known(); len(catalog) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range f.engine.Map().Cells() {
		if f.workers[id] == nil {
			w := newWorker(f, id)
			f.workers[id] = w
			f.done.Go(func() { w.run(ctx) })
		}
	}
}

// promote has generations that are built in all cells take their place, and answers whether there are others
// that are not yet.
func (f *following) promote(ctx context.Context) (waiting bool) {
	catalog, _ := f.known()
	promoted := false
	for _, r := range catalog {
		if r.Next == nil {
			continue
		}
		done, err := f.promoteOne(ctx, r)
		if err != nil && ctx.Err() == nil && !errors.Is(err, cell.ErrUnavailable) {
			f.engine.Logger.Warn("a rollup cannot take its place", "rollup", r.Name, "generation", r.Next.Generation, "err", err)
		}
		promoted = promoted || done
		waiting = waiting || !done
	}
	if promoted {
		if err := f.refresh(ctx); err == nil {
			f.wakeAll()
		}
	}
	return waiting
}

// promoteOne lets the serving generation of every cell stand still once the next one has caught up there, and
// then has the next one serve.
func (f *following) promoteOne(ctx context.Context, r rollup.Rollup) (bool, error) {
	from := int64(0)
	yield := func(db rollup.Database) func(context.Context, func(rollup.Tx) error) error { return db.Update }
	if r.Serving != nil {
		from = r.Serving.Generation
		if r.Serving.Definition.Store != rollup.InCell {
			yield = func(db rollup.Database) func(context.Context, func(rollup.Tx) error) error { return db.Exclusive }
		}
	}
	ids := f.engine.Map().Cells()
	for _, id := range ids { // a look at each first: standing still is short if all are ready
		ready := false
		if err := f.engine.RollupCell(id).View(ctx, func(tx rollup.Tx) error {
			s, err := rollup.StandingOf(ctx, tx, r.Next.Generation)
			ready = err == nil && s.State == rollup.Following
			if errors.Is(err, rollup.ErrGone) {
				err = nil
			}
			return err
		}); err != nil || !ready {
			return false, err
		}
	}
	for _, id := range ids {
		yields := false
		if err := yield(f.engine.RollupCell(id))(ctx, func(tx rollup.Tx) (err error) {
			yields, err = rollup.Yield(ctx, tx, from, r.Next.Generation)
			return err
		}); err != nil || !yields {
			return false, err
		}
	}
	if len(f.engine.Map().Cells()) != len(ids) {
		return false, nil // cells were added meanwhile
	}
	done := false
	err := f.engine.RollupCell(f.engine.Map().Authority()).Update(ctx, func(tx rollup.Tx) (err error) {
		done, err = rollup.Promote(ctx, tx, r.Name, r.Next.Generation)
		return err
	})
	if done && err == nil {
		f.engine.Logger.Info("rollup serves", "rollup", r.Name, "generation", r.Next.Generation)
	}
	return done, err
}

// trim deletes changes that are older than the log is to be kept for.
func (f *following) trim(ctx context.Context) {
	now := f.engine.Now()
	if now.Sub(f.trimmed) < trimEvery {
		return
	}
	f.trimmed = now
	before := now.Add(-f.retention)
	for _, id := range f.engine.Map().Cells() {
		for n := trimmed; n == trimmed; {
			if err := f.engine.RollupCell(id).Update(ctx, func(tx rollup.Tx) (err error) {
				n, err = rollup.Trim(ctx, tx, before, trimmed)
				return err
			}); err != nil {
				f.engine.Logger.Debug("the log cannot be trimmed", "cell", id, "err", err)
				break
			}
		}
	}
}

// shares counts the cells that this process follows, and the processes that share them as far as it knows.
func (f *following) shares() (held, cells, processes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owners := map[string]bool{f.owner: true}
	for _, w := range f.workers {
		if w.held.Load() {
			held++
		} else if other := w.other.Load(); other != nil && *other != "" {
			owners[*other] = true
		}
	}
	return held, len(f.workers), len(owners)
}
