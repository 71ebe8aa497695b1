// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"crypto/rand"
	"fmt"
)

// ErrCopy means that an installation was opened at a copy of it: its cell map leads to the original, which would be
// written to. Readdress turns the copy into a separate installation.
var ErrCopy = fmt.Errorf("%w: it is a copy of the installation that its cell map points to", ErrIdentity)

// original rejects an authority that is not the database that its own map names, however the URL is spelled.
func (c *Cells[T]) original(ctx context.Context, db Opened[T], head Head, m *Map) error {
	if c.opts.Check != nil {
		if err := c.opts.Check(m); err != nil {
			return err
		}
	}
	a := m.spec.Authority
	own := m.URL(a)
	if head.Home == Moved { // it left this database, which is the one named by its generation
		s := m.spec
		s.Moved = nil
		own = s.url(a)
	}
	if own == "" || own == c.opts.Authority {
		return nil
	}
	return c.same(ctx, db, c.opts.Authority, a, own)
}

// same returns ErrCopy unless the database opened at a URL is the one where a map places the cell.
func (c *Cells[T]) same(ctx context.Context, db Opened[T], at string, id ID, own string) error {
	what := fmt.Sprintf("%s was opened as cell %v, and the cell map says that this cell is at %s", Redact(at), id,
		Redact(own))
	const do = "name the installation as its map does; or, if it was restored here, run locus cell restored --map OLD=NEW"
	same, err := c.leads(ctx, own, db)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s, which cannot be read to compare them: %s: %w", ErrCopy, what, do, err)
	case !same:
		return fmt.Errorf("%w: %s, which is another database: %s", ErrCopy, what, do)
	}
	return nil
}

// leads reports whether a URL leads to a database, however it is spelled: it writes a mark into the database and reads
// it through the URL. Nothing is written through the URL.
func (c *Cells[T]) leads(ctx context.Context, url string, db Database[T]) (bool, error) {
	driver, err := c.opts.Driver(url)
	if err != nil {
		return false, err
	}
	mark := rand.Text()
	if err := db.Exclusive(ctx, func(t T) error { return t.Mark(ctx, mark) }); err != nil {
		return false, err
	}
	marked, err := driver.Marked(ctx, url)
	return marked == mark, err
}
