// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/internal/document"
)

// Identify writes the identity into a new file, or compares it with that of an existing file. It must be called
// before anything but the cell map is written.
func (c *Cell) Identify(ctx context.Context, want cell.Identity) error {
	var got *cell.Identity
	read := func(t storage.Tx) (err error) {
		got, err = t.(*tx).identity(ctx)
		return err
	}
	// The write connection is open.
	if err := c.Read(ctx, read); err != nil {
		return fmt.Errorf("read identity of %s: %w", c.path, err)
	}
	if got == nil || *got != want {
		if err := c.write(ctx, alone, func(t *tx) error {
			if err := read(t); err != nil {
				return err
			}
			if got == nil {
				got = &want
				return t.setIdentity(want)
			}
			s, err := t.own(ctx)
			if err != nil || !want.Takes(*got, s.head, uint64(s.used)) {
				return err
			}
			got = &want
			sum, err := t.seal(ctx, map[string]any{"lo": want.Lo, "hi": want.Hi})
			if err != nil {
				return err
			}
			return t.exec("UPDATE locus_cell SET lo = ?, hi = ?, sum = ?", want.Lo, want.Hi, sum)
		}); err != nil {
			return fmt.Errorf("write identity of %s: %w", c.path, err)
		}
	}
	if err := want.Check(*got, c.path); err != nil {
		return err
	}
	c.id.Store(&want)
	return nil
}

// identity returns the identity in the file, or nil if it has none yet.
func (t *tx) identity(ctx context.Context) (id *cell.Identity, err error) {
	err = t.query(ctx, "SELECT map, gen, idx, lo, hi, rules FROM locus_cell", func(r row) error {
		id = &cell.Identity{
			Map: r.text(0), Cell: cell.ID{Gen: uint16(r.int(1)), Index: uint32(r.int(2))},
			Lo: r.int(3), Hi: r.int(4), Rules: r.text(5),
		}
		return nil
	})
	return id, err
}

func (t *tx) setIdentity(id cell.Identity) error {
	row := document.NewCell(id)
	return t.exec("INSERT INTO locus_cell (one, map, gen, idx, lo, hi, rules, sum) VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
		id.Map, int64(id.Cell.Gen), int64(id.Cell.Index), id.Lo, id.Hi, id.Rules, row[len(row)-1])
}

// seal returns the new checksum of the row with the identity and the head, with some of its values changed. Both
// are written rarely.
func (t *tx) seal(ctx context.Context, values map[string]any) (sum any, err error) {
	rows, err := t.ReadRows(ctx, document.CellTable, nil, 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return document.ChangeCell(rows[0], values), nil
}
