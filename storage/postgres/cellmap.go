// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

// CellMap reads one row.
func (t *tx) CellMap(ctx context.Context) (epoch uint64, text []byte, err error) {
	if err := t.use(ctx); err != nil {
		return 0, nil, err
	}
	err = t.query(ctx, "SELECT epoch, body FROM locus_map ORDER BY epoch DESC LIMIT 1", func(r pgx.Rows) error {
		var e int64
		var body string
		err := r.Scan(&e, &body)
		epoch, text = uint64(e), []byte(body)
		return err
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
	texts, err := rows(ctx, t, func(r pgx.Rows) ([]byte, error) {
		var body string
		err := r.Scan(&body)
		return []byte(body), err
	}, "SELECT body FROM locus_map ORDER BY epoch")
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
	// LOCK is sent separately, because preparing a statement for the first time takes its table lock at once, and two
	// transactions that both hold that lock would deadlock here.
	t.exec("LOCK TABLE locus_map IN SHARE ROW EXCLUSIVE MODE")
	err := t.flush(ctx)
	var newest uint64
	var old []byte
	if err == nil {
		newest, old, err = t.CellMap(ctx)
	}
	if err != nil {
		return fmt.Errorf("put cell map %d in %s: %w", epoch, t.cell, err)
	}
	if epoch <= newest {
		return t.fail(fmt.Errorf("put cell map %d in %s, which has %d: %w", epoch, t.cell, newest, cell.ErrConflict))
	}
	if newest != 0 && cell.Supersedes(text, old) {
		t.exec("DELETE FROM locus_map WHERE epoch = $1", int64(newest))
	}
	t.exec("INSERT INTO locus_map (epoch, body, sum) VALUES ($1, $2, $3)", int64(epoch), string(text),
		cell.Sum(int64(epoch), string(text)))
	if err := t.flush(ctx); err != nil {
		return fmt.Errorf("put cell map %d in %s: %w", epoch, t.cell, err)
	}
	return nil
}

// Filter reads one row.
func (t *tx) Filter(ctx context.Context) (filter []byte, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	err = t.query(ctx, "SELECT body FROM locus_filter", func(r pgx.Rows) error { return r.Scan(&filter) })
	if err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	return filter, nil
}

// SetFilter writes one row, or deletes it if filter is nil.
func (t *tx) SetFilter(ctx context.Context, filter []byte) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if filter == nil {
		t.exec("DELETE FROM locus_filter")
	} else {
		t.exec("INSERT INTO locus_filter (one, body, sum) VALUES (1, $1, $2) ON CONFLICT (one) DO UPDATE SET body = excluded.body, sum = excluded.sum",
			filter, cell.Sum(int64(1), filter))
	}
	return nil
}
