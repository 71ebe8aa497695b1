// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
)

// The hash is 64 bits wide, so nearly always a ring value has one row; comparing the digest here
// is cheaper than handing it over.
const sqlLookup = `
	SELECT j.key, k.digest, k.puid FROM json_each(?) AS j CROSS JOIN locus_key AS k ON k.ring = j.value`

// Lookup is one statement.
func (t *tx) Lookup(ctx context.Context, keys []cell.Key) ([]int64, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	puids := make([]int64, len(keys))
	if len(keys) == 0 {
		return puids, nil
	}
	rings := make([]int64, len(keys))
	for i, k := range keys {
		rings[i] = k.Ring
	}
	err := t.query(ctx, sqlLookup, func(r row) error {
		if i := r.int(0); bytes.Equal(r.blob(1), keys[i].Digest[:]) {
			puids[i] = r.int(2)
		}
		return nil
	}, numbers(t, rings))
	if err != nil {
		return nil, fmt.Errorf("look up %d keys: %w", len(keys), err)
	}
	return puids, nil
}

// Allocate is a look-up, a row for each new key, and one row of totals.
func (t *tx) Allocate(ctx context.Context, keys []cell.Key) ([]cell.Allocation, error) {
	puids, err := t.Lookup(ctx, keys)
	if err != nil {
		return nil, err
	}
	allocations := make([]cell.Allocation, len(keys))
	var fresh []keyRow
	seen := make(map[cell.Key]int64)
	lo, room := t.cell.id.Lo, t.cell.id.Hi-t.cell.id.Lo
	before := int64(-1)
	for i, puid := range puids {
		if puid != 0 {
			allocations[i].PUID = puid
			continue
		}
		puid, ok := seen[keys[i]]
		if !ok {
			if before < 0 {
				if before, err = t.used(ctx); err != nil {
					return nil, fmt.Errorf("allocate %d keys: %w", len(keys), err)
				}
			}
			used := before + int64(len(fresh))
			if used >= room {
				return nil, t.fail(fmt.Errorf("allocate in cell %s: %w", t.cell.id.Cell, cell.ErrNoRoom))
			}
			puid = lo + 1 + used
			seen[keys[i]] = puid
			fresh = append(fresh, keyRow{keys[i], puid})
		}
		allocations[i] = cell.Allocation{PUID: puid, Fresh: true}
	}
	if len(fresh) == 0 {
		return allocations, nil
	}
	err = each(t, "INSERT INTO locus_key (ring, digest, puid) VALUES (?, ?, ?)", inOrder(fresh, keyRow.compare),
		func(s *stmt, k keyRow) error { return s.exec(k.Ring, k.Digest[:], k.puid) })
	if err == nil {
		err = t.exec("UPDATE locus_cell SET used = ?", before+int64(len(fresh)))
	}
	if err != nil {
		return nil, fmt.Errorf("allocate %d keys: %w", len(fresh), err)
	}
	return allocations, nil
}

type keyRow struct {
	cell.Key
	puid int64
}

func (k keyRow) compare(other keyRow) int {
	return cmp.Or(cmp.Compare(k.Ring, other.Ring), bytes.Compare(k.Digest[:], other.Digest[:]))
}

// used is the number of puids given away.
func (t *tx) used(ctx context.Context) (used int64, err error) {
	err = t.query(ctx, "SELECT used FROM locus_cell", func(r row) error { used = r.int(0); return nil })
	return used, err
}
