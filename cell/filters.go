// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// filterPage is how many rows are read at a time to build a filter.
	filterPage = 20_000
	// filterPause is how long after a failed read, or after eviction, a filter is not requested again.
	filterPause = time.Minute
)

// DefinitelyAbsent reports whether a filter of the cell is in memory and proves that the cell has no row of the key.
// The filter covers all rows of the sealed cell.
func (c *Cells[T]) DefinitelyAbsent(id ID, k Key) bool {
	f := c.filters.get(id)
	return f != nil && f.lacks(k)
}

// buildFilter builds and stores the filter of a cell that has none. Only a sealed cell has one, because its rows no
// longer change.
func (c *Cells[T]) buildFilter(ctx context.Context, id ID) error {
	err := c.patiently(ctx, id, func(h *home[T]) error { return putFilter[T](ctx, h) })
	if err != nil {
		return fmt.Errorf("make a filter: %w", err)
	}
	c.filters.retry(id)
	return nil
}

func putFilter[T Store](ctx context.Context, db Database[T]) error {
	var head Head
	has := false
	if err := db.View(ctx, func(t T) error {
		blob, err := t.Filter(ctx)
		if err != nil {
			return err
		}
		_, broken := parseFilter(blob)
		has = broken == nil
		head, err = t.Head(ctx)
		return err
	}); err != nil {
		return err
	}
	switch {
	case has, head.Keys == Retired:
		return nil
	case !head.filterable():
		return fmt.Errorf("it is %v, and only rows that never change have one", head.Keys)
	}
	rings, err := readRings(ctx, db)
	if err != nil {
		return err
	}
	f, err := newFilter(rings)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(t T) error {
		// Rows of a cell that was retired during the read may have been dropped.
		if head, err := t.Head(ctx); err != nil || !head.filterable() {
			return err
		}
		return t.SetFilter(ctx, f.marshal())
	})
}

// readRings reads the distinct ring values of all rows, in order.
func readRings[T Store](ctx context.Context, db Database[T]) (rings []uint64, err error) {
	var after *Key
	for {
		var page []Row
		if err := db.View(ctx, func(t T) (err error) {
			page, err = t.Scan(ctx, after, filterPage)
			return err
		}); err != nil {
			return nil, err
		}
		for _, row := range page {
			if ring := uint64(row.Key.Ring); len(rings) == 0 || rings[len(rings)-1] != ring {
				rings = append(rings, ring)
			}
		}
		if len(page) < filterPage {
			return rings, nil
		}
		after = &page[len(page)-1].Key
	}
}

// fetch loads the filter of a sealed cell into memory in the background, unless it is loaded or was requested within
// filterPause.
func (c *Cells[T]) fetch(id ID) {
	if !c.filters.begin(id, c.opts.Now()) {
		return
	}
	c.goes(func() {
		ctx, cancel := context.WithTimeout(context.Background(), copying)
		defer cancel()
		f, err := c.readFilter(ctx, id)
		if f != nil {
			c.filters.put(id, f, c.opts.FilterMemory)
		}
		c.event(Event{What: EventFilter, Cell: id, Err: err})
	})
}

func (c *Cells[T]) readFilter(ctx context.Context, id ID) (*filter, error) {
	h, err := c.home(id)
	if err != nil {
		return nil, err
	}
	var blob []byte
	if err := h.View(ctx, func(t T) error {
		if head, err := t.Head(ctx); err != nil || !head.filterable() {
			return err
		}
		blob, err = t.Filter(ctx)
		return err
	}); err != nil || blob == nil {
		return nil, err
	}
	return parseFilter(blob)
}

// filterCache is an LRU cache of filters.
type filterCache struct {
	mu      sync.RWMutex
	filters map[ID]*shelved
	size    int
	// moves is the clock of used: it advances when a filter is put.
	moves atomic.Uint64
}

// shelved is a filter, or a placeholder while there is none.
type shelved struct {
	*filter
	// again is when the filter may be requested again.
	again time.Time
	used  atomic.Uint64
}

// get returns the cached filter of a cell, or nil.
func (s *filterCache) get(id ID) *filter {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.filters[id]
	if e == nil || e.filter == nil {
		return nil
	}
	if now := s.moves.Load(); e.used.Load() != now {
		e.used.Store(now)
	}
	return e.filter
}

// settled reports whether the filter need not be read now.
func (e *shelved) settled(now time.Time) bool {
	return e != nil && (e.filter != nil || now.Before(e.again))
}

// begin reports whether the caller has to read the filter. It returns true to one caller only.
func (s *filterCache) begin(id ID, now time.Time) bool {
	s.mu.RLock()
	settled := s.filters[id].settled(now)
	s.mu.RUnlock()
	if settled {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filters[id].settled(now) {
		return false
	}
	if s.filters == nil {
		s.filters = map[ID]*shelved{}
	}
	s.filters[id] = &shelved{again: now.Add(filterPause)}
	return true
}

// put caches a filter unless it is larger than room, and evicts the least recently used ones.
func (s *filterCache) put(id ID, f *filter, room int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.filters[id]
	if e == nil || e.filter != nil || f.size() > room {
		return
	}
	s.size += f.size()
	for s.size > room {
		var oldest *shelved
		for _, other := range s.filters {
			if other.filter != nil && (oldest == nil || other.used.Load() < oldest.used.Load()) {
				oldest = other
			}
		}
		s.size -= oldest.size()
		oldest.filter, oldest.again = nil, e.again
	}
	e.filter = f
	e.used.Store(s.moves.Add(2) - 1) // after all uses so far, before later ones
}

// retry lets a filter that is not cached be requested again at once. A cached filter stays, because the rows of its
// cell never change.
func (s *filterCache) retry(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.filters[id]; e != nil && e.filter == nil {
		delete(s.filters, id)
	}
}

// forget removes a filter, which may be requested again at once.
func (s *filterCache) forget(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.filters[id]; e != nil {
		if e.filter != nil {
			s.size -= e.size()
		}
		delete(s.filters, id)
	}
}
