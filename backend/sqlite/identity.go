// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

// identify writes who the cell is into a new file, and compares with what an old one says.
func (c *Cell) identify(ctx context.Context, want Identity) error {
	c.id = want
	got, err := c.readIdentity(ctx)
	if err != nil {
		return err
	}
	if got == nil {
		return c.Update(ctx, func(rt resolve.Tx) error { return rt.(*tx).setIdentity(want) })
	}
	switch {
	case got.Map != want.Map:
		return fmt.Errorf("%w: %s belongs to the cell map %s, not to %s: the file is of another installation; put the right one in its place",
			ErrIdentity, c.path, got.Map, want.Map)
	case got.Cell != want.Cell:
		return fmt.Errorf("%w: %s is cell %s, not %s: files were swapped or copied; give each its own name back",
			ErrIdentity, c.path, got.Cell, want.Cell)
	case got.Lo != want.Lo || got.Hi != want.Hi:
		return fmt.Errorf("%w: %s has puids %d to %d, not %d to %d: the cell map is not the one that it was made with; restore the map",
			ErrIdentity, c.path, got.Lo+1, got.Hi, want.Lo+1, want.Hi)
	case got.Rules != want.Rules:
		return fmt.Errorf("%w: %s was made under the rules %q, this Locus works under %q: start it with the schema and pack of then, or ingest the sources into a new data directory",
			ErrIdentity, c.path, got.Rules, want.Rules)
	}
	return nil
}

// readIdentity reads who the cell is, nil for a file that was never told.
func (c *Cell) readIdentity(ctx context.Context) (id *Identity, err error) {
	err = c.View(ctx, func(t resolve.Tx) (err error) {
		id, err = t.(*tx).identity(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read identity of %s: %w", c.path, err)
	}
	return id, nil
}

func (t *tx) identity(ctx context.Context) (id *Identity, err error) {
	err = t.query(ctx, "SELECT map, gen, idx, lo, hi, rules FROM locus_cell", func(r row) error {
		id = &Identity{
			Map: r.text(0), Cell: cell.ID{Gen: uint16(r.int(1)), Index: uint32(r.int(2))},
			Lo: r.int(3), Hi: r.int(4), Rules: r.text(5),
		}
		return nil
	})
	return id, err
}

func (t *tx) setIdentity(id Identity) error {
	return t.exec(`INSERT INTO locus_cell (one, map, gen, idx, lo, hi, rules, used, seq, records, entities, merges, splits)
		VALUES (1, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0)`,
		id.Map, int64(id.Cell.Gen), int64(id.Cell.Index), id.Lo, id.Hi, id.Rules)
}
