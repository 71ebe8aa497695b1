// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// ErrCopy says that an installation was opened where a copy of it is: its cell map leads
// to the original, which would be written to. Readdress makes it an installation of its
// own.
var ErrCopy = fmt.Errorf("%w: it is a copy of the installation that its cell map leads to", ErrIdentity)

// original refuses an authority that is not the database that its own map names, however
// that is spelled.
func (c *Cells[T]) original(ctx context.Context, db Opened[T], head Head, m *Map) error {
	a := m.spec.Authority
	own := m.URL(a)
	if head.Home == Moved { // it left this database, which its generation named
		s := m.spec
		s.Moved = nil
		own = s.url(a)
	}
	if own == "" || own == c.opts.Authority {
		return nil
	}
	return c.same(ctx, db, c.opts.Authority, a, own)
}

// same compares the database that was opened at a URL with the one where a map says that
// the cell is: what is written through one handle is read through the other.
func (c *Cells[T]) same(ctx context.Context, db Opened[T], at string, id ID, own string) error {
	what := fmt.Sprintf("%s was opened as cell %v, and the cell map says that this cell is at %s", Redact(at), id, Redact(own))
	const do = "name the installation as its map does, or, if it was restored here, run locus cell restored --map OLD=NEW"
	named, err := c.Dial(ctx, own, false)
	if err != nil {
		return fmt.Errorf("%w: %s, which cannot be opened to compare them: %s: %w", ErrCopy, what, do, err)
	}
	same, err := Same(ctx, db, named)
	if err = errors.Join(err, named.Close()); err != nil {
		return fmt.Errorf("compare %s with %s: %w", Redact(at), Redact(own), err)
	}
	if !same {
		return fmt.Errorf("%w: %s, which is another database: %s", ErrCopy, what, do)
	}
	return nil
}

// Same reports whether two handles lead to the same database, however it was named: b
// reads what was written through a. Nothing is written through b.
func Same[T Store](ctx context.Context, a, b Database[T]) (bool, error) {
	mark := rand.Text()
	if err := a.Exclusive(ctx, func(t T) error { return t.Mark(ctx, mark) }); err != nil {
		return false, err
	}
	var marked string
	err := b.View(ctx, func(t T) (err error) { marked, err = t.Marked(ctx); return err })
	return marked == mark, err
}
