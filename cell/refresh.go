// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Observe processes the head of a cell: the epoch of the cell's newest map, and whether the cell may have a filter.
func (c *Cells[T]) Observe(id ID, head Head) {
	c.hear(head.KnownEpoch)
	switch {
	case head.Keys == Retired:
		c.filters.forget(id)
	case head.filterable():
		c.fetch(id)
	}
}

// hear processes the epoch of a cell's newest map.
func (c *Cells[T]) hear(epoch uint64) {
	for known := c.knownEpoch.Load(); epoch > known; known = c.knownEpoch.Load() {
		if c.knownEpoch.CompareAndSwap(known, epoch) {
			return
		}
	}
}

// Stale reports whether a cell that was read or written has a newer map than the process, so that a Refresh is due. The
// authority has the newest map. Each cell has at least every map that sends its keys to newer cells.
func (c *Cells[T]) Stale() bool { return c.knownEpoch.Load() > c.Map().Epoch() }

// Refresh reads the newest cell map from the authority, or, while it is unavailable, from the copies in the open cells.
// It never goes back to an older one. If neither yields a newer map, it returns the error of the authority, usually
// ErrUnavailable. Concurrent calls share one read.
func (c *Cells[T]) Refresh(ctx context.Context) error {
	return c.refresh.share(ctx, func() error {
		for {
			m := c.Map()
			if err := c.refreshFrom(ctx, m.spec.Authority); err != nil {
				if c.refreshFromCopies(ctx, m) {
					return nil
				}
				return fmt.Errorf("refresh the cell map: %w", err)
			}
			next := c.Map()
			if a := m.spec.Authority; next.spec.Authority == a && c.url(next, a) == c.url(m, a) {
				return nil
			}
			// The cell just read is no longer the authority; the authority that its map names has the newest map.
		}
	})
}

// refreshFrom reads the map that a cell has.
func (c *Cells[T]) refreshFrom(ctx context.Context, id ID) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	for {
		known := c.Map().Epoch()
		var head Head
		var m *Map
		from, err := h.useAt(ctx, func(db Opened[T]) (err error) { // also from a database that the cell has left
			head, m, err = readMap(ctx, db)
			return err
		})
		switch {
		case err != nil:
			return err
		case m == nil:
			return fmt.Errorf("%w: cell %v holds no cell map", ErrUnavailable, id)
		case m.spec.ID != c.Map().spec.ID:
			return fmt.Errorf("%w: cell %v has a copy of map %s, not of %s", ErrIdentity, id, m.spec.ID, c.Map().spec.ID)
		}
		c.advance(m)
		if head.Home != Moved || m.Epoch() > known {
			return nil
		}
		now := c.url(c.Map(), id)
		if now == from {
			return fmt.Errorf("%w: cell %v has left its database", ErrUnavailable, id)
		}
		// another goroutine is advancing to the map with the new place, and has not closed this database yet
		h.move(now)
	}
}

// refreshFromCopies reads the copies in the open cells, and reports whether one of them was newer than m.
func (c *Cells[T]) refreshFromCopies(ctx context.Context, m *Map) bool {
	_ = each(ctx, c.opened(), func(ctx context.Context, id ID) error {
		if id != m.spec.Authority {
			_ = c.refreshFrom(ctx, id) // another cell may have a newer one
		}
		return nil
	})
	return c.Map().Epoch() > m.Epoch()
}

// opened returns the cells whose databases are open.
func (c *Cells[T]) opened() (ids []ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, h := range c.homes {
		h.mu.Lock()
		if h.conn != nil {
			ids = append(ids, id)
		}
		h.mu.Unlock()
	}
	return ids
}

// advance makes m the current map, unless a newer one is known.
func (c *Cells[T]) advance(m *Map) {
	for {
		old := c.m.Load()
		if m.Epoch() <= old.Epoch() {
			return
		}
		if c.m.CompareAndSwap(old, m) {
			break
		}
	}
	c.event(Event{What: EventMap, Epoch: m.Epoch()})
	c.mu.Lock()
	homes := make([]*home[T], 0, len(c.homes))
	for _, h := range c.homes {
		homes = append(homes, h)
	}
	c.mu.Unlock()
	for _, h := range homes {
		h.move(c.url(m, h.id))
	}
}

// refreshOnce lets one goroutine at a time run a function; one success serves all callers that asked before it began.
type refreshOnce struct {
	held  chan struct{}
	began atomic.Uint64
	// served is the number of the last successful run; guarded by held.
	served uint64
}

func newRefreshOnce() refreshOnce { return refreshOnce{held: make(chan struct{}, 1)} }

func (t *refreshOnce) share(ctx context.Context, do func() error) error {
	mine := t.began.Load() + 1
	select {
	case t.held <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.held }()
	if t.served >= mine {
		return nil
	}
	n := t.began.Add(1)
	err := do()
	if err == nil {
		t.served = n
	}
	return err
}
