// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

func rings(keys []cell.Key) []int64 { return column(keys, func(k cell.Key) int64 { return k.Ring }) }

func digests(keys []cell.Key) [][]byte {
	return column(keys, func(k cell.Key) []byte { return bytes.Clone(k.Digest[:]) })
}

const sqlLookup = `SELECT j.n, k.puid FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS j (ring, digest, n)
	JOIN locus_key AS k ON k.ring = j.ring AND k.digest = j.digest`

// Lookup runs one statement.
func (t *tx) Lookup(ctx context.Context, keys []cell.Key) ([]int64, error) {
	return t.lookup(ctx, keys, func() {})
}

// lookup is Lookup, and sends the statements that then queues in the same round trip.
func (t *tx) lookup(ctx context.Context, keys []cell.Key, then func()) ([]int64, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	puids := make([]int64, len(keys))
	if len(keys) == 0 {
		return puids, nil
	}
	t.queue.Queue(sqlLookup, rings(keys), digests(keys)).Query(eachRow(func(r pgx.Rows) error {
		var n, puid int64
		err := r.Scan(&n, &puid)
		if err == nil {
			puids[n-1] = puid
		}
		return err
	}))
	then()
	if err := t.flush(ctx); err != nil {
		return nil, fmt.Errorf("look up %d keys: %w", len(keys), err)
	}
	return puids, nil
}

const (
	// sqlUsed reads the last puid drawn, which a rollback does not undo.
	sqlUsed = "SELECT last_value - (NOT is_called)::int FROM locus_puid"

	sqlSequence = "SELECT last_value - (NOT is_called)::int, (pg_sequence_parameters('locus_puid'::regclass)).maximum_value FROM locus_puid"

	// sqlAllocate draws puids in batch order for the keys that have none, unless fewer than $3 are left, and writes the
	// keys in index order, as every writer does. It waits for another transaction that is writing the same key; if that
	// one commits, the puid drawn here becomes a gap.
	sqlAllocate = `INSERT INTO locus_key (ring, digest, puid)
		SELECT ring, digest, puid
		FROM (SELECT ring, digest, nextval('locus_puid') AS puid
			FROM (SELECT j.ring, j.digest FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS j (ring, digest, n)
				WHERE NOT EXISTS (SELECT FROM locus_key AS k WHERE k.ring = j.ring AND k.digest = j.digest)
				AND $3::bigint <= $4::bigint - (SELECT last_value - (NOT is_called)::int FROM locus_puid)
				ORDER BY j.n) AS missing) AS drawn
		ORDER BY ring, digest
		ON CONFLICT DO NOTHING
		RETURNING ring, digest, puid`
)

// Allocate takes one round trip. It takes more if other transactions allocate the same keys concurrently, few puids are
// left, or the cell refused the last transaction.
func (t *tx) Allocate(ctx context.Context, keys []cell.Key) ([]cell.Allocation, error) {
	if err := t.alter(ctx); err != nil {
		return nil, err
	}
	if !t.cell.admits.Load() { // a transaction uses up the puids that it draws even if the head refuses it
		if err := t.pass(ctx); err != nil {
			return nil, fmt.Errorf("allocate %d keys: %w", len(keys), err)
		}
	}
	drawn := map[cell.Key]int64{}
	var once []cell.Key // in batch order
	for _, k := range keys {
		if _, twice := drawn[k]; !twice {
			drawn[k] = 0
			once = append(once, k)
		}
	}
	puids, err := t.lookup(ctx, keys, func() { t.queueDraw(once, len(once), drawn) })
	if err != nil {
		return nil, err
	}
	allocations := make([]cell.Allocation, len(keys))
	var noted, missing []cell.Key
	left := map[cell.Key]int64{}
	for i, k := range keys {
		switch _, twice := left[k]; {
		case puids[i] != cell.Nothing:
			allocations[i].PUID = puids[i]
		case drawn[k] != 0:
			allocations[i] = cell.Allocation{PUID: drawn[k], Fresh: true}
			noted = append(noted, k)
		case !twice:
			left[k] = 0
			missing = append(missing, k)
		}
	}
	t.noteKeys(noted)
	if len(missing) == 0 {
		return allocations, nil
	}
	return allocations, t.allocateLeft(ctx, missing, left, keys, allocations)
}

// allocateLeft allocates puids for keys that another transaction may have allocated by now.
func (t *tx) allocateLeft(ctx context.Context, missing []cell.Key, drawn map[cell.Key]int64, keys []cell.Key,
	allocations []cell.Allocation) error {
	var last int64
	t.queue.Queue(sqlUsed).QueryRow(func(row pgx.Row) error { return row.Scan(&last) })
	puids, err := t.Lookup(ctx, missing)
	if err != nil {
		return err
	}
	theirs := map[cell.Key]int64{}
	for i, puid := range puids {
		if puid != cell.Nothing {
			theirs[missing[i]] = puid
			delete(drawn, missing[i])
		}
	}
	missing = slices.DeleteFunc(missing, func(k cell.Key) bool { return theirs[k] != 0 })
	if len(missing) == 0 {
		return t.settle(ctx, keys, allocations, drawn, theirs)
	}
	// otherwise a refused transaction would use up the last few
	if room := t.cell.identity().Hi - last; int64(len(missing)) > room {
		return t.fail(fmt.Errorf("allocate in cell %s: %w", t.cell, cell.ErrNoRoom))
	}
	t.noteKeys(missing)
	t.queueDraw(missing, 0, drawn)
	if err := t.flush(ctx); err != nil {
		return fmt.Errorf("allocate %d keys: %w", len(missing), err)
	}
	return t.settle(ctx, keys, allocations, drawn, theirs)
}

// queueDraw queues the statement that allocates puids for keys that have none, if at least left puids remain. Keys that
// another transaction allocates at the same time are left out.
func (t *tx) queueDraw(keys []cell.Key, left int, drawn map[cell.Key]int64) {
	t.queue.Queue(sqlAllocate, rings(keys), digests(keys), int64(left), t.cell.identity().Hi).Query(eachRow(func(r pgx.Rows) error {
		return scanRow(r, func(row cell.Row) { drawn[row.Key] = row.PUID })
	}))
}

// settle fills in the allocations. Keys that other transactions allocated first are read by a separate statement,
// whose snapshot is newer than their commits.
func (t *tx) settle(ctx context.Context, keys []cell.Key, allocations []cell.Allocation,
	drawn, theirs map[cell.Key]int64) error {
	var late []cell.Key
	for k, puid := range drawn {
		if puid == 0 {
			late = append(late, k)
		}
	}
	if len(late) > 0 {
		puids, err := t.Lookup(ctx, late)
		if err != nil {
			return err
		}
		for i, k := range late {
			if puids[i] == cell.Nothing {
				return t.fail(cell.Damaged("locus_key", k.Ring, errors.New("the key was neither allocated nor there")))
			}
			theirs[k] = puids[i]
		}
	}
	for i, k := range keys {
		if allocations[i].PUID != 0 {
			continue
		}
		if puid, ok := theirs[k]; ok {
			allocations[i].PUID = puid
		} else {
			allocations[i] = cell.Allocation{PUID: drawn[k], Fresh: true}
		}
	}
	return nil
}
