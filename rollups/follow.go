// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// Handle defines, reads and verifies rollups, and keeps them up to date: DB.Rollups of package locus. It is safe
// for concurrent use.
type Handle struct {
	engine  *engine.Engine
	changes *changes.Handle
	follow  *following
}

// HoldsFunc returns by cell which changes the logs keep for others.
type HoldsFunc func(context.Context) (map[cell.ID][]rollup.Hold, error)

// Open returns the handle of an installation and starts the followers of its cells. owner is the name of the
// process in their leases; retention is how long changes stay in the logs after every rollup has applied them, and
// longer if they are held.
func Open(e *engine.Engine, c *changes.Handle, owner string, retention time.Duration, holds HoldsFunc) *Handle {
	return &Handle{e, c, follow(e, owner, retention, holds)}
}

// Close stops the followers, which release their leases.
func (h *Handle) Close() { h.follow.stop() }

// Wake wakes the followers of this process because there may be changes.
func (h *Handle) Wake() { h.follow.wakeAll() }

const (
	// catalogEvery is how often the catalogue is read, catalogBusy while a rollup is being built.
	catalogEvery = time.Second
	catalogBusy  = 50 * time.Millisecond
	// trimEvery is how often the logs are trimmed, trimmed the number of changes per transaction.
	trimEvery = time.Minute
	trimmed   = 5000
)

// following maintains the rollups of an installation: a follower for each cell, of which this process follows its
// share, and one goroutine that reads the catalogue, promotes new generations, and trims the logs.
type following struct {
	engine    *engine.Engine
	retention time.Duration
	holds     HoldsFunc
	owner     string
	cancel    context.CancelFunc
	done      sync.WaitGroup
	wake      chan struct{} // the catalogue may have changed

	catalog *catalog
	applied atomic.Int64 // changes since the start

	mu      sync.Mutex
	workers map[cell.ID]*worker
	trimmed time.Time
}

func follow(e *engine.Engine, owner string, retention time.Duration, holds HoldsFunc) *following {
	ctx, cancel := context.WithCancel(context.Background())
	if owner == "" {
		owner = "alone" // stable across restarts, so that after a crash no process waits for the old lease
	}
	f := &following{
		engine: e, retention: retention, holds: holds, owner: owner, cancel: cancel,
		wake: make(chan struct{}, 1), workers: map[cell.ID]*worker{}, trimmed: e.Now(),
	}
	f.catalog = newCatalog(e, f.wakeAll)
	f.done.Go(func() { f.run(ctx) })
	return f
}

// stop stops the followers, which release their leases.
func (f *following) stop() {
	f.cancel()
	f.done.Wait()
}

// wakeAll wakes all followers of this process.
func (f *following) wakeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.workers {
		engine.Wake(w.wake)
	}
}

// run reads the catalogue and acts on it.
func (f *following) run(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		wait := catalogEvery
		err := f.catalog.refresh(ctx)
		if err == nil && !f.engine.Passive {
			f.staff(ctx)
			if f.cutOver(ctx) {
				wait = catalogBusy
			}
			f.trim(ctx)
		}
		if err != nil && !failed && ctx.Err() == nil {
			f.engine.Logger.Warn("rollup catalogue unreadable", "err", err)
		}
		failed = err != nil
		engine.Sleep(ctx, wait, f.wake)
	}
}

// staff starts a follower for each cell, once there has ever been a rollup.
func (f *following) staff(ctx context.Context) {
	if catalog, _ := f.catalog.known(); len(catalog) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range f.engine.Map().Cells() {
		if f.workers[id] == nil {
			w := newWorker(&worker{
				engine: f.engine, id: id, owner: f.owner, catalog: f.catalog, applied: &f.applied,
				shares: f.shares, built: func() { engine.Wake(f.wake) },
			})
			f.workers[id] = w
			f.done.Go(func() { w.run(ctx) })
		}
	}
}

// cutOver makes generations serve that are built in all cells, and reports whether others are not ready yet.
func (f *following) cutOver(ctx context.Context) (waiting bool) {
	catalog, _ := f.catalog.known()
	served := false
	for _, r := range catalog {
		if r.Next == nil {
			continue
		}
		done, err := f.cutOverOne(ctx, r)
		if err != nil && ctx.Err() == nil && !errors.Is(err, cell.ErrUnavailable) {
			f.engine.Logger.Warn("rollup cut-over failed, retrying", "rollup", r.Name, "generation", r.Next.Generation,
				"err", err)
		}
		served = served || done
		waiting = waiting || !done
	}
	if served {
		if err := f.catalog.refresh(ctx); err == nil {
			f.wakeAll()
		}
	}
	return waiting
}

// cutOverOne freezes the serving generation of every cell once the next one has caught up there, and then makes
// the next one serve.
func (f *following) cutOverOne(ctx context.Context, r rollup.Rollup) (bool, error) {
	from := int64(0)
	update := func(db rollup.Database) func(context.Context, func(rollup.Tx) error) error { return db.Update }
	if r.Serving != nil {
		from = r.Serving.Generation
		if r.Serving.Definition.Store != rollup.InCell {
			update = func(db rollup.Database) func(context.Context, func(rollup.Tx) error) error { return db.Exclusive }
		}
	}
	m := f.engine.Map()
	for _, id := range m.Cells() { // check all cells first: the freeze is short if all are ready
		ready := false
		if err := database(f.engine, id).View(ctx, func(tx rollup.Tx) error {
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
	for _, id := range m.Cells() {
		frozenFor := false
		if err := update(database(f.engine, id))(ctx, func(tx rollup.Tx) (err error) {
			frozenFor, err = rollup.Freeze(ctx, tx, from, r.Next.Generation)
			return err
		}); err != nil || !frozenFor {
			return false, err
		}
	}
	done := false
	err := f.engine.Update(ctx, m.Authority(), func(tx storage.Tx) error {
		done = false
		head, err := tx.Head(ctx)
		if err != nil || head.KnownEpoch > m.Epoch() {
			return err // cells may have been added, in which readers may be ahead of the next generation
		}
		done, err = rollup.CutOver(ctx, tx, r.Name, r.Next.Generation)
		return err
	})
	if done && err == nil {
		f.engine.Logger.Info("rollup serves", "rollup", r.Name, "generation", r.Next.Generation)
	}
	return done, err
}

// trim deletes changes older than the retention, unless they are held.
func (f *following) trim(ctx context.Context) {
	now := f.engine.Now()
	if now.Sub(f.trimmed) < trimEvery {
		return
	}
	f.trimmed = now
	holds, err := f.holds(ctx)
	if err != nil {
		f.engine.Logger.Debug("log trimming skipped", "err", err)
		return
	}
	before := now.Add(-f.retention)
	for _, id := range f.engine.Map().Cells() {
		for n := trimmed; n == trimmed; {
			if err := database(f.engine, id).Update(ctx, func(tx rollup.Tx) (err error) {
				n, err = rollup.Trim(ctx, tx, before, holds[id], trimmed)
				return err
			}); err != nil {
				f.engine.Logger.Debug("log trimming failed", "cell", id, "err", err)
				break
			}
		}
	}
}

// shares counts the cells that this process follows, all cells, and the processes known to share them.
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
