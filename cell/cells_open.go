// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/internal/mutant"
)

// open reads the map of the authority and finishes making the installation if need be.
func (c *Cells[T]) open(ctx context.Context) error {
	db, err := c.Dial(ctx, c.opts.Authority, c.opts.New != nil)
	if err != nil {
		return fmt.Errorf("open the authority: %w", err)
	}
	head, m, err := c.firstMap(ctx, db)
	if err != nil {
		return errors.Join(fmt.Errorf("open the authority: %w", err), db.Close())
	}
	c.m.Store(m)
	if _, moved := m.spec.Moved[m.spec.Authority]; moved {
		if err := db.Close(); err != nil {
			return err
		}
		return c.Refresh(ctx)
	}
	if head.Home == Moved {
		return errors.Join(fmt.Errorf("open the authority: %w: the cell has left this database: give the URL that it has now", ErrIdentity), db.Close())
	}
	if err := db.Identify(ctx, m.IdentityOf(m.spec.Authority, c.opts.Rules)); err != nil {
		return errors.Join(err, db.Close())
	}
	c.keep(m.spec.Authority, &connection[T]{Opened: db, url: c.opts.Authority})
	return c.finish(ctx, head, m)
}

// firstMap reads the map of the authority, and writes the first one into a new database.
func (c *Cells[T]) firstMap(ctx context.Context, db Opened[T]) (Head, *Map, error) {
	head, m, err := readMap(ctx, db)
	if m != nil || err != nil {
		return head, m, err
	}
	switch {
	case head != Head{}:
		return head, nil, fmt.Errorf("%w: it holds no cell map, but is a cell of some installation: databases were swapped or copied; give each its own name back", ErrIdentity)
	case c.opts.New == nil:
		return head, nil, fmt.Errorf("%w: the database is empty", ErrMissing)
	}
	spec := *c.opts.New
	if spec.Until.IsZero() {
		spec.Until = c.horizon()
	}
	if m, err = NewMap(spec); err != nil {
		return head, nil, err
	}
	if err := putFirst(ctx, db, m); err != nil {
		return head, nil, err
	}
	return readMap(ctx, db) // of whoever was first
}

// finish makes the other cells unless the head of the authority says that it is done.
func (c *Cells[T]) finish(ctx context.Context, head Head, m *Map) error {
	if head.Told > 0 && !mutant.On("P6z") {
		return nil
	}
	authority, err := c.Cell(m.spec.Authority)
	if err != nil {
		return err
	}
	if err := c.Ensure(ctx, m.Cells()); err != nil {
		return fmt.Errorf("make the cells: %w", err)
	}
	return authority.Exclusive(ctx, func(t T) error { return tell(ctx, t, m.Epoch()) })
}

// readMap reads what a database says about itself and the newest map it has, nil if none.
func readMap[T Store](ctx context.Context, db Database[T]) (head Head, m *Map, err error) {
	var text []byte
	err = db.View(ctx, func(t T) (err error) {
		if head, err = t.Head(ctx); err == nil {
			_, text, err = t.CellMap(ctx)
		}
		return err
	})
	if err == nil && len(text) > 0 {
		m, err = ParseMap(text)
	}
	return head, m, err
}

// putFirst writes a map into a database that has none.
func putFirst[T Store](ctx context.Context, db Database[T], m *Map) error {
	text, err := m.MarshalJSON()
	if err != nil {
		return err
	}
	return db.Exclusive(ctx, func(t T) error {
		if epoch, _, err := t.CellMap(ctx); err != nil || epoch > 0 {
			return err
		}
		return t.PutCellMap(ctx, m.Epoch(), text)
	})
}
