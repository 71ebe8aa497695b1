// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
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

// Copy runs one statement.
func (t *tx) Copy(ctx context.Context, copied []cell.Row) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if len(copied) == 0 {
		return nil
	}
	first := map[cell.Key]bool{} // the first row of a key wins, as if rows were written one by one
	var kept []cell.Row
	for _, r := range copied {
		if !first[r.Key] {
			first[r.Key] = true
			kept = append(kept, r)
		}
	}
	kept = inOrder(kept, func(a, b cell.Row) int { return a.Key.Compare(b.Key) })
	keys := column(kept, func(r cell.Row) cell.Key { return r.Key })
	t.noteKeys(keys)
	t.exec(`INSERT INTO locus_key (ring, digest, puid) SELECT ring, digest, puid FROM unnest($1::bigint[], $2::bytea[], $3::bigint[]) AS j (ring, digest, puid)
		ON CONFLICT DO NOTHING`, rings(keys), digests(keys), column(kept, func(r cell.Row) int64 { return r.PUID }))
	return nil
}

// Scan reads the index in order.
func (t *tx) Scan(ctx context.Context, after *cell.Key, limit int) ([]cell.Row, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	where, args := "", []any{int64(limit)}
	if after != nil {
		where, args = "WHERE (ring, digest) > ($2, $3)", append(args, after.Ring, bytes.Clone(after.Digest[:]))
	}
	var all []cell.Row
	err := t.query(ctx, "SELECT ring, digest, puid FROM locus_key "+where+" ORDER BY ring, digest LIMIT $1", func(r pgx.Rows) error {
		return scanRow(r, func(row cell.Row) { all = append(all, row) })
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("scan keys: %w", err)
	}
	return all, nil
}

// scanRow reads a row of the directory.
func scanRow(r pgx.Rows, each func(cell.Row)) error {
	var row cell.Row
	var digest []byte
	if err := r.Scan(&row.Key.Ring, &digest, &row.PUID); err != nil {
		return err
	}
	copy(row.Key.Digest[:], digest)
	each(row)
	return nil
}

const sqlDrop = `WITH doomed AS MATERIALIZED (SELECT ring, digest FROM locus_key ORDER BY ring, digest LIMIT $1 FOR UPDATE)
	DELETE FROM locus_key AS k USING doomed WHERE k.ring = doomed.ring AND k.digest = doomed.digest RETURNING k.ring, k.digest`

// Drop deletes the first rows of the index, which it locks in order.
func (t *tx) Drop(ctx context.Context, limit int) (n int, err error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	var gone []cell.Key
	err = t.query(ctx, sqlDrop, func(r pgx.Rows) error {
		var k cell.Key
		var digest []byte
		err := r.Scan(&k.Ring, &digest)
		copy(k.Digest[:], digest)
		gone = append(gone, k)
		return err
	}, int64(limit))
	if err != nil {
		return 0, fmt.Errorf("drop keys: %w", err)
	}
	t.noteKeys(gone)
	return len(gone), nil
}

// sqlSkip saturates at the maximum bigint.
const sqlSkip = "UPDATE locus_total SET seq = seq + least($1, 9223372036854775807 - seq)"

// Skip locks the sequence, so that no other transaction draws from it before the commit, and restarts it. Changes
// already appended by this transaction come before the skipped positions.
func (t *tx) Skip(ctx context.Context, n uint64) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := t.pass(ctx); err != nil { // the head says if the appended rows are journaled
		return fmt.Errorf("skip %d puids: %w", n, err)
	}
	t.queueTotals()
	t.queueJournal()
	t.exec("ALTER SEQUENCE locus_puid NO CYCLE") // a no-op that takes the lock
	var last, hi int64
	err := t.query(ctx, sqlSequence, func(r pgx.Rows) error { return r.Scan(&last, &hi) })
	if err != nil {
		return fmt.Errorf("skip %d puids: %w", n, err)
	}
	if n < uint64(hi-last) {
		t.restart(last+int64(n), hi)
	} else {
		t.restart(hi, hi)
	}
	t.exec(sqlSkip, int64(min(n, math.MaxInt64)))
	return nil
}
