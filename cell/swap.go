// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// copying limits how long writing a map's copies, or reading a filter, may take in the background.
const copying = 30 * time.Second

// Swap makes next the version after Map: one compare-and-swap in the authority. Copies for the other cells follow in
// the background. The error is ErrMap if next may not follow (Append), ErrConflict if another process was first:
// Refresh and begin again. After ErrCommitUnknown, Refresh shows whether next was written.
func (c *Cells[T]) Swap(ctx context.Context, next *Map) error {
	old := c.Map()
	if err := Append(old, next); err != nil {
		return err
	}
	return c.swap(ctx, old, next)
}

func (c *Cells[T]) swap(ctx context.Context, old, next *Map) error {
	text, err := next.MarshalJSON()
	if err != nil {
		return err
	}
	authority, err := c.home(old.spec.Authority)
	if err != nil {
		return err
	}
	err = authority.Exclusive(ctx, func(t T) error {
		epoch, _, err := t.CellMap(ctx)
		switch {
		case err != nil:
			return err
		case epoch > old.Epoch():
			return fmt.Errorf("%w: it has epoch %d, the one to follow has %d", ErrConflict, epoch, old.Epoch())
		case epoch < old.Epoch():
			return fmt.Errorf("%w: the authority has epoch %d and had %d: it came back from a backup; adopt the newest copy first", ErrIdentity, epoch, old.Epoch())
		}
		head, err := t.Head(ctx)
		if err != nil {
			return err
		}
		if head.Home != Serving {
			return fmt.Errorf("%w: the authority is leaving its database", ErrConflict)
		}
		if err := t.PutCellMap(ctx, next.Epoch(), text); err != nil {
			return err
		}
		head.KnownEpoch = max(head.KnownEpoch, next.Epoch())
		return t.SetHead(ctx, head)
	})
	if err != nil {
		return fmt.Errorf("write cell map %d: %w", next.Epoch(), err)
	}
	c.advance(next)
	c.spread(ctx, old, next, text)
	return nil
}

// spread writes copies of a map into the other cells, as far as they can be reached. If the map changes more than the
// date, it also records the epoch in their heads; otherwise only open cells get a copy.
func (c *Cells[T]) spread(ctx context.Context, old, next *Map, text []byte) {
	ids, news := next.Cells(), !onlyLater(old, next)
	if !news {
		ids = c.opened()
	}
	c.goes(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), copying)
		defer cancel()
		_ = each(ctx, ids, func(ctx context.Context, id ID) error {
			if id != next.spec.Authority {
				c.event(Event{What: EventCopied, Cell: id, Epoch: next.Epoch(), Err: c.putCopy(ctx, id, next.Epoch(), text, news)})
			}
			return nil
		})
	})
}

// putCopy writes a copy of the map into a cell that has an older one.
func (c *Cells[T]) putCopy(ctx context.Context, id ID, epoch uint64, text []byte, news bool) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	if !news {
		return h.Update(ctx, func(t T) error { return putNewer(ctx, t, epoch, text) })
	}
	return h.Exclusive(ctx, func(t T) error { return putNews(ctx, t, epoch, text) })
}

// putNews writes a map into a cell, and records the epoch in its head.
func putNews[T Store](ctx context.Context, t T, epoch uint64, text []byte) error {
	if err := putNewer(ctx, t, epoch, text); err != nil {
		return err
	}
	return tell(ctx, t, epoch)
}

func putNewer[T Store](ctx context.Context, t T, epoch uint64, text []byte) error {
	has, _, err := t.CellMap(ctx)
	if err != nil || has >= epoch {
		return err
	}
	return t.PutCellMap(ctx, epoch, text)
}

// tell records in the head of a cell that a map of this epoch exists.
func tell[T Store](ctx context.Context, t T, epoch uint64) error {
	head, err := t.Head(ctx)
	if err != nil || head.KnownEpoch >= epoch {
		return err
	}
	head.KnownEpoch = epoch
	return t.SetHead(ctx, head)
}

