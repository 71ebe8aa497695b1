// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
)

// open reads the map of the authority and finishes creating the installation if needed. While the authority cannot be
// reached it uses the newest copy of the map that another cell has.
func (c *Cells[T]) open(ctx context.Context) error {
	db, err := c.Dial(ctx, c.opts.Authority, c.opts.New != nil)
	if err != nil {
		err = fmt.Errorf("open the authority: %w", err)
		if !away(err) || !c.openWithout(ctx) {
			return err
		}
		return c.listen(ctx)
	}
	head, m, err := c.firstMap(ctx, db)
	if err == nil && c.opts.Readdress != nil {
		m, err = c.readdress(ctx, db, m)
	}
	if err == nil {
		err = c.original(ctx, db, head, m)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open the authority: %w", err), db.Close())
	}
	if err := c.opens(ctx, m); err != nil {
		return errors.Join(err, db.Close())
	}
	c.m.Store(m)
	if _, moved := m.spec.Moved[m.spec.Authority]; moved {
		if err := db.Close(); err != nil {
			return err
		}
		if err := c.Refresh(ctx); err != nil {
			return err
		}
		return c.listen(ctx)
	}
	if head.Home == Moved {
		return errors.Join(fmt.Errorf("open the authority: %w: the cell has left this database: give the URL that it has now",
			ErrIdentity), db.Close())
	}
	if err = db.Identify(ctx, m.IdentityOf(m.spec.Authority, c.opts.Rules)); err == nil {
		err = c.examine(ctx, m.spec.Authority, c.opts.Authority, db)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	c.keep(m.spec.Authority, &connection[T]{Opened: db, url: c.opts.Authority})
	if err := c.finish(ctx, head, m); err != nil {
		return err
	}
	return c.listen(ctx)
}

// away reports whether an error means only that a database cannot be reached.
func away(err error) bool {
	for _, other := range []error{ErrMissing, ErrIdentity, ErrFormat, ErrPreflight, ErrWentBack} {
		if errors.Is(err, other) {
			return false
		}
	}
	return errors.Is(err, ErrUnavailable)
}

// openWithout adopts the newest copy of the map found in the cells at Others, including its URL of the authority, and
// reports whether there was one.
func (c *Cells[T]) openWithout(ctx context.Context) bool {
	var newest *Map
	for i, url := range c.opts.Others {
		if url == "" || url == c.opts.Authority {
			continue
		}
		if m, err := c.copyAt(ctx, ID{Index: uint32(i)}, url); err != nil {
			c.event(Event{What: EventOpened, Cell: ID{Index: uint32(i)}, Err: err})
		} else if newest == nil || m.Epoch() > newest.Epoch() {
			newest = m
		}
	}
	if newest == nil {
		return false
	}
	c.opts.Authority = newest.URL(newest.spec.Authority)
	c.m.Store(newest)
	return true
}

// copyAt reads a cell's copy of the map, and checks that the map places the cell at this database.
func (c *Cells[T]) copyAt(ctx context.Context, id ID, url string) (m *Map, err error) {
	db, err := c.Dial(ctx, url, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, m, err = readMap(ctx, db)
	switch {
	case err != nil:
		return nil, err
	case m == nil || !m.Has(id):
		return nil, fmt.Errorf("%w: %s holds no map that lists cell %v", ErrIdentity, Redact(url), id)
	case m.URL(id) != url:
		if err := c.same(ctx, db, url, id, m.URL(id)); err != nil {
			return nil, err
		}
	}
	return m, db.Identify(ctx, m.IdentityOf(id, c.opts.Rules))
}

// firstMap reads the map of the authority, and writes the first map into a new database.
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
	if err := c.fits(ctx, m, func(ID) bool { return true }); err != nil {
		return head, nil, err
	}
	if err := putFirst(ctx, db, m); err != nil {
		return head, nil, err
	}
	return readMap(ctx, db) // another process may have been first
}

// finish creates the other cells unless the head of the authority says that this was done.
func (c *Cells[T]) finish(ctx context.Context, head Head, m *Map) error {
	if head.KnownEpoch > 0 {
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

// readMap reads a database's head and the newest map it has, nil if none.
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
