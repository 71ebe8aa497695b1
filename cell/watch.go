// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// watch holds the pulses of cells that a process has seen, and the pulses that it has yet to attest.
type watch struct {
	mu sync.Mutex
	// seen is the highest pulse of each cell that this process or a witness saw.
	seen map[ID]Pulse
	// due are cells that were written to since they were last attested.
	due map[ID]bool
	// unsaid are the pulses that each holder has yet to store.
	unsaid  map[ID]map[ID]Pulse
	beating bool
	stop    chan struct{}
}

func newWatch() watch {
	return watch{seen: map[ID]Pulse{}, due: map[ID]bool{}, unsaid: map[ID]map[ID]Pulse{}, stop: make(chan struct{})}
}

// raise records a pulse, and reports whether it is higher than before.
func (w *watch) raise(id ID, p Pulse) bool {
	if !w.seen[id].Before(p) {
		return false
	}
	w.seen[id] = p
	return true
}

func (w *watch) highest(id ID) Pulse {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[id]
}

// examine rejects a database that went back before anything is read from it. If a database has a newer map than the
// authority, the authority went back.
func (c *Cells[T]) examine(ctx context.Context, id ID, at string, db Opened[T]) error {
	var head Head
	var epoch uint64
	var knownEpoch map[ID]Pulse
	if err := db.Read(ctx, func(t T) (err error) {
		if head, err = t.Head(ctx); err != nil {
			return err
		}
		if epoch, _, err = t.CellMap(ctx); err != nil {
			return err
		}
		knownEpoch, err = t.Witnesses(ctx)
		return err
	}); err != nil {
		return err
	}
	if head.Home == Moved {
		return nil // the cell is at another database, and so is its pulse
	}
	seen, known := c.seen(id) // must be read before db.Pulse, because it may rise
	p, err := db.Pulse(ctx)
	if err != nil {
		return err
	}
	if !c.opts.Restored {
		switch {
		case p.Before(seen):
			return wentBack(id, at, p, seen)
		case !known && p.Commits > 0:
			return fmt.Errorf("%w: cell %v at %s is at %v, and the directory has no note of it: it was restored without its file of witnesses: put all files back, or accept what is there with locus cell restored",
				ErrWentBack, id, at, p)
		}
		if newest := max(epoch, head.KnownEpoch, head.Epoch); c.Map() != nil && newest > c.Map().Epoch() && id != c.Map().spec.Authority {
			if err := c.overtaken(ctx, id, newest); err != nil {
				return err
			}
		}
	}
	c.learned(id, p, knownEpoch)
	return c.note(id, p)
}

// note stores a pulse in the ledger, except while restored cells are not accepted yet.
func (c *Cells[T]) note(id ID, p Pulse) error {
	if c.opts.Ledger == nil || c.opts.Restored {
		return nil
	}
	return c.opts.Ledger.Note(id, p)
}

// seen returns the highest pulse seen of a cell, and whether the ledger, if there is one, has noted it.
func (c *Cells[T]) seen(id ID) (p Pulse, known bool) {
	p = c.watch.highest(id)
	if c.opts.Ledger == nil {
		return p, true
	}
	noted, known := c.opts.Ledger.Known(id)
	if p.Before(noted) {
		p = noted
	}
	return p, known
}

// overtaken returns ErrWentBack if the map of the authority is older than one that a cell has.
func (c *Cells[T]) overtaken(ctx context.Context, id ID, newest uint64) error {
	authority := c.Map().spec.Authority
	if err := c.refreshFrom(ctx, authority); err != nil {
		if errors.Is(err, ErrWentBack) {
			return err
		}
		return nil // unreachable; cells reject writers with an old map
	}
	if has := c.Map().Epoch(); has < newest && c.Map().spec.Authority == authority {
		return fmt.Errorf("%w: cell %v holds the cell map and has epoch %d, while cell %v knows of epoch %d: cell %v is an old copy: put its newest database back, or accept the loss with locus cell restored",
			ErrWentBack, authority, has, id, newest, authority)
	}
	return nil
}

// learned records the pulse of a cell and the pulses that it has stored of others. Cells whose pulse rose by this are
// checked by the next beat.
func (c *Cells[T]) learned(id ID, p Pulse, knownEpoch map[ID]Pulse) {
	w := &c.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raise(id, p)
	for other, q := range knownEpoch {
		if other != id && w.raise(other, q) && c.opts.Beat > 0 {
			w.due[other] = true
		}
	}
}

func (c *Cells[T]) wrote(id ID, db Opened[T]) {
	p, more := db.Latest()
	w := &c.watch
	w.mu.Lock()
	// A pulse below the highest one is checked by the beat: it may have been read before another commit.
	if risen := w.raise(id, p); !risen && !more && p == w.seen[id] {
		w.mu.Unlock()
		return
	}
	w.due[id] = true
	begin := c.opts.Beat > 0 && !w.beating
	w.beating = w.beating || begin
	w.mu.Unlock()
	if err := c.note(id, p); err != nil {
		c.event(Event{What: EventBeat, Cell: id, Err: err})
	}
	if begin {
		c.goes(c.beats)
	}
}

// Verify compares all open cells with the pulses that others saw of them, including cells opened later. The error is
// ErrWentBack.
func (c *Cells[T]) Verify(ctx context.Context) error {
	return each(ctx, c.opened(), func(ctx context.Context, id ID) error {
		_, err := c.look(ctx, id)
		if errors.Is(err, ErrWentBack) {
			return err
		}
		return nil
	})
}

// listen opens the reachable holders, so that cells can be compared with what others saw of them, and verifies the
// authority, which was opened before them.
func (c *Cells[T]) listen(ctx context.Context) error {
	if c.opts.Beat == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, beatPatience)
	defer cancel()
	if err := each(limited, c.Map().holders(), func(ctx context.Context, id ID) error {
		h, err := c.home(id)
		if err == nil {
			err = h.use(ctx, func(Opened[T]) error { return nil })
		}
		if errors.Is(err, ErrWentBack) {
			return err
		}
		return nil
	}); errors.Is(err, ErrWentBack) || ctx.Err() != nil {
		return err
	}
	return c.Verify(ctx)
}
