// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage/internal/document"
)

// Tables that an update locks as a whole when it reads them, so that no other transaction inserts either. The locks
// are advisory: table locks would block vacuuming.
const (
	lockRollups = iota
	lockGenerations
)

// hold locks a table before the next statement, so that its snapshot is newer than the transactions it waited for.
// Only updates take the lock.
func (t *tx) hold(lock int) {
	if t.mode != reading && !t.held[lock] {
		t.held[lock] = true
		t.exec("SELECT pg_advisory_xact_lock($1)", lockKeys+int64(lock))
	}
}

// lockKeys is the first key of the advisory locks. The database belongs to the cell, so no other keys are in use.
const lockKeys = 0x6c6f637573 << 8 // "locus"

const (
	sqlRollups    = "SELECT body FROM rollup ORDER BY name"
	sqlPutRollup  = "INSERT INTO rollup (name, body, sum) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET body = excluded.body, sum = excluded.sum"
	sqlGeneration = "SELECT body FROM rollup_generation ORDER BY number"

	sqlPutGeneration = "INSERT INTO rollup_generation (number, body, sum) VALUES ($1, $2, $3) ON CONFLICT (number) DO UPDATE SET body = excluded.body, sum = excluded.sum"
)

// Rollups runs one statement. An update locks the table first.
func (t *tx) Rollups(ctx context.Context) ([]rollup.Rollup, error) {
	all, err := bodies[rollup.Rollup](ctx, t, lockRollups, sqlRollups)
	if err != nil {
		return nil, fmt.Errorf("read rollups: %w", err)
	}
	return all, nil
}

// PutRollup writes one row.
func (t *tx) PutRollup(ctx context.Context, r rollup.Rollup) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return t.fail(fmt.Errorf("write rollup %s: %w", r.Name, err))
	}
	t.hold(lockRollups)
	t.noteRow("rollup", []any{r.Name})
	t.exec(sqlPutRollup, r.Name, string(body), cell.Sum(r.Name, string(body)))
	return nil
}

// Generations runs one statement. An update locks the table first.
func (t *tx) Generations(ctx context.Context) ([]rollup.Generation, error) {
	all, err := bodies[rollup.Generation](ctx, t, lockGenerations, sqlGeneration)
	if err != nil {
		return nil, fmt.Errorf("read generations of rollups: %w", err)
	}
	return all, nil
}

// bodies reads a table of JSON documents.
func bodies[T any](ctx context.Context, t *tx, lock int, sql string) ([]T, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	t.hold(lock)
	return rows(ctx, t, func(r pgx.Rows) (one T, err error) {
		var body []byte
		if err := r.Scan(&body); err != nil {
			return one, err
		}
		if err := json.Unmarshal(body, &one); err != nil {
			return one, cell.Damaged("rollup", "", err)
		}
		return one, nil
	}, sql)
}

// PutGeneration writes one row.
func (t *tx) PutGeneration(ctx context.Context, g rollup.Generation) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	body, err := json.Marshal(g)
	if err != nil {
		return t.fail(fmt.Errorf("write generation %d: %w", g.Number, err))
	}
	t.hold(lockGenerations)
	t.noteNumbers("rollup_generation", []int64{g.Number})
	t.exec(sqlPutGeneration, g.Number, string(body), cell.Sum(g.Number, string(body)))
	return nil
}

// DeleteGeneration deletes one row.
func (t *tx) DeleteGeneration(ctx context.Context, number int64) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	t.hold(lockGenerations)
	t.noteNumbers("rollup_generation", []int64{number})
	t.exec("DELETE FROM rollup_generation WHERE number = $1", number)
	return nil
}

const (
	// Each row is looked up by its whole key: a join would read the whole generation.
	sqlRows = `SELECT j.n, r.body FROM unnest($2::bytea[]) WITH ORDINALITY AS j (key, n)
		CROSS JOIN LATERAL (SELECT body FROM rollup_row WHERE generation = $1 AND key = j.key LIMIT 1) AS r`

	// The rows of a range are read from the index in order, up to the limit.
	sqlScanRows = `SELECT j.n, r.key, r.body FROM unnest($2::bytea[], $3::bytea[], $4::bigint[]) WITH ORDINALITY AS j (low, high, most, n)
		CROSS JOIN LATERAL (SELECT key, body FROM rollup_row WHERE generation = $1 AND key >= j.low AND key < j.high ORDER BY key`
	sqlScanFirst = sqlScanRows + " LIMIT j.most) AS r"
	sqlScanLast  = sqlScanRows + " DESC LIMIT j.most) AS r"

	sqlPutRows = `INSERT INTO rollup_row (generation, key, body) SELECT $1, key, body FROM unnest($2::bytea[], $3::bytea[]) AS r (key, body)
		ON CONFLICT (generation, key) DO UPDATE SET body = excluded.body`

	sqlDeleteRows = `WITH doomed AS MATERIALIZED (SELECT $1::bigint AS generation, key FROM unnest($2::bytea[]) AS d (key))
		DELETE FROM rollup_row AS r USING doomed WHERE r.generation = doomed.generation AND r.key = doomed.key`

	sqlDropRows = `WITH doomed AS MATERIALIZED (SELECT generation, key FROM rollup_row WHERE generation = $1 ORDER BY key LIMIT $2 FOR UPDATE)
		DELETE FROM rollup_row AS r USING doomed WHERE r.generation = doomed.generation AND r.key = doomed.key RETURNING r.key`
)

