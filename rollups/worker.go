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

// worker drives the follower of one cell.
type worker struct {
	following *following
	id        cell.ID
	follower  *rollup.Follower
	wake      chan struct{}
	held      atomic.Bool            // this process follows the cell
	other     atomic.Pointer[string] // or this one does
	failed    bool                   // the last step failed; logged once
	apart     bool                   // the same for groups in documents
	stale     bool                   // the catalogue must be read before the next step
	looked    time.Time              // last check whether another process wants the cell

	chores sync.WaitGroup
	turn   atomic.Int64 // index of the missing generation to build next; advances after a failure
	busy   atomic.Bool  // a generation is being built or erased
}

func newWorker(f *following, id cell.ID) *worker {
	w := &worker{following: f, id: id, wake: make(chan struct{}, 1)}
	w.follower = rollup.NewFollower(rollup.Options{
		Database: f.engine.RollupCell(id), Owner: f.owner, TTL: followTTL, Now: f.engine.Now, Wants: w.wants,
	})
	return w
}

// wants reports whether this process has less than its share of the cells.
func (w *worker) wants() bool {
	held, cells, processes := w.following.shares()
	return held < cells/processes
}

func (w *worker) run(ctx context.Context) {
	idle := followPause
	for ctx.Err() == nil {
		if w.stale && !w.freshen(ctx) {
			continue
		}
		catalog, _ := w.following.known()
		begun, most := time.Now(), w.most(catalog)
		w.follower.Pause(min(2*idle, most))
		p, err := w.follower.Step(ctx, catalog)
		w.report(ctx, p, err)
		w.following.applied.Add(int64(p.Applied))
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
	if err := w.following.refresh(ctx); err != nil {
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
	held, _, _ := w.following.shares()
	return min(max(step*time.Duration(held)/4, followPause), followLongest)
}

// report logs a new error once, and records which process follows the cell.
func (w *worker) report(ctx context.Context, p rollup.Progress, err error) {
	other := w.follower.Other()
	w.other.Store(&other)
	w.held.Store(p.Held)
	if err != nil && !w.failed && ctx.Err() == nil {
		w.following.engine.Logger.Warn("rollups of a cell are stalled", "cell", w.id, "err", err)
	}
	if err == nil && w.failed {
		w.following.engine.Logger.Info("the rollups of a cell go on", "cell", w.id)
	}
	w.failed = err != nil
	if p.Apart != nil && !w.apart && ctx.Err() == nil {
		w.following.engine.Logger.Warn("rollups of a cell with groups in documents are stalled", "cell", w.id, "err", p.Apart)
	}
	if p.Apart == nil && w.apart && p.Held && err == nil {
		w.following.engine.Logger.Info("rollups of a cell that have their groups in documents go on", "cell", w.id)
	}
	if err == nil && p.Held {
		w.apart = p.Apart != nil
	}
}

// share releases the cell to a process that wants it, if this one has more than its share.
func (w *worker) share(ctx context.Context) {
	now := w.following.engine.Now()
	if w.following.engine.Alone() || now.Sub(w.looked) < followElse || w.busy.Load() {
		return
	}
	w.looked = now
	held, cells, processes := w.following.shares()
	if held <= (cells+processes)/(processes+1) { // a process that wants a cell is one more
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
		defer engine.Wake(w.following.wake)
		defer engine.Wake(w.wake)
		defer w.busy.Store(false)
		begun := w.following.engine.Now()
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
		w.following.engine.Logger.Debug("generation of a rollup", "what", done, "cell", w.id, "generation", generation, "ms", w.following.engine.Now().Sub(begun).Milliseconds())
	case ctx.Err() == nil && !errors.Is(err, lease.ErrLost):
		w.following.engine.Logger.Warn("a generation of a rollup is not done", "what", done, "cell", w.id, "generation", generation, "err", err)
		engine.Sleep(ctx, followElse, nil)
	}
}
