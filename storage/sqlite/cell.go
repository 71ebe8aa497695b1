// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/locus-db/locus/cell"
)

// The hash has 64 bits, so a ring value nearly always has one row; comparing the digest here is cheaper than
// passing it to SQLite.
const (
	sqlLookup = `SELECT j.key, k.digest, k.puid FROM json_each(?) AS j CROSS JOIN locus_key AS k ON k.ring = j.value`
	sqlScan   = `SELECT ring, digest, puid FROM locus_key WHERE (ring, digest) > (?, ?) ORDER BY ring, digest LIMIT +?`
)

var (
	insertKey        = inserting("locus_key (ring, digest, puid)", 3, "")
	insertMissingKey = inserting("locus_key (ring, digest, puid)", 3, "ON CONFLICT DO NOTHING")
)

// Lookup runs one statement.
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

// Allocate looks up the keys that may be there and inserts a row for each new one.
func (t *tx) Allocate(ctx context.Context, keys []cell.Key) ([]cell.Allocation, error) {
	if err := t.alter(ctx); err != nil {
		return nil, err
	}
	puids, err := t.stored(ctx, keys)
	if err != nil {
		return nil, err
	}
	s, err := t.own(ctx)
	if err != nil {
		return nil, fmt.Errorf("allocate %d keys: %w", len(keys), err)
	}
	used := s.used
	lo, hi := t.cell.bounds()
	allocations := make([]cell.Allocation, len(keys))
	var fresh []cell.Row
	seen := make(map[cell.Key]int64)
	for i, puid := range puids {
		if puid != cell.Nothing {
			allocations[i].PUID = puid
			continue
		}
		puid, ok := seen[keys[i]]
		if !ok {
			if used >= hi-lo {
				return nil, t.fail(fmt.Errorf("allocate in cell %s: %w", t.cell, cell.ErrNoRoom))
			}
			used++
			puid = lo + used
			seen[keys[i]] = puid
			fresh = append(fresh, cell.Row{Key: keys[i], PUID: puid})
		}
		allocations[i] = cell.Allocation{PUID: puid, Fresh: true}
	}
	t.cell.absent.add(fresh)
	if err := t.putKeys(insertKey, fresh); err != nil {
		return nil, fmt.Errorf("allocate %d keys: %w", len(fresh), err)
	}
	s.used = used
	return allocations, nil
}

func (t *tx) putKeys(in insert, keys []cell.Row) error {
	_, err := insertAll(t, in, inOrder(keys, func(a, b cell.Row) int { return a.Key.Compare(b.Key) }), func(to *list, k cell.Row) {
		to.add(k.Key.Ring, k.Key.Digest[:], k.PUID)
	})
	return err
}

// Copy inserts the rows, several per statement.
func (t *tx) Copy(ctx context.Context, rows []cell.Row) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	t.cell.absent.stop()
	if err := t.putKeys(insertMissingKey, rows); err != nil {
		return fmt.Errorf("copy %d keys: %w", len(rows), err)
	}
	return nil
}

// Scan reads the table in key order.
func (t *tx) Scan(ctx context.Context, after *cell.Key, limit int) ([]cell.Row, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	ring, digest := int64(math.MinInt64), []byte{} // before every row: no digest is empty
	if after != nil {
		ring, digest = after.Ring, after.Digest[:]
	}
	keys, err := rows(ctx, t, func(r row) (k cell.Row, err error) {
		k = cell.Row{Key: cell.Key{Ring: r.int(0)}, PUID: r.int(2)}
		if copy(k.Key.Digest[:], r.blob(1)) != len(k.Key.Digest) {
			err = cell.Damaged("locus_key", r.int(0), errors.New("the digest of a key is too short"))
		}
		return k, err
	}, sqlScan, ring, digest, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("scan keys: %w", err)
	}
	return keys, nil
}

// Drop runs one statement.
func (t *tx) Drop(ctx context.Context, limit int) (int, error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	n := 0
	err := t.query(ctx, `DELETE FROM locus_key WHERE (ring, digest) IN (SELECT ring, digest FROM locus_key LIMIT +?) RETURNING 1`,
		func(row) error { n++; return nil }, int64(limit))
	if err != nil {
		return 0, fmt.Errorf("drop keys: %w", err)
	}
	return n, nil
}

// Skip marks the next n puids and the next n log positions as used.
func (t *tx) Skip(ctx context.Context, n uint64) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	s, err := t.own(ctx)
	if err != nil {
		return fmt.Errorf("skip %d puids: %w", n, err)
	}
	lo, hi := t.cell.bounds()
	s.used += int64(min(n, uint64(hi-lo-s.used)))
	s.seq += int64(min(n, uint64(math.MaxInt64-s.seq)))
	return nil
}