// Rows runs one statement.
func (t *tx) Rows(ctx context.Context, generation int64, keys [][]byte) ([][]byte, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	found := make([][]byte, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	err := t.query(ctx, sqlRows, func(r pgx.Rows) error {
		var n int64
		var body []byte
		err := r.Scan(&n, &body)
		if err == nil {
			found[n-1] = body
		}
		return err
	}, generation, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d rows of generation %d: %w", len(keys), generation, err)
	}
	return found, nil
}

// ScanRows sends one statement for the forward ranges and one for the backward ranges, in one round trip.
func (t *tx) ScanRows(ctx context.Context, generation int64, ranges []rollup.Range) ([][]rollup.Row, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	found := make([][]rollup.Row, len(ranges))
	for _, last := range []bool{false, true} {
		var at []int // indexes into ranges
		var low, high [][]byte
		var most []int64
		for i, r := range ranges {
			if r.Last == last {
				from, to := ends(r)
				at, low, high, most = append(at, i), append(low, from), append(high, to), append(most, int64(r.Limit))
			}
		}
		if len(at) == 0 {
			continue
		}
		sql := sqlScanFirst
		if last {
			sql = sqlScanLast
		}
		t.queue.Queue(sql, generation, low, high, most).Query(eachRow(func(r pgx.Rows) error {
			var n int64
			var row rollup.Row
			err := r.Scan(&n, &row.Key, &row.Body)
			if err == nil {
				found[at[n-1]] = append(found[at[n-1]], row)
			}
			return err
		}))
	}
	if err := t.flush(ctx); err != nil {
		return nil, fmt.Errorf("scan %d ranges of generation %d: %w", len(ranges), generation, err)
	}
	return found, nil
}

// ends returns the range [low, high) of keys.
func ends(r rollup.Range) (low, high []byte) {
	low = document.NotNull(r.Prefix)
	if r.After != nil {
		if after := append(bytes.Clone(r.After), 0); bytes.Compare(after, low) > 0 {
			low = after
		}
	}
	high, ok := document.Beyond(r.Prefix)
	if !ok {
		high = beyond
	}
	return low, high
}

// beyond sorts after every key, because keys have at most 2,000 bytes.
var beyond = bytes.Repeat([]byte{0xff}, 2001)

// PutRows runs at most two statements.
func (t *tx) PutRows(ctx context.Context, generation int64, written []rollup.Row) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	written = inOrder(written, func(a, b rollup.Row) int { return bytes.Compare(a.Key, b.Key) })
	var keys, bodies, gone [][]byte
	for _, r := range written {
		if r.Body == nil {
			gone = append(gone, r.Key)
		} else {
			keys, bodies = append(keys, r.Key), append(bodies, r.Body)
		}
	}
	t.noteRows(generation, gone)
	t.noteRows(generation, keys)
	if len(gone) > 0 {
		t.exec(sqlDeleteRows, generation, gone)
	}
	if len(keys) > 0 {
		t.exec(sqlPutRows, generation, keys, bodies)
	}
	return nil
}

func (t *tx) noteRows(generation int64, keys [][]byte) {
	if t.noting() {
		for _, k := range keys {
			t.noteRow("rollup_row", []any{generation, k})
		}
	}
}

// DropRows deletes the first rows of the index.
func (t *tx) DropRows(ctx context.Context, generation int64, limit int) (int, error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	gone, err := rows(ctx, t, scalar[[]byte], sqlDropRows, generation, int64(limit))
	if err != nil {
		return 0, fmt.Errorf("drop rows of generation %d: %w", generation, err)
	}
	t.noteRows(generation, gone)
	return len(gone), nil
}
