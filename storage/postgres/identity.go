// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	sqlIdentity = "SELECT map, gen, idx, lo, hi, rules FROM locus_cell"

	// sqlSetIdentity is followed by the place.
	sqlSetIdentity = `INSERT INTO locus_cell (one, map, gen, idx, lo, hi, rules, sum, system, timeline, oid)
		SELECT 1, $1, $2, $3, $4, $5, $6, $7, `

	// DDL takes no arguments, so the bounds are formatted in; they are numbers.
	sqlPuids = "CREATE SEQUENCE locus_puid AS bigint MINVALUE %d MAXVALUE %d NO CYCLE"
)

// Identify writes the identity into a new database, or compares it with that of an existing one.
func (c *Cell) Identify(ctx context.Context, want cell.Identity) error {
	var got *cell.Identity
	read := func(t *tx) (err error) {
		got, err = t.identity(ctx)
		return err
	}
	err := c.run(ctx, reading, read)
	if err == nil && (got == nil || *got != want) {
		knownEpoch := false
		err = c.run(ctx, alone, func(t *tx) error {
			knownEpoch = false
			if err := read(t); err != nil {
				return err
			}
			if got != nil {
				took, err := t.take(ctx, want, *got)
				if took {
					got = &want
				}
				return err
			}
			knownEpoch = true
			t.row = document.NewCell(want)
			t.exec(sqlSetIdentity+c.target.profile.place(), want.Map, int32(want.Cell.Gen), int64(want.Cell.Index), want.Lo,
				want.Hi, want.Rules, t.row[len(t.row)-1])
			t.exec(fmt.Sprintf(sqlPuids, want.Lo+1, want.Hi))
			return nil
		})
		if err == nil && knownEpoch {
			c.unbeaten.Store(false) // the pulse of a new cell starts at the next write
		}
	}
	if err == nil && got != nil {
		err = want.Check(*got, c.target.shown)
	}
	if err != nil {
		return fmt.Errorf("identify %s: %w", c.target.shown, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id = want
	return nil
}

// take changes the database's identity to want, if it may; it reports whether it did.
func (t *tx) take(ctx context.Context, want, got cell.Identity) (bool, error) {
	head, err := t.Head(ctx)
	if err != nil {
		return false, err
	}
	used, err := rows(ctx, t, scalar[int64], sqlUsed)
	if err != nil || !want.Takes(got, head, uint64(used[0]-got.Lo)) {
		return false, err
	}
	t.exec("UPDATE locus_cell SET lo = $1, hi = $2, sum = $3", want.Lo, want.Hi,
		t.seal(map[string]any{"lo": want.Lo, "hi": want.Hi}))
	t.exec(fmt.Sprintf("ALTER SEQUENCE locus_puid MINVALUE %[1]d MAXVALUE %[2]d START WITH %[1]d RESTART WITH %[1]d",
		want.Lo+1, want.Hi))
	return true, nil
}

// identity reads the identity from the database, or returns nil if it has none.
func (t *tx) identity(ctx context.Context) (id *cell.Identity, err error) {
	err = t.query(ctx, sqlIdentity, func(r pgx.Rows) error {
		var gen int32
		var index int64
		id = new(cell.Identity)
		err := r.Scan(&id.Map, &gen, &index, &id.Lo, &id.Hi, &id.Rules)
		id.Cell = cell.ID{Gen: uint16(gen), Index: uint32(index)}
		return err
	})
	return id, err
}

// identity returns the identity established by Identify.
func (c *Cell) identity() cell.Identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}
