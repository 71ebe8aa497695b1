// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage/internal/posting"
)

const (
	sqlPostingState = "SELECT body, coalesce(sum, -1) FROM posting_state WHERE one = 1"
	sqlLockState    = sqlPostingState + " FOR NO KEY UPDATE"
	sqlPutState     = "INSERT INTO posting_state (one, body, sum) VALUES (1, $1, $2) ON CONFLICT (one) DO UPDATE SET body = excluded.body, sum = excluded.sum"
	sqlChunks       = "SELECT id, body, coalesce(sum, -1) FROM posting_chunk WHERE id = ANY ($1::bigint[])"
	sqlPutChunks    = "INSERT INTO posting_chunk (id, body, sum) SELECT id, body, sum FROM unnest($1::bigint[], $2::bytea[], $3::bigint[]) AS c (id, body, sum)"
	sqlDropChunks   = "DELETE FROM posting_chunk WHERE id = ANY ($1::bigint[])"
)

// postingRows is the rows of the postings as a transaction sees them.
type postingRows struct{ *tx }

var _ posting.Distant = postingRows{}

// State runs one statement. Locking the row makes transactions that post in one cell run one after the other.
func (t postingRows) State(ctx context.Context, lock bool) (posting.Row, error) {
	state, _, err := t.StateAhead(ctx, lock, nil)
	return state, err
}

// StateAhead runs two statements, the second after the first has its lock.
func (t postingRows) StateAhead(ctx context.Context, lock bool,
	ids []int64) (state posting.Row, chunks []posting.Row, err error) {
	state = posting.Row{ID: 1, Body: []byte{}, Sum: posting.SumOf(1, []byte{})}
	sql := sqlPostingState
	if lock {
		sql = sqlLockState
	}
	t.queue.Queue(sql).Query(eachRow(func(r pgx.Rows) error { return r.Scan(&state.Body, &state.Sum) }))
	if len(ids) > 0 {
		t.queue.Queue(sqlChunks, ids).Query(eachRow(func(r pgx.Rows) error {
			chunk, err := readChunk(r)
			chunks = append(chunks, chunk)
			return err
		}))
	}
	err = t.flush(ctx)
	return state, chunks, err
}

func readChunk(r pgx.Rows) (row posting.Row, err error) {
	err = r.Scan(&row.ID, &row.Body, &row.Sum)
	return row, err
}

func (t postingRows) PutState(_ context.Context, state posting.Row) error {
	t.noteNumbers(posting.StateTable, []int64{1})
	t.exec(sqlPutState, state.Body, state.Sum)
	return nil
}

// Chunks runs one statement.
func (t postingRows) Chunks(ctx context.Context, ids []int64) ([]posting.Row, error) {
	return rows(ctx, t.tx, readChunk, sqlChunks, ids)
}

func (t postingRows) PutChunks(_ context.Context, rows []posting.Row) error {
	ids := column(rows, func(r posting.Row) int64 { return r.ID })
	t.noteNumbers(posting.ChunkTable, ids)
	t.exec(sqlPutChunks, ids, column(rows, func(r posting.Row) []byte { return r.Body }),
		column(rows, func(r posting.Row) int64 { return r.Sum }))
	return nil
}

// DropChunks sends many rows at once, because the statements sent together share one timeout.
func (t postingRows) DropChunks(ctx context.Context, ids []int64) error {
	t.noteNumbers(posting.ChunkTable, ids)
	t.exec(sqlDropChunks, ids)
	if len(ids) < 1000 {
		return nil
	}
	return t.flush(ctx)
}

// Clear reads the rows first, for the journal.
func (t postingRows) Clear(ctx context.Context) error {
	ids, err := rows(ctx, t.tx, scalar[int64], "SELECT id FROM posting_chunk ORDER BY id")
	if err != nil {
		return err
	}
	return t.DropChunks(ctx, ids)
}

// postings returns the postings as the transaction sees them.
func (t *tx) postings() *posting.Runs {
	if t.posted == nil {
		t.posted = posting.New(postingRows{t}, &t.cell.postings, t.mode == reading)
	}
	return t.posted
}

// Post runs a statement for the row of the state, on which other transactions that post wait. Then it writes that row,
// and the rows of a run if there are many postings.
func (t *tx) Post(ctx context.Context, add, remove []derived.Posting) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := t.postings().Post(ctx, add, remove); err != nil {
		return fmt.Errorf("post %d blocking keys, remove %d: %w", len(add), len(remove), t.fail(err))
	}
	return nil
}

// MergePostings reads and writes all postings.
func (t *tx) MergePostings(ctx context.Context, mend bool) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := t.postings().Merge(ctx, mend); err != nil {
		return fmt.Errorf("merge postings: %w", t.fail(err))
	}
	return nil
}

// RecordsByKey runs two statements, and others where records of a blocking key were removed or an index is not in
// memory.
func (t *tx) RecordsByKey(ctx context.Context, keys []uint64, limits []int) ([][]entity.PUID, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if len(keys) != len(limits) {
		return nil, fmt.Errorf("read records: %d blocking keys with %d limits", len(keys), len(limits))
	}
	found, err := t.postings().RecordsByKey(ctx, keys, limits)
	if err != nil {
		return nil, fmt.Errorf("read records of %d blocking keys: %w", len(keys), err)
	}
	return found, nil
}
