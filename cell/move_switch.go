// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
)

// change blocks writers, copies the rest, and switches the map to the target.
func (m *mover[T]) change(ctx context.Context) error {
	m.tell("switch", "")
	begin := m.cells.opts.Now()
	var head Head
	if err := m.alone(ctx, func(_ T, h *Head) error {
		if h.Move != m.mark {
			return errTaken
		}
		h.Home = Moving
		head = *h
		return nil
	}); err != nil {
		return err
	}
	if err := m.follow(ctx, 0); err != nil {
		return err
	}
	if err := m.last(ctx, head); err != nil {
		return err
	}
	if err := m.point(ctx, head.Incarnation+1); err != nil {
		return err
	}
	m.progress.Pause = m.cells.opts.Now().Sub(begin)
	return nil
}

// last copies the rest while no process writes: the totals, the filter, the maps and the head. The head says Moved
// until the map names the target.
func (m *mover[T]) last(ctx context.Context, head Head) error {
	return m.from.View(ctx, func(from T) error {
		total, err := m.opts.Copier(from).ReadRows(ctx, Total, nil, 1)
		if err != nil {
			return fmt.Errorf("read totals: %w", err)
		}
		filter, err := from.Filter(ctx)
		if err != nil {
			return err
		}
		texts, err := from.CellMaps(ctx)
		if err != nil {
			return err
		}
		return m.target.Exclusive(ctx, func(to T) error {
			if err := m.opts.Copier(to).WriteRows(ctx, Total, total); err != nil {
				return fmt.Errorf("write totals: %w", err)
			}
			if err := to.Skip(ctx, skipped); err != nil {
				return err
			}
			if err := to.SetFilter(ctx, filter); err != nil {
				return err
			}
			for _, text := range texts {
				kept, err := ParseMap(text)
				if err != nil {
					return err
				}
				if err := putNewer(ctx, to, kept.Epoch(), text); err != nil {
					return err
				}
			}
			if err := m.opts.Last(ctx, from, to); err != nil {
				return err
			}
			head.Home, head.Incarnation = Moved, head.Incarnation+1
			return to.SetHead(ctx, head)
		})
	})
}

// point switches the map to the target. Then the target is marked as serving and the source as moved.
func (m *mover[T]) point(ctx context.Context, incarnation int) error {
	moved := func(s *Spec) {
		if s.Moved == nil {
			s.Moved = map[ID]Home{}
		}
		s.Moved[m.id] = Home{URL: m.to.URL, Incarnation: incarnation}
	}
	m.doubt = true
	var err error
	if m.cells.Map().spec.Authority == m.id {
		err = m.pointAuthority(ctx, moved)
	} else {
		err = m.cells.retry(ctx, func(cmap *Map) error {
			if m.switched(cmap) {
				return nil // the outcome of the swap was unknown, and it succeeded
			}
			// This must follow the reading of the map; see outrun.
			if err := m.mine(ctx); err != nil {
				return err
			}
			return m.cells.change(ctx, cmap, moved)
		})
	}
	if err != nil {
		return err
	}
	return m.settle(context.WithoutCancel(ctx))
}

// mine returns an error unless the source has this attempt's mark.
func (m *mover[T]) mine(ctx context.Context) error {
	return m.from.View(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err == nil && head.Move != m.mark {
			err = errTaken
		}
		return err
	})
}

// switched reports whether, according to a map, the cell has left the source.
func (m *mover[T]) switched(cmap *Map) bool {
	return cmap.spec.Moved[m.id].Incarnation > m.before.Incarnation
}

// settle applies the map to both databases: the target serves, the source does not. If settle does not run,
// Cells.arrived does the same for the target when it is opened.
func (m *mover[T]) settle(ctx context.Context) error {
	cmap := m.cells.Map()
	if home := cmap.spec.Moved[m.id]; m.target != nil && home.URL == m.to.URL {
		if err := arrive(ctx, m.target.Opened, cmap, home); err != nil {
			return err
		}
	}
	return m.alone(ctx, func(_ T, head *Head) error {
		if head.Incarnation == m.before.Incarnation { // false if the cell has come back since
			head.Home, head.Move = Moved, ""
		}
		return nil
	})
}

// pointAuthority moves the cell that stores the newest map: in one transaction the source gets the version that names
// the target, and is marked as moved.
func (m *mover[T]) pointAuthority(ctx context.Context, moved func(*Spec)) error {
	return m.cells.retry(ctx, func(old *Map) error {
		if m.switched(old) {
			return nil
		}
		next, err := old.successor(moved)
		if err != nil {
			return err
		}
		text, err := next.MarshalJSON()
		if err != nil {
			return err
		}
		if err := m.alone(ctx, func(t T, head *Head) error {
			if head.Move != m.mark {
				return errTaken
			}
			if epoch, _, err := t.CellMap(ctx); err != nil || epoch != old.Epoch() {
				return errors.Join(err, fmt.Errorf("%w: it has epoch %d, the one to follow has %d", ErrConflict, epoch,
					old.Epoch()))
			}
			head.Home, head.Move = Moved, ""
			return t.PutCellMap(ctx, next.Epoch(), text)
		}); err != nil {
			return err
		}
		m.cells.advance(next)
		m.cells.spread(ctx, old, next, text)
		return nil
	})
}

// arrive marks a database as serving that a move has filled and the map names.
func arrive[T Store](ctx context.Context, db Database[T], cmap *Map, home Home) error {
	text, err := cmap.MarshalJSON()
	if err != nil {
		return err
	}
	return db.Exclusive(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err != nil || !head.arriving(home) {
			return err
		}
		head.Home, head.Move, head.KnownEpoch = Serving, "", max(head.KnownEpoch, cmap.Epoch())
		return errors.Join(putNewer(ctx, t, cmap.Epoch(), text), t.SetHead(ctx, head))
	})
}

// arriving reports whether a database is the home that the map names but is not marked as serving yet. Its rows are
// complete, because the map names it only after the copy.
func (h Head) arriving(home Home) bool {
	return h.Home == Moved && h.Move != "" && h.Incarnation == home.Incarnation
}

// arrived marks a database as serving that the map names as the home of a cell, if the mover was stopped before it did.
func (c *Cells[T]) arrived(ctx context.Context, db Database[T], cmap *Map, id ID) error {
	home, moved := cmap.spec.Moved[id]
	if !moved {
		return nil
	}
	var head Head
	if err := db.View(ctx, func(t T) (err error) { head, err = t.Head(ctx); return err }); err != nil || !head.arriving(home) {
		return err
	}
	return arrive(ctx, db, cmap, home)
}

// giveUp lets the cell serve where it was, unless the map says that it has left, or another attempt proceeds.
func (m *mover[T]) giveUp(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if m.doubt && m.cells.Map().spec.Authority != m.id {
		// A swap with unknown outcome may still be in flight. This one waits for it, and changes the epoch that it
		// expects.
		if err := m.cells.retry(ctx, func(cmap *Map) error { return m.cells.change(ctx, cmap, func(*Spec) {}) }); err != nil {
			return fmt.Errorf("it is not known whether the cell has moved: repeat the move once the authority answers: %w", err)
		}
	}
	if m.switched(m.cells.Map()) {
		return m.settle(ctx)
	}
	return m.alone(ctx, func(t T, head *Head) error {
		if m.mark == "" || head.Move != m.mark {
			return nil
		}
		head.Home = Serving
		return m.opts.Copier(t).Journal(ctx, false)
	})
}
