// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

// Identify writes who the cell is into a new file, and compares with what an old one says. It is
// called once, before anything is written.
func (c *Cell) Identify(ctx context.Context, want cell.Identity) error {
	got, err := c.identity(ctx)
	if err != nil {
		return err
	}
	if got == nil {
		err = c.write(ctx, alone, func(t *tx) error { return t.setIdentity(want) })
	} else {
		err = want.Check(*got, c.path)
	}
	if err == nil {
		c.id = want
	}
	return err
}

// identity reads who the cell is, nil for a file that was never told.
func (c *Cell) identity(ctx context.Context) (id *cell.Identity, err error) {
	err = c.View(ctx, func(t resolve.Tx) error {
		return t.(*tx).query(ctx, "SELECT map, gen, idx, lo, hi, rules FROM locus_cell", func(r row) error {
			id = &cell.Identity{
				Map: r.text(0), Cell: cell.ID{Gen: uint16(r.int(1)), Index: uint32(r.int(2))},
				Lo: r.int(3), Hi: r.int(4), Rules: r.text(5),
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read identity of %s: %w", c.path, err)
	}
	return id, nil
}

func (t *tx) setIdentity(id cell.Identity) error {
	return t.exec("INSERT INTO locus_cell (one, map, gen, idx, lo, hi, rules) VALUES (1, ?, ?, ?, ?, ?, ?)",
		id.Map, int64(id.Cell.Gen), int64(id.Cell.Index), id.Lo, id.Hi, id.Rules)
}
