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
	// keepEvery is how often the keeper looks whether something is due.
	keepEvery = time.Second
	// refreshEvery is how often it reads the cell map although no cell has told of a newer one.
	refreshEvery = 10 * time.Second
	// settlePause is how long a settling that failed waits before the next attempt.
	settlePause = 5 * time.Second
)

// Keeper is the maintenance loop of a process. It extends the time that the cell map covers, reads a newer map once a
// cell has told of it, makes good what restored cells have lost, and finishes a growth, or the switch of a kind,
// that a process began and did not finish. Where the installation is read only it does no more than read the map.
type Keeper struct {
	engine *Engine
	cancel func()
	done   sync.WaitGroup
	read   time.Time // when the map was read last
	failed bool      // the last time; the log says so once
	grown  int       // the newest generation that is known to be finished
	seen   int       // how far a switch was the last time

	reading  atomic.Bool // the rules are being read
	settling atomic.Bool // what a cell lost is being made good
}

// NewKeeper returns the loop of an installation, which does nothing before Start.
func (e *Engine) NewKeeper() *Keeper { return &Keeper{engine: e, cancel: func() {}, read: e.Now()} }

// Start runs the loop until Stop.
func (k *Keeper) Start() {
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

// Stop ends the loop and waits for what it does.
func (k *Keeper) Stop() {
	k.cancel()
	k.done.Wait()
}

// Tick does what is due. It is called by one goroutine at a time.
func (k *Keeper) Tick(ctx context.Context) {
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
	}
	if err != nil && !k.failed && ctx.Err() == nil {
		e.Logger.Warn("the cell map cannot be kept up to date", "epoch", e.Map().Epoch(), "until", e.Map().Until(), "err", err)
	}
	if err == nil && k.failed {
		e.Logger.Info("the cell map is up to date again", "epoch", e.Map().Epoch())
	}
	k.failed = err != nil
}

// finish continues the growth to the newest generation once that may take keys. The process that began it may do the
// same: steps that are done are passed over.
func (k *Keeper) finish(ctx context.Context) error {
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

// settle makes good what cells that came back from backups or replicas have lost, beside the ticks.
func (k *Keeper) settle(ctx context.Context) {
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
			e.Logger.Warn("a cell came back without something, which cannot be made from what is there",
				"cell", d.Cell, "what", d.What, "stored", d.Stored, "want", d.Want, "try", d.Advice)
			return nil
		})
		switch {
		case err == nil:
			e.Logger.Info("what cells lost that came back is made good", "repaired", repaired, "left", left)
		case ctx.Err() == nil:
			e.Logger.Warn("what cells lost that came back is not made good yet", "repaired", repaired, "err", err)
			Sleep(ctx, settlePause, nil)
		}
	})
}

// reload reads the rules, in case another process has changed them, beside the ticks.
func (k *Keeper) reload(ctx context.Context) {
	if k.engine.Alone() || !k.reading.CompareAndSwap(false, true) {
		return
	}
	k.done.Go(func() {
		defer k.reading.Store(false)
		if err := k.engine.Resolver.Reload(ctx); err != nil && ctx.Err() == nil {
			k.engine.Logger.Debug("the rules cannot be read", "err", err)
		}
	})
}

// resume continues the switch of a kind that a process began and did not finish, beside the ticks.
func (k *Keeper) resume(ctx context.Context) {
	e := k.engine
	change := e.Resolver.Rules().Change()
	if change == nil || e.switching.under() {
		k.seen = -1
		return
	}
	if done := change.Records(); done != k.seen { // another process works on it, or stopped less than a tick ago
		k.seen = done
		k.reload(ctx)
		return
	}
	end := e.Switching()
	k.done.Go(func() {
		defer end()
		begun := e.Now()
		err := e.Resolver.Resume(ctx, nil)
		switch {
		case err == nil:
			e.Logger.Info("a kind is switched", "kind", change.Kind, "ms", e.Now().Sub(begun).Milliseconds())
		case ctx.Err() == nil:
			e.Logger.Warn("the switch of a kind waits", "kind", change.Kind, "err", err)
		}
	})
}

// switches counts the goroutines of this process that continue the switch of a kind.
type switches struct{ n atomic.Int32 }

func (s *switches) under() bool { return s.n.Load() > 0 }

// Switching notes that the caller continues the switch of a kind, so that the keeper does not, until end is called.
func (e *Engine) Switching() (end func()) {
	e.switching.n.Add(1)
	return func() { e.switching.n.Add(-1) }
}

// Failed reports whether the last Tick could not bring the cell map up to date.
func (k *Keeper) Failed() bool { return k.failed }
