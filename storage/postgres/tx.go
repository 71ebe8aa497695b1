// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/posting"
)

// tx is a transaction. BEGIN, the gate and writes wait in queue and are sent with the next read or before the commit.
// So a transaction that writes takes one round trip per read and one for the commit, and one that only reads none for
// the commit. The Store methods are in files named after the Stores.
type tx struct {
	cell  *Cell
	conn  *conn
	mode  mode
	queue *pgx.Batch
	begun bool // the first statements have succeeded
	over  bool
	err   error // the first failure; the transaction is not committed after it
	// lasting is set once the transaction may have written something that counts in the pulse.
	lasting bool
	guess   bool // counter rows may be assumed to exist

	head cell.Head // as read by the gate or written by SetHead; zero in a cell without an identity
	// required are the checks of Require that wait for the head.
	required []func(cell.Head) error
	row      []any // the row of head and identity with its checksum, as read or last written; only in mode alone and above
	counts   entity.Counts
	changes  []changelog.Change
	trimmed  changelog.Seq // the last change trimmed by this transaction
	posted   *posting.Runs // nil until postings are read or written
	text     []byte

	journal  bool // changes are journaled, as read by the gate
	notes    []note
	appended int // number of changes queued

	held [2]bool // table locks held, see hold
}

// begin queues the beginning of the transaction. An exclusive transaction sends it at once and passes the gate.
func (t *tx) begin(ctx context.Context) error {
	o := t.cell.opts
	if t.conn.viewing {
		t.queue.Queue("COMMIT")
	}
	switch {
	case t.mode == reading:
		t.queue.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	default:
		t.queue.Queue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
	}
	if t.cell.target.pooler {
		for name, value := range o.parameters() {
			t.queue.Queue("SELECT set_config($1, $2, true)", name, value)
		}
	}
	if t.mode >= alone {
		t.queue.Queue("SET LOCAL lock_timeout = '2s'")
		// From here on no transaction can pass the gate, and all that had passed it have ended. Later statements have
		// snapshots taken after the lock.
		t.queue.Queue("LOCK TABLE locus_cell IN EXCLUSIVE MODE")
	}
	t.gate()
	if t.mode < alone {
		return nil
	}
	if err := t.flush(ctx); err != nil {
		return fmt.Errorf("begin in cell %s: %w", t.cell, err)
	}
	return nil
}

// flush sends the queue.
func (t *tx) flush(ctx context.Context) error {
	if t.queue.Len() == 0 {
		return nil
	}
	queue := t.queue
	t.queue = new(pgx.Batch)
	t.conn.viewing = false
	if err := t.conn.run(ctx, t.mode, queue); err != nil {
		return t.fail(err)
	}
	t.begun = true
	return nil
}

// pass sends what is queued, unless the gate has been passed.
func (t *tx) pass(ctx context.Context) error {
	if t.begun {
		return nil
	}
	return t.flush(ctx)
}

// finish commits. It ignores ctx once the commit is sent and waits for the result, which no other process could
// determine.
func (t *tx) finish(ctx context.Context) error {
	switch {
	case t.err != nil:
		return explain(t.err)
	case ctx.Err() != nil:
		return t.fail(ctx.Err())
	case t.mode == reading && (!t.begun || t.lingers()):
		return nil
	}
	if err := t.pass(ctx); err != nil { // the commit must not be on its way before
		return fmt.Errorf("write in cell %s: %w", t.cell, err)
	}
	t.queueTotals()
	t.queueJournal()
	t.queue.Queue("COMMIT").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return fmt.Errorf("the server answered COMMIT with %s", tag)
		}
		t.over = true
		return nil
	})
	err := t.conn.run(context.WithoutCancel(ctx), t.mode, t.queue)
	if t.lasting { // even if the outcome of the commit is unknown
		t.cell.unbeaten.Store(true)
	}
	if err == nil {
		return nil
	}
	_, slow := errors.AsType[*slowError](err)
	if t.mode != reading && (slow || isLost(err) && !pgconn.SafeToRetry(err)) {
		t.fail(err)                                                                        //nolint:errcheck // the error below says more
		return fmt.Errorf("commit in cell %s: %w: %v", t.cell, cell.ErrCommitUnknown, err) //nolint:errorlint // it must not say that nothing was done
	}
	return fmt.Errorf("commit in cell %s: %w", t.cell, t.fail(err))
}

