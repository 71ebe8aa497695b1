// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

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
