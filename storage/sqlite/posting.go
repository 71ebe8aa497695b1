// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage/internal/posting"
)

const (
	sqlPostingState = "SELECT body, sum FROM posting_state WHERE one = 1"
	sqlPutState     = "INSERT INTO posting_state (one, body, sum) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET body = excluded.body, sum = excluded.sum"
	sqlChunks       = "SELECT c.id, c.body, c.sum FROM json_each(?) AS j CROSS JOIN posting_chunk AS c ON c.id = j.value"
	sqlPutChunk     = "INSERT INTO posting_chunk (id, body, sum) VALUES (?, ?, ?)"
	sqlDropChunk    = "DELETE FROM posting_chunk WHERE id = ?"
)

// postingRows is the rows of the postings as a transaction sees them.
type postingRows struct{ *tx }

var _ posting.Rows = postingRows{}

// State runs one statement. A write transaction is the only one, so there is nothing to lock.
func (t postingRows) State(ctx context.Context, _ bool) (posting.Row, error) {
	state := posting.Row{ID: 1, Body: []byte{}, Sum: posting.SumOf(1, []byte{})}
	err := t.query(ctx, sqlPostingState, func(r row) error {
		state.Body, state.Sum = r.blob(0), r.int(1)
		return nil
	})
	return state, err
}

func (t postingRows) PutState(_ context.Context, state posting.Row) error {
	return t.exec(sqlPutState, state.Body, state.Sum)
}

// Chunks runs one statement.
func (t postingRows) Chunks(ctx context.Context, ids []int64) ([]posting.Row, error) {
	return rows(ctx, t.tx, func(r row) (posting.Row, error) {
		return posting.Row{ID: r.int(0), Body: r.blob(1), Sum: r.int(2)}, nil
	}, sqlChunks, numbers(t.tx, ids))
}

func (t postingRows) PutChunks(_ context.Context, rows []posting.Row) error {
	return each(t.tx, sqlPutChunk, rows, func(s *stmt, r posting.Row) error { return s.exec(r.ID, r.Body, r.Sum) })
}

func (t postingRows) DropChunks(_ context.Context, ids []int64) error {
	return each(t.tx, sqlDropChunk, ids, func(s *stmt, id int64) error { return s.exec(id) })
}

func (t postingRows) Clear(context.Context) error { return t.exec("DELETE FROM posting_chunk") }

// postings returns the postings as the transaction sees them.
func (t *tx) postings() *posting.Runs {
	if t.posted == nil {
		t.posted = posting.New(postingRows{t}, &t.cell.postings, true)
	}
	return t.posted
}

// Post writes the row of the state, and the rows of a run if there are many postings.
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
