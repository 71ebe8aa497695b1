// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// beatCells is the maximum number of pulses that one beat reads; the others wait for the next one.
	beatCells = 32
	// beatPatience limits a beat, lastPatience the final one.
	beatPatience = 5 * time.Second
	lastPatience = 2 * time.Second
)

// beats attests pulses at once, and then every Beat until there are no new pulses.
func (c *Cells[T]) beats() {
	tick := time.NewTicker(c.opts.Beat)
	defer tick.Stop()
	for {
		c.beat(beatPatience)
		select {
		case <-c.watch.stop:
			c.beat(lastPatience)
			return
		case <-tick.C:
		}
		w := &c.watch
		w.mu.Lock()
		w.beating = len(w.due) > 0 || len(w.unsaid) > 0
		goOn := w.beating
		w.mu.Unlock()
		if !goOn {
			return
		}
	}
}

// beat reads the pulses that are due, and stores them in the holders.
func (c *Cells[T]) beat(patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w := &c.watch
	w.mu.Lock()
	due := slices.SortedFunc(maps.Keys(w.due), ID.Compare)
	due = due[:min(len(due), beatCells)]
	for _, id := range due {
		delete(w.due, id)
	}
	w.mu.Unlock()
	m := c.Map()
	holders := m.holders()
	c.apiece(ctx, due, func(ctx context.Context, id ID) error {
		if !m.Has(id) {
			return nil
		}
		p, err := c.look(ctx, id)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil {
			w.due[id] = !errors.Is(err, ErrWentBack) && !errors.Is(err, ErrNoCell)
			if !w.due[id] {
				delete(w.due, id)
			}
			return err
		}
		for _, h := range holders {
			if h != id {
				if w.unsaid[h] == nil {
					w.unsaid[h] = map[ID]Pulse{}
				}
				w.unsaid[h][id] = p
			}
		}
		return nil
	})
	if c.opts.Ledger != nil {
		if err := c.opts.Ledger.Sync(); err != nil {
			c.event(Event{What: EventBeat, Err: err})
		}
	}
	w.mu.Lock()
	knownEpoch := slices.Collect(maps.Keys(w.unsaid))
	w.mu.Unlock()
	c.apiece(ctx, knownEpoch, c.attest)
}

// apiece calls do for cells, continues after errors, and reports them as events.
func (c *Cells[T]) apiece(ctx context.Context, ids []ID, do func(context.Context, ID) error) {
	_ = each(ctx, ids, func(ctx context.Context, id ID) error {
		if err := do(ctx, id); err != nil {
			c.event(Event{What: EventBeat, Cell: id, Err: err})
		}
		return nil
	})
}

// look reads the pulse of a cell, and drops its database if it went back.
func (c *Cells[T]) look(ctx context.Context, id ID) (p Pulse, err error) {
	h, err := c.home(id)
	if err != nil {
		return p, err
	}
	var back Opened[T]
	err = h.use(ctx, func(db Opened[T]) error {
		seen := c.watch.highest(id)
		var more bool
		if p, more = db.Latest(); more || p.Before(seen) {
			if p, err = db.Pulse(ctx); err != nil {
				return err
			}
		}
		if p.Before(seen) && !c.opts.Restored {
			err := wentBack(id, c.url(c.Map(), id), p, seen)
			c.event(Event{What: EventBack, Cell: id, Err: err})
			back = db
			return err
		}
		c.learned(id, p, nil)
		return c.note(id, p)
	})
	if back != nil {
		h.refuse(back) // refuse waits for the users of the connection, so it must not be called from use
	}
	return p, err
}

// attest stores the unsaid pulses in a holder.
func (c *Cells[T]) attest(ctx context.Context, holder ID) error {
	w := &c.watch
	w.mu.Lock()
	say := maps.Clone(w.unsaid[holder])
	w.mu.Unlock()
	var err error
	if c.Map().Has(holder) {
		var h *home[T]
		if h, err = c.home(holder); err == nil {
			err = h.use(ctx, func(db Opened[T]) error {
				return db.Update(ctx, func(t T) error { return t.Attest(ctx, say) })
			})
		}
	}
	if err != nil {
		return fmt.Errorf("attest %d pulses in cell %v: %w", len(say), holder, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, p := range say {
		if w.unsaid[holder][id] == p {
			delete(w.unsaid[holder], id)
		}
	}
	if len(w.unsaid[holder]) == 0 {
		delete(w.unsaid, holder)
	}
	return nil
}
