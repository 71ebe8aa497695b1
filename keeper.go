// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
)

const (
	// keepEvery is how often the keeper looks whether something is due.
	keepEvery = time.Second
	// refreshEvery is how often it reads the cell map though nobody has told of a newer one.
	refreshEvery = 10 * time.Second
)

// keeper keeps the cell map of a service young: it moves on the time until which the map speaks, reads a
// newer one once a cell has told of it, and finishes a growth, or a switch of a kind, that somebody has begun
// and left. That of a service that only reads does no more than read the map.
type keeper struct {
	*Service
	cancel context.CancelFunc
	done   sync.WaitGroup
	read   time.Time // when the map was read last
	failed bool      // the last time; the log says so once
	grown  int       // the newest generation that is known to be finished
	seen   int       // how far a switch was the last time

	reading  atomic.Bool // the rules are being read
	settling atomic.Bool // what a cell lost is being made good
}

func keep(s *Service) *keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &keeper{Service: s, cancel: cancel, read: s.opts.Now()}
	k.done.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				k.tick(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return k
}

func (k *keeper) tick(ctx context.Context) {
	var err error
	if !k.opts.ReadOnly {
		err = k.cells.Extend(ctx)
	}
	if now := k.opts.Now(); err == nil && !k.cells.Alone() && (k.cells.Stale() || now.Sub(k.read) >= refreshEvery) {
		if err = k.cells.Refresh(ctx); err == nil {
			k.read = now
			k.reload(ctx)
		}
	}
	if !k.opts.ReadOnly {
		if err == nil {
			err = k.finish(ctx)
		}
		k.resume(ctx)
		k.settle(ctx)
	}
	if err != nil && !k.failed && ctx.Err() == nil {
		k.opts.Logger.Warn("the cell map cannot be kept up to date", "epoch", k.Map().Epoch(), "until", k.Map().Until(), "err", err)
	}
	if err == nil && k.failed {
		k.opts.Logger.Info("the cell map is up to date again", "epoch", k.Map().Epoch())
	}
	k.failed = err != nil
}

// finish goes on with the growth to the newest generation once that may take keys. Whoever began it may do
// the same: what is done is passed over.
func (k *keeper) finish(ctx context.Context) error {
	m := k.Map()
	newest := m.Generations() - 1
	if newest <= k.grown || k.opts.Now().Before(m.Starts(newest)) {
		return nil
	}
	err := k.Grow(ctx, cell.Growth{Cells: m.Count(newest)}, func(p cell.Progress) {
		k.opts.Logger.Debug("growth", "generation", newest, "step", p.String())
	})
	if err == nil {
		k.grown = newest
		k.opts.Logger.Info("generation of cells", "generation", newest, "cells", m.Count(newest), "epoch", k.Map().Epoch())
	}
	return err
}

// settlePause is how long a settling that failed waits before it begins again.
const settlePause = 5 * time.Second

// settle makes good what cells that came back from backups or replicas have lost, beside the ticks.
func (k *keeper) settle(ctx context.Context) {
	if !k.resolver.Unsettled() || !k.settling.CompareAndSwap(false, true) {
		return
	}
	k.done.Go(func() {
		defer k.settling.Store(false)
		repaired, left := 0, 0
		err := k.resolver.Settle(ctx, func(d Difference) error {
			if d.Repaired {
				repaired++
				return nil
			}
			left++
			k.opts.Logger.Warn("a cell came back without something, which cannot be made from what is there",
				"cell", d.Cell, "what", d.What, "stored", d.Stored, "want", d.Want, "try", d.Advice)
			return nil
		})
		switch {
		case err == nil:
			k.opts.Logger.Info("what cells lost that came back is made good", "repaired", repaired, "left", left)
		case ctx.Err() == nil:
			k.opts.Logger.Warn("what cells lost that came back is not made good yet", "repaired", repaired, "err", err)
			rest(ctx, settlePause, nil)
		}
	})
}

func (k *keeper) stop() {
	k.cancel()
	k.done.Wait()
}
