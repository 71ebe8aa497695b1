// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
)

// CellMap reads one row.
func (t *tx) CellMap(ctx context.Context) (epoch uint64, text []byte, err error) {
	if err := t.use(ctx); err != nil {
		return 0, nil, err
	}
	err = t.query(ctx, "SELECT epoch, body FROM locus_map ORDER BY epoch DESC LIMIT 1", func(r row) error {
		epoch, text = uint64(r.int(0)), []byte(r.text(1))
		return nil
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read cell map: %w", err)
	}
	return epoch, text, nil
}

// CellMaps reads the table in epoch order.
func (t *tx) CellMaps(ctx context.Context) ([][]byte, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	texts, err := rows(ctx, t, func(r row) ([]byte, error) { return []byte(r.text(0)), nil },
		"SELECT body FROM locus_map ORDER BY epoch")
	if err != nil {
		return nil, fmt.Errorf("read cell maps: %w", err)
	}
	return texts, nil
}

// PutCellMap reads the newest version and writes a row. No other transaction can write between the two.
func (t *tx) PutCellMap(ctx context.Context, epoch uint64, text []byte) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	newest, old, err := t.CellMap(ctx)
	if err != nil {
		return err
	}
	if epoch <= newest {
		return fmt.Errorf("put cell map %d in cell %s, which has %d: %w", epoch, t.cell, newest, cell.ErrConflict)
	}
	if newest != 0 && cell.Supersedes(text, old) {
		err = t.exec("DELETE FROM locus_map WHERE epoch = ?", int64(newest))
	}
	if err == nil {
		err = t.exec("INSERT INTO locus_map (epoch, body, sum) VALUES (?, ?, ?)", int64(epoch), string(text),
			cell.Sum(int64(epoch), string(text)))
	}
	if err != nil {
		return fmt.Errorf("put cell map %d: %w", epoch, err)
	}
	return nil
}

// Filter reads one row.
func (t *tx) Filter(ctx context.Context) (filter []byte, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	err = t.query(ctx, "SELECT body FROM locus_filter", func(r row) error { filter = r.blob(0); return nil })
	if err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	return filter, nil
}

// SetFilter writes one row, or deletes it if filter is nil.
func (t *tx) SetFilter(ctx context.Context, filter []byte) (err error) {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if filter == nil {
		err = t.exec("DELETE FROM locus_filter")
	} else {
		err = t.exec("INSERT INTO locus_filter (one, body, sum) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET body = excluded.body, sum = excluded.sum",
			filter, cell.Sum(int64(1), filter))
	}
	if err != nil {
		return fmt.Errorf("write filter: %w", err)
	}
	return nil
}
