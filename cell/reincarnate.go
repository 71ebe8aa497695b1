// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"
	"sync"
)

// skipped is how many puids a restored or moved cell skips: more than the original can have allocated since the copy
// was made, including the time to make and restore it.
const skipped = 1 << 20

// Reincarnate repairs an installation that was restored from a backup. It must be opened with Restored, before any
// process works with it. The authority gets the newest cell map that any cell has. Every cell skips the puids that its
// lost future may have allocated, begins a new incarnation, and is sealed or retired if the map says so. It is
// idempotent; after an error it must be repeated.
func Reincarnate[T Store](ctx context.Context, c *Cells[T]) error {
	err := c.Refresh(ctx)
	if err == nil {
		err = c.newestMap(ctx)
	}
	if err == nil {
		err = each(ctx, c.Map().Cells(), c.reincarnate)
	}
	if err == nil {
		err = c.accept(ctx)
	}
	if err != nil {
		return fmt.Errorf("reincarnate: %w", err)
	}
	return nil
}

// accept replaces the pulses in the ledger by the current ones.
func (c *Cells[T]) accept(ctx context.Context) error {
	if c.opts.Ledger == nil {
		return nil
	}
	pulses := map[ID]Pulse{}
	var mu sync.Mutex
	if err := each(ctx, c.Map().Cells(), func(ctx context.Context, id ID) error {
		h, err := c.home(id)
		if err != nil {
			return err
		}
		return h.use(ctx, func(db Opened[T]) error {
			p, err := db.Pulse(ctx)
			mu.Lock()
			defer mu.Unlock()
			pulses[id] = p
			return err
		})
	}); err != nil {
		return err
	}
	return c.opts.Ledger.Accept(pulses)
}

// newestMap gives the authority the newest copy of the map that any cell has. The authority lacks it if its backup is
// older than the others. Cells that only a newer map lists are read too.
func (c *Cells[T]) newestMap(ctx context.Context) error {
	for {
		m := c.Map()
		var mu sync.Mutex
		newest := m
		if err := each(ctx, m.Cells(), func(ctx context.Context, id ID) error {
			h, err := c.home(id)
			if err != nil {
				return err
			}
			var has *Map
			if err := h.use(ctx, func(db Opened[T]) (err error) { _, has, err = readMap(ctx, db); return err }); err != nil {
				return fmt.Errorf("cell %v: %w", id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if has != nil && has.spec.ID == m.spec.ID && has.Epoch() > newest.Epoch() {
				newest = has
			}
			return nil
		}); err != nil || newest == m {
			return err
		}
		text, err := newest.MarshalJSON()
		if err != nil {
			return err
		}
		if newest.spec.Authority != m.spec.Authority ||
			newest.spec.Moved[m.spec.Authority] != m.spec.Moved[m.spec.Authority] {
			return fmt.Errorf("%w: cell map %d says that cell %v holds it and is at %s, not here: put that database in its place",
				ErrIdentity, newest.Epoch(), newest.spec.Authority, Redact(newest.URL(newest.spec.Authority)))
		}
		h, err := c.home(m.spec.Authority)
		if err != nil {
			return err
		}
		if err := h.Exclusive(ctx, func(t T) error {
			if err := putNewer(ctx, t, newest.Epoch(), text); err != nil {
				return err
			}
			return tell(ctx, t, newest.Epoch())
		}); err != nil {
			return fmt.Errorf("write cell map %d: %w", newest.Epoch(), err)
		}
		c.advance(newest)
	}
}

func (c *Cells[T]) reincarnate(ctx context.Context, id ID) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	err = h.Exclusive(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err != nil {
			return err
		}
		// Read while the cell is locked: a generation that becomes current after this finds the cell in this state.
		if err := c.refreshFrom(ctx, c.Map().spec.Authority); err != nil {
			return err
		}
		head = head.RecoverFromReplica(id, c.Map())
		seen, _ := c.seen(id) // another restore of the same backup may have begun the next one
		head.Incarnation = max(head.Incarnation, seen.Incarnation) + 1
		if err := t.SetHead(ctx, head); err != nil {
			return err
		}
		return t.Skip(ctx, skipped)
	})
	if err != nil {
		return fmt.Errorf("cell %v: %w", id, err)
	}
	return nil
}
