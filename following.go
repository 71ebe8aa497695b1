// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
)

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
	*Service
	owner  string
	cancel context.CancelFunc
	done   sync.WaitGroup
	wake   chan struct{} // the catalogue may have changed

	catalog atomic.Pointer[rollup.Catalog]
	reading chan struct{} // has room for who reads the catalogue, so that no older one takes a newer one's place
	applied atomic.Int64  // changes, since the start

	mu      sync.Mutex
	workers map[cell.ID]*worker
	trimmed time.Time
}

func follow(s *Service, owner string) *following {
	ctx, cancel := context.WithCancel(context.Background())
	if owner == "" {
		owner = "alone" // the same after a crash, so that nobody waits for the lease of a process that is gone
	}
	f := &following{Service: s, owner: owner, cancel: cancel, wake: make(chan struct{}, 1), reading: make(chan struct{}, 1), workers: map[cell.ID]*worker{}, trimmed: s.opts.Now()}
	f.done.Go(func() { f.run(ctx) })
	return f
}

// stop ends the followers, which give their leases back.
func (f *following) stop() {
	f.cancel()
	f.done.Wait()
}

// poke tells all followers of this process that there may be changes.
func (f *following) poke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.workers {
		poke(w.wake)
	}
}

// poke wakes who waits for a channel of one place.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run reads the catalogue and does what it asks for.
func (f *following) run(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		wait := catalogEvery
		err := f.refresh(ctx)
		if err == nil && !f.passive() {
			f.staff(ctx)
			if f.promote(ctx) {
				wait = catalogBusy
			}
			f.trim(ctx)
		}
		if err != nil && !failed && ctx.Err() == nil {
			f.opts.Logger.Warn("the catalogue of rollups cannot be read", "err", err)
		}
		failed = err != nil
		rest(ctx, wait, f.wake)
	}
}

// rest waits for a while, or until there is something to do.
func rest(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
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
	if err == nil && !f.cells.Alone() {
		err = f.resolver.Reload(ctx) // a rollup may be of a kind that another process has created
	}
	if err == nil {
		if before := f.catalog.Swap(&catalog); before != nil && !reflect.DeepEqual(*before, catalog) {
			f.poke()
		}
	}
	return err
}

func (f *following) readCatalog(ctx context.Context) (catalog rollup.Catalog, err error) {
	err = f.view(ctx, f.Map().Authority(), func(tx resolve.Tx) error {
		catalog, err = tx.Rollups(ctx)
		return err
	})
	return catalog, err
}

// known is the catalogue as it was read last; ok tells whether it ever was.
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
	for _, id := range f.Map().Cells() {
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
			f.opts.Logger.Warn("a rollup cannot take its place", "rollup", r.Name, "generation", r.Next.Generation, "err", err)
		}
		promoted = promoted || done
		waiting = waiting || !done
	}
	if promoted {
		if err := f.refresh(ctx); err == nil {
			f.poke()
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
	ids := f.Map().Cells()
	for _, id := range ids { // a look at each first: standing still is short if all are ready
		ready := false
		if err := f.rollups(id).View(ctx, func(tx rollup.Tx) error {
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
		if err := yield(f.rollups(id))(ctx, func(tx rollup.Tx) (err error) {
			yields, err = rollup.Yield(ctx, tx, from, r.Next.Generation)
			return err
		}); err != nil || !yields {
			return false, err
		}
	}
	if len(f.Map().Cells()) != len(ids) {
		return false, nil // cells were added meanwhile
	}
	done := false
	err := f.rollups(f.Map().Authority()).Update(ctx, func(tx rollup.Tx) (err error) {
		done, err = rollup.Promote(ctx, tx, r.Name, r.Next.Generation)
		return err
	})
	if done && err == nil {
		f.opts.Logger.Info("rollup serves", "rollup", r.Name, "generation", r.Next.Generation)
	}
	return done, err
}

// trim deletes changes that are older than the log is to be kept for.
func (f *following) trim(ctx context.Context) {
	now := f.opts.Now()
	if now.Sub(f.trimmed) < trimEvery {
		return
	}
	f.trimmed = now
	before := now.Add(-f.opts.Retention)
	for _, id := range f.Map().Cells() {
		for n := trimmed; n == trimmed; {
			if err := f.rollups(id).Update(ctx, func(tx rollup.Tx) (err error) {
				n, err = rollup.Trim(ctx, tx, before, trimmed)
				return err
			}); err != nil {
				f.opts.Logger.Debug("the log cannot be trimmed", "cell", id, "err", err)
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
