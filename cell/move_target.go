// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// target is the database that a move fills, while the attempt owns it. Its head says Moved, so no other process reads
// or writes there, and each transaction checks that the mark is still the attempt's.
type target[T Store] struct {
	Opened[T]
	mark string
}

// Update runs fn in the target unless another attempt has claimed it.
func (t *target[T]) Update(ctx context.Context, fn func(T) error) error { return t.Exclusive(ctx, fn) }

// Exclusive runs fn in the target unless another attempt has claimed it.
func (t *target[T]) Exclusive(ctx context.Context, fn func(T) error) error {
	return t.Opened.Exclusive(ctx, func(tx T) error {
		head, err := tx.Head(ctx)
		switch {
		case err != nil:
			return err
		case head.Move != t.mark || head.Home != Moved:
			return errTaken
		}
		return fn(tx)
	})
}

// claim marks the target as this attempt's, if that destroys no content. same reports that target and source are the
// same database.
func (m *mover[T]) claim(ctx context.Context) (same bool, err error) {
	to, cmap := m.target.Opened, m.cells.Map()
	head, kept, err := readMap(ctx, to)
	switch {
	case err != nil:
		return false, err
	case head.Move == m.mark: // the mark was written into the source only
		return true, nil
	case kept != nil && kept.spec.ID != cmap.spec.ID:
		return false, fmt.Errorf("%w: %s has the cell map %s, not %s: it is of another installation", ErrIdentity, Redact(m.to.URL), kept.spec.ID, cmap.spec.ID)
	}
	if head == (Head{}) {
		if err := putFirst(ctx, to, cmap); err != nil {
			return false, err
		}
	}
	if err := to.Identify(ctx, cmap.IdentityOf(m.id, m.cells.opts.Rules)); err != nil {
		return false, err
	}
	return false, to.Exclusive(ctx, func(t T) error {
		if err := m.mine(ctx); err != nil { // otherwise the target might be taken from the attempt that proceeds
			return err
		}
		head, err := t.Head(ctx)
		if err != nil {
			return err
		}
		has, err := m.has(ctx, t)
		if err == nil {
			err = m.mayEmpty(head, has)
		}
		if m.full = has != ""; err != nil {
			return err
		}
		head.Home, head.Incarnation, head.Move = Moved, m.before.Incarnation+1, m.mark
		return errors.Join(m.opts.Copier(t).Journal(ctx, false), t.SetHead(ctx, head))
	})
}

// mayEmpty returns an error unless the content of the target may be deleted: an attempt at this very move has written
// it, or the cell left it there and the caller wants it replaced. has names a table with rows. A database that was
// created for this move also says that it serves, but has no rows and the first incarnation.
func (m *mover[T]) mayEmpty(head Head, has string) error {
	at, serves := Redact(m.to.URL), head.Home == Serving || head.Home == Moving && head.Incarnation >= m.before.Incarnation
	switch {
	case head.Home == Moved && head.Incarnation == m.before.Incarnation+1 && sameMove(m.mark, head.Move):
		return nil
	case serves && (has != "" || head.Incarnation > m.before.Incarnation):
		return fmt.Errorf("%w: %s is this cell, and %v: of a copy of the installation, or of a restored backup; choose another database", ErrOccupied, at, head.Home)
	case has == "", m.to.Replace:
		return nil
	}
	return fmt.Errorf("%w: %s has rows of this cell (table %s) that were left there when it moved away, or by another move: drop that database, or have the rows deleted",
		ErrLeft, at, has)
}

// has returns the name of a table that has rows, "" if there is none.
func (m *mover[T]) has(ctx context.Context, t T) (table string, err error) {
	rows := m.opts.Copier(t)
	for _, table := range rows.Tables() {
		found, err := rows.ReadRows(ctx, table.Name, nil, 1)
		if err != nil {
			return "", err
		}
		if len(found) > 0 && !initial(table, found[0]) {
			return table.Name, nil
		}
	}
	made, err := m.opts.Made(ctx, t, nil, 1)
	if len(made) > 0 {
		return JournaledEntity, nil
	}
	return "", err
}

// initial reports whether a row is as in a new database: its key is 1, and all other columns but the checksum are 0 or
// empty.
func initial(t Table, row []any) bool {
	if t.Summed() {
		row = row[:len(row)-1]
	}
	return t.Key == 1 && len(row) > 1 && row[0] == int64(1) && !slices.ContainsFunc(row[1:], func(v any) bool {
		b, is := v.([]byte)
		return v != any(int64(0)) && (!is || len(b) > 0)
	})
}

// empty deletes what an earlier attempt, or an earlier stay of the cell, has left in the target.
func (m *mover[T]) empty(ctx context.Context) error {
	if !m.full {
		return nil
	}
	if err := m.emptyTables(ctx); err != nil {
		return fmt.Errorf("empty the new database: %w", err)
	}
	return nil
}

func (m *mover[T]) emptyTables(ctx context.Context) error {
	for _, table := range m.tables {
		for more := true; more; {
			if err := m.target.Update(ctx, func(t T) error {
				rows, err := m.opts.Copier(t).ReadRows(ctx, table.Name, nil, moveBatch)
				if more = len(rows) == moveBatch; err != nil {
					return err
				}
				for i := range rows {
					rows[i] = key(table, rows[i])
				}
				return m.opts.Copier(t).DeleteRows(ctx, table.Name, rows)
			}); err != nil {
				return err
			}
		}
	}
	return m.each(ctx, m.target, func(keys [][]any) error { return m.opts.Make(ctx, nil, m.target, keys) })
}

func key(t Table, row []any) []any { return row[:t.Key] }
