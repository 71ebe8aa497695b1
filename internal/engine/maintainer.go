// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

const (
	// keepEvery is the interval of the loop.
	keepEvery = time.Second
	// refreshEvery is how often the loop reads the cell map even if no cell has reported a newer one.
	refreshEvery = 10 * time.Second
	// settlePause is the pause after a failed repair.
	settlePause = 5 * time.Second
)

// Maintainer is the maintenance loop of a process. It extends the period that the cell map covers, reads a newer map
// when a cell has reported one, repairs what restored cells have lost, finishes a growth or a migration of a kind that
// a process left unfinished, and makes reads of cells at rest cheaper. In a read-only installation it only reads the
// map.
type Maintainer struct {
	engine *Engine
	cancel func()
	done   sync.WaitGroup
	read   time.Time // when the map was last read
	failed bool      // the last tick failed; logged once
	grown  int       // the newest generation known to be complete
	seen   int       // progress of the migration at the last tick

	reading  atomic.Bool            // a reload of the rules is running
	settling atomic.Bool            // a repair is running
	tidying  atomic.Bool            // a cell is being tidied
	tidied   int                    // how often one was
	pulses   map[cell.ID]cell.Pulse // when each was
}

// NewMaintainer returns the maintenance loop of an installation. It does nothing before Start.
func (e *Engine) NewMaintainer() *Maintainer {
	return &Maintainer{engine: e, cancel: func() {}, read: e.Now(), pulses: map[cell.ID]cell.Pulse{}}
}

// Start runs the loop until Stop.
func (k *Maintainer) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	k.done.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				k.Tick(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

// Stop ends the loop and waits for its running work.
func (k *Maintainer) Stop() {
	k.cancel()
	k.done.Wait()
}

// Tick does the work that is due. It must not be called concurrently.
func (k *Maintainer) Tick(ctx context.Context) {
	e := k.engine
	var err error
	if !e.ReadOnly {
		err = e.Cells.Extend(ctx)
	}
	if now := e.Now(); err == nil && !e.Alone() && (e.Cells.Stale() || now.Sub(k.read) >= refreshEvery) {
		if err = e.Cells.Refresh(ctx); err == nil {
			k.read = now
			k.reload(ctx)
		}
	}
	if !e.ReadOnly {
		if err == nil {
			err = k.finish(ctx)
		}
		k.resume(ctx)
		k.settle(ctx)
		k.tidy(ctx)
	}
	if err != nil && !k.failed && ctx.Err() == nil {
		e.Logger.Warn("cell map refresh failed", "epoch", e.Map().Epoch(), "until", e.Map().Until(), "err", err)
	}
	if err == nil && k.failed {
		e.Logger.Info("cell map refresh recovered", "epoch", e.Map().Epoch())
	}
	k.failed = err != nil
}

// finish continues the growth to the newest generation once its start time has passed. The process that began the
// growth may do the same: completed steps are skipped.
func (k *Maintainer) finish(ctx context.Context) error {
	e := k.engine
	m := e.Map()
	newest := m.Generations() - 1
	if newest <= k.grown || e.Now().Before(m.Starts(newest)) {
		return nil
	}
	err := cell.Grow(ctx, e.Cells, cell.Growth{Cells: m.Count(newest)}, func(p cell.Progress) {
		e.Logger.Debug("growth", "generation", newest, "step", p.String())
	})
	if err == nil {
		k.grown = newest
		e.Logger.Info("generation of cells", "generation", newest, "cells", m.Count(newest), "epoch", e.Map().Epoch())
	}
	return err
}

// settle repairs, in the background, the consequences of cells restored from backups or replicas.
func (k *Maintainer) settle(ctx context.Context) {
	e := k.engine
	if !e.Resolver.Unsettled() || !k.settling.CompareAndSwap(false, true) {
		return
	}
	k.done.Go(func() {
		defer k.settling.Store(false)
		repaired, left := 0, 0
		err := e.Resolver.Settle(ctx, func(d resolve.Difference) error {
			if d.Repaired {
				repaired++
				return nil
			}
			left++
			e.Logger.Warn("restored cell lacks rows that cannot be recomputed",
				"cell", d.Cell, "what", d.What, "stored", d.Stored, "want", d.Want, "try", d.Advice)
			return nil
		})
		switch {
		case err == nil:
			e.Logger.Info("restored cells repaired", "repaired", repaired, "left", left)
		case ctx.Err() == nil:
			e.Logger.Warn("repair of restored cells incomplete, retrying", "repaired", repaired, "err", err)
			Sleep(ctx, settlePause, nil)
		}
	})
}

// tidy makes reads of the next cell cheaper, in the background, if it was not written to since its last turn. Database
// servers do that themselves.
func (k *Maintainer) tidy(ctx context.Context) {
	if !k.engine.Alone() || !k.tidying.CompareAndSwap(false, true) {
		return
	}
	ids := k.engine.Map().Cells()
	id := ids[k.tidied%len(ids)]
	k.tidied++
	k.done.Go(func() {
		defer k.tidying.Store(false)
		at, _, err := k.engine.Cells.Tidy(ctx, id, k.pulses[id])
		if err != nil && ctx.Err() == nil {
			k.engine.Logger.Debug("cell maintenance failed", "cell", id, "err", err)
		}
		k.pulses[id] = at
	})
}

// Tidy makes reads of all cells cheaper, except cells that are being written to. The maintenance loop does the rest
// later.
func (e *Engine) Tidy(ctx context.Context) {
	_ = e.Parallel(e.Map().Cells(), func(_ int, id cell.ID) error {
		since, more, err := e.Cells.Tidy(ctx, id, cell.Pulse{})
		for at := since; more && err == nil && at == since; {
			at, more, err = e.Cells.Tidy(ctx, id, since)
		}
		return err
	})
}

// reload reads the rules in the background, in case another process has changed them.
func (k *Maintainer) reload(ctx context.Context) {
	if k.engine.Alone() || !k.reading.CompareAndSwap(false, true) {
		return
	}
	k.done.Go(func() {
		defer k.reading.Store(false)
		if err := k.engine.Resolver.Reload(ctx); err != nil && ctx.Err() == nil {
			k.engine.Logger.Debug("rules unreadable", "err", err)
		}
	})
}

// resume continues, in the background, a migration of a kind or an upgrade that a process left unfinished.
func (k *Maintainer) resume(ctx context.Context) {
	e := k.engine
	change := e.Resolver.Rules().Change()
	if change == nil || e.migrations.under() {
		k.seen = -1
		return
	}
	if done := change.Records(); done != k.seen { // another process is working on it, or stopped less than a tick ago
		k.seen = done
		k.reload(ctx)
		return
	}
	end := e.Migrating()
	k.done.Go(func() {
		defer end()
		begun := e.Now()
		err := e.Resolver.Resume(ctx, nil)
		switch {
		case err == nil:
			e.Logger.Info("migration finished", "kind", change.Kind, "upgraded_from", change.From, "ms",
				e.Now().Sub(begun).Milliseconds())
		case ctx.Err() == nil:
			e.Logger.Warn("migration delayed", "kind", change.Kind, "upgraded_from", change.From, "err", err)
		}
	})
}

// Failed reports whether the last Tick could not bring the cell map up to date.
func (k *Maintainer) Failed() bool { return k.failed }