// lingers reports whether the transaction need not end before its connection is used again. Behind a pooler it would
// keep a connection to the server from others.
func (t *tx) lingers() bool {
	return t.mode == reading && t.begun && t.err == nil && !t.cell.target.pooler && !t.conn.IsClosed()
}

// end rolls back a transaction that was not committed, or leaves it to the next one. It also runs after a panic in the
// caller's function.
func (t *tx) end() {
	over := t.over
	t.over = true
	if !over && t.lingers() {
		t.conn.viewing = true
	}
	if over || t.conn.viewing || t.conn.IsClosed() || t.conn.PgConn().TxStatus() == 'I' {
		return
	}
	b := new(pgx.Batch)
	b.Queue("ROLLBACK")
	if err := t.conn.run(context.Background(), t.mode, b); err != nil {
		t.conn.close()
	}
}

// use checks that the transaction is usable; every method calls it first.
func (t *tx) use(ctx context.Context) error {
	if t.over {
		return errTx
	}
	if t.err != nil {
		return fmt.Errorf("the transaction has failed before: %w", explain(t.err))
	}
	if err := ctx.Err(); err != nil {
		return t.fail(err)
	}
	return nil
}

// alter is use for methods that write lasting data.
func (t *tx) alter(ctx context.Context) error {
	t.lasting = true
	return t.write(ctx)
}

// write is use for methods that write, including those whose writes do not count in the pulse.
func (t *tx) write(ctx context.Context) error {
	if err := t.use(ctx); err != nil {
		return err
	}
	if t.mode == reading {
		return t.fail(errReading)
	}
	return nil
}

// fail explains an error and remembers the first one.
func (t *tx) fail(err error) error {
	if t.err == nil {
		t.err = err
	}
	return explain(err)
}

// exec queues a statement whose result is ignored.
func (t *tx) exec(sql string, args ...any) { t.queue.Queue(sql, args...) }

// query sends a statement, with all that is queued, and calls each with every row of the result.
func (t *tx) query(ctx context.Context, sql string, each func(pgx.Rows) error, args ...any) error {
	t.queue.Queue(sql, args...).Query(eachRow(each))
	return t.flush(ctx)
}

// eachRow returns a function that calls each with every row.
func eachRow(each func(pgx.Rows) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

// rows returns the result of read for every row.
func rows[T any](ctx context.Context, t *tx, read func(pgx.Rows) (T, error), sql string,
	args ...any) (all []T, err error) {
	err = t.query(ctx, sql, func(r pgx.Rows) error {
		one, err := read(r)
		all = append(all, one)
		return err
	}, args...)
	return all, err
}

// scalar reads a row of one column.
func scalar[T any](r pgx.Rows) (value T, err error) {
	err = r.Scan(&value)
	return value, err
}

// column returns one value of every item, as an array argument.
func column[T, V any](items []T, value func(T) V) []V {
	values := make([]V, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	return values
}

// numbers converts integers to a type that pgx knows.
func numbers[T ~int64 | ~uint64](values []T) []int64 {
	return column(values, func(v T) int64 { return int64(v) })
}

// inOrder returns the items in key order, so that all transactions lock rows in the same order. Of equal items the
// last one is kept.
func inOrder[T any](items []T, compare func(a, b T) int) []T {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, compare)
	kept := sorted[:0]
	for i, item := range sorted {
		if i+1 == len(sorted) || compare(item, sorted[i+1]) != 0 {
			kept = append(kept, item)
		}
	}
	return kept
}

// places returns the positions of each value in a batch that may contain duplicates.
func places[K cmp.Ordered](keys []K) map[K][]int {
	at := make(map[K][]int, len(keys))
	for i, k := range keys {
		at[k] = append(at[k], i)
	}
	return at
}
