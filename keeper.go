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
// and left.
type keeper struct {
	*Service
	cancel context.CancelFunc
	done   sync.WaitGroup
	read   time.Time // when the map was read last
	failed bool      // the last time; the log says so once
	grown  int       // the newest generation that is known to be finished
	seen   int       // how far a switch was the last time

	reading atomic.Bool // the rules are being read
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
	err := k.cells.Extend(ctx)
	if now := k.opts.Now(); err == nil && !k.cells.Alone() && (k.cells.Stale() || now.Sub(k.read) >= refreshEvery) {
		if err = k.cells.Refresh(ctx); err == nil {
			k.read = now
			k.reload(ctx)
		}
	}
	if err == nil {
		err = k.finish(ctx)
	}
	k.resume(ctx)
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

func (k *keeper) stop() {
	k.cancel()
	k.done.Wait()
}
