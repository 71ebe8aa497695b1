// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/rollup"
)

const (
	// followTTL is how long a follower may be silent before another process takes over its cell.
	followTTL = 5 * time.Second
	// followPause and followLongest bound how long a follower lets changes gather after it has applied some,
	// since every commit costs a sync.
	followPause   = 2 * time.Millisecond
	followLongest = 50 * time.Millisecond
	// followIdle is how often a follower polls for changes if it is not woken, followBusy while a generation is
	// being built or after an error.
	followIdle = 5 * time.Second
	followBusy = 250 * time.Millisecond
	// followElse is how often to check whether a cell followed by another process is free.
	followElse = time.Second
)

// worker drives the follower of one cell.
type worker struct {
	engine  *engine.Engine
	id      cell.ID
	owner   string // in its lease
	catalog *catalog
	applied *atomic.Int64                       // changes that all workers of this process have applied
	shares  func() (held, cells, processes int) // of all workers, see following.shares
	built   func()                              // called after a generation was built or erased

	follower *rollup.Follower
	wake     chan struct{}
	held     atomic.Bool            // this process follows the cell
	other    atomic.Pointer[string] // or this one does
	failed   bool                   // the last step failed; logged once
	apart    bool                   // the same for groups in documents
	stale    bool                   // the catalogue must be read before the next step
	looked   time.Time              // last check whether another process wants the cell

	chores sync.WaitGroup
	turn   atomic.Int64 // index of the missing generation to build next; advances after a failure
	busy   atomic.Bool  // a generation is being built or erased
}

// newWorker completes w, whose fields up to the follower are set.
func newWorker(w *worker) *worker {
	w.wake = make(chan struct{}, 1)
	w.follower = rollup.NewFollower(rollup.Options{
		Database: database(w.engine, w.id), Owner: w.owner, TTL: followTTL, Now: w.engine.Now, Wants: w.wants,
	})
	return w
}

// wants reports whether this process has less than its share of the cells.
func (w *worker) wants() bool {
	held, cells, processes := w.shares()
	return held < cells/processes
}

func (w *worker) run(ctx context.Context) {
	idle := followPause
	for ctx.Err() == nil {
		if w.stale && !w.freshen(ctx) {
			continue
		}
		catalog, _ := w.catalog.known()
		begun, most := time.Now(), w.most(catalog)
		w.follower.Pause(min(2*idle, most))
		p, err := w.follower.Step(ctx, catalog)
		w.report(ctx, p, err)
		w.applied.Add(int64(p.Applied))
		w.stale = p.Old
		w.chore(ctx, p)
		switch {
		case p.Held && p.More:
			continue
		case p.Held && p.Applied > 0:
			idle = followPause
			engine.Sleep(ctx, w.pause(time.Since(begun)), nil)
			continue
		case p.Held:
			w.share(ctx)
			idle = min(2*idle, most)
			engine.Sleep(ctx, idle, w.wake)
		default:
			idle = followPause
			engine.Sleep(ctx, followElse, nil)
			engine.Sleep(ctx, most-followElse, w.wake)
		}
	}
	w.chores.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.follower.Release(ctx) // if this fails, the lease expires
}

// most returns the longest pause between steps while nothing is known to happen.
func (w *worker) most(catalog rollup.Catalog) time.Duration {
	building := slices.ContainsFunc(catalog, func(r rollup.Rollup) bool { return r.Next != nil })
	if building || w.failed || w.apart {
		return followBusy
	}
	return followIdle
}

// freshen reads the catalogue, or waits a while after an error.
func (w *worker) freshen(ctx context.Context) bool {
	if err := w.catalog.refresh(ctx); err != nil {
		w.report(ctx, rollup.Progress{Held: w.held.Load()}, err)
		engine.Sleep(ctx, followElse, nil)
		return false
	}
	w.stale = false
	return true
}

// pause returns how long changes may gather after a step. Writers need the processor and the disk, too, so the
// pause grows with the duration of the step and the number of cells followed.
func (w *worker) pause(step time.Duration) time.Duration {
	held, _, _ := w.shares()
	return min(max(step*time.Duration(held)/4, followPause), followLongest)
}

// report logs a new error once, and records which process follows the cell.
func (w *worker) report(ctx context.Context, p rollup.Progress, err error) {
	other := w.follower.Other()
	w.other.Store(&other)
	w.held.Store(p.Held)
	if err != nil && !w.failed && ctx.Err() == nil {
		w.engine.Logger.Warn("rollup follower stalled", "cell", w.id, "err", err)
	}
	if err == nil && w.failed {
		w.engine.Logger.Info("rollup follower resumed", "cell", w.id)
	}
	w.failed = err != nil
	if p.Apart != nil && !w.apart && ctx.Err() == nil {
		w.engine.Logger.Warn("rollup follower of groups in MongoDB stalled", "cell", w.id, "err", p.Apart)
	}
	if p.Apart == nil && w.apart && p.Held && err == nil {
		w.engine.Logger.Info("rollup follower of groups in MongoDB resumed", "cell", w.id)
	}
	if err == nil && p.Held {
		w.apart = p.Apart != nil
	}
}

// share releases the cell to a process that wants it, if this one has more than its share.
func (w *worker) share(ctx context.Context) {
	now := w.engine.Now()
	if w.engine.Alone() || now.Sub(w.looked) < followElse || w.busy.Load() {
		return
	}
	w.looked = now
	held, cells, processes := w.shares()
	if held <= (cells+processes)/(processes+1) { // a process that wants a cell counts as one more
		return
	}
	if wanted, err := w.follower.Wanted(ctx); err == nil && wanted && w.follower.Release(ctx) == nil {
		w.held.Store(false)
		engine.Sleep(ctx, followElse, nil)
	}
}

// chore builds a missing generation, or otherwise erases one that is no longer named, concurrently with the
// steps.
func (w *worker) chore(ctx context.Context, p rollup.Progress) {
	if !p.Held || len(p.Missing)+len(p.Left) == 0 || !w.busy.CompareAndSwap(false, true) {
		return
	}
	w.chores.Go(func() {
		defer w.built()
		defer engine.Wake(w.wake)
		defer w.busy.Store(false)
		begun := w.engine.Now()
		if len(p.Missing) == 0 {
			w.noteChore(ctx, p.Left[0], "erased", begun, w.follower.Erase(ctx, p.Left[0]))
			return
		}
		v := p.Missing[int(w.turn.Load())%len(p.Missing)]
		err := w.follower.Build(ctx, v, nil)
		if err != nil {
			w.turn.Add(1)
		}
		w.noteChore(ctx, v.Generation, "built", begun, err)
	})
}

func (w *worker) noteChore(ctx context.Context, generation int64, done string, begun time.Time, err error) {
	switch {
	case err == nil:
		w.engine.Logger.Debug("rollup generation", "what", done, "cell", w.id, "generation", generation, "ms",
			w.engine.Now().Sub(begun).Milliseconds())
	case ctx.Err() == nil && !errors.Is(err, lease.ErrLost):
		w.engine.Logger.Warn("rollup generation failed, retrying", "what", done, "cell", w.id, "generation",
			generation, "err", err)
		engine.Sleep(ctx, followElse, nil)
	}
}