// tellFirst records the map in a cell of an announced generation unless this was done before: until then another growth
// may take the cell. The error is ErrIdentity if the database was identified by the map of as a cell of another growth,
// and the process has learned of the announcement since.
func (c *Cells[T]) tellFirst(ctx context.Context, db Opened[T], of *Map, id ID) error {
	m := c.Map()
	if m == nil || id.Gen == 0 || !m.Has(id) {
		return nil
	}
	was := of.IdentityOf(id, c.opts.Rules)
	if err := was.Keeps(m.IdentityOf(id, c.opts.Rules), "the place of the cell"); err != nil {
		return err
	}
	var head Head
	if err := db.View(ctx, func(t T) (err error) {
		head, err = t.Head(ctx)
		return err
	}); err != nil || head.KnownEpoch > 0 {
		return err
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return err
	}
	return db.Exclusive(ctx, func(t T) error { return putNews(ctx, t, m.Epoch(), text) })
}

// Supersedes reports whether a version of a cell map differs from the one before it only by a later date. Such a
// version replaces its predecessor, because two of them are written in every notice period.
func Supersedes(next, old []byte) bool {
	n, err := ParseMap(next)
	if err != nil {
		return false
	}
	o, err := ParseMap(old)
	return err == nil && n.Epoch() > o.Epoch() && n.spec.ID == o.spec.ID && onlyLater(o, n)
}

// onlyLater reports whether next differs from old at most by a later date.
func onlyLater(old, next *Map) bool {
	o, n := old.spec, next.spec
	same := len(n.Generations) == len(o.Generations) && n.Current == o.Current && n.Floor == o.Floor &&
		n.Authority == o.Authority && n.MinFormat == o.MinFormat && len(n.Moved) == len(o.Moved)
	for id, home := range n.Moved {
		same = same && o.Moved[id] == home
	}
	return same
}

// Extend moves the end of the map forward when half of the notice is over, and does nothing before. Any process may
// call it, as often as it likes; one is enough.
func (c *Cells[T]) Extend(ctx context.Context) error {
	return c.retry(ctx, func(m *Map) error {
		if m.until == 0 || c.opts.Now().Before(m.spec.Until.Add(-c.opts.Notice/2)) {
			return nil
		}
		return c.change(ctx, m, func(s *Spec) { s.Until = later(s.Until, c.horizon()) })
	})
}

// Date gives a date to a map that has none, so that the installation can grow. No other process may use such a map,
// since it routes IDs of any date: Date is for a directory of files, under the lock that keeps other processes out.
// bound is the newest date of any existing ID. A map that has a date stays as it is.
func (c *Cells[T]) Date(ctx context.Context, bound time.Time) error {
	old := c.Map()
	if old.until != 0 {
		return nil
	}
	next, err := old.next(func(s *Spec) { s.Until = later(wholeSecond(bound.Add(time.Millisecond)), c.horizon()) })
	if err != nil {
		return err
	}
	return c.swap(ctx, old, next)
}

// attempts is how often a change of the map is tried when other processes change it first.
const attempts = 100

// retry calls do with the newest map, and again when another process changed the map or the outcome is unknown.
func (c *Cells[T]) retry(ctx context.Context, do func(m *Map) error) error {
	for n := 1; ; n++ {
		err := do(c.Map())
		if err == nil || n == attempts || !errors.Is(err, ErrConflict) && !errors.Is(err, ErrCommitUnknown) {
			return err
		}
		if err := c.Refresh(ctx); err != nil {
			return err
		}
	}
}

func (c *Cells[T]) change(ctx context.Context, m *Map, change func(*Spec)) error {
	next, err := m.successor(change)
	if err != nil {
		return err
	}
	return c.swap(ctx, m, next)
}

// successor returns the changed version after m, if it may follow m.
func (m *Map) successor(change func(*Spec)) (*Map, error) {
	next, err := m.next(change)
	if err == nil {
		err = Append(m, next)
	}
	if err != nil {
		return nil, err
	}
	return next, nil
}

func (m *Map) next(change func(*Spec)) (*Map, error) {
	s := m.Spec()
	s.Epoch++
	change(&s)
	return NewMap(s)
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
