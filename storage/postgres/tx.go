// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve"
)

// tx is a transaction. What writes waits in queue until something must be read, or for the commit, and
// is then sent with it: beyond the gate, a transaction takes as many round trips as it takes decisions,
// and one for the commit. The methods of the Stores stand in the files that are named after them.
type tx struct {
	cell  *Cell
	conn  *conn
	mode  mode
	queue *pgx.Batch
	begun bool // the first statements have passed
	over  bool
	err   error // what failed first; a transaction is not committed after it
	// lasting is whether something may have been written that counts in the pulse.
	lasting bool
	guess   bool // rows of counters may be taken to be there

	head    cell.Head // as the gate read it, or SetHead wrote it; zero in a cell that was never told who it is
	row     []any     // of the head and the identity, with its checksum, in a transaction that is alone: as read, or written since
	counts  entity.Counts
	changes []changelog.Change
	trimmed changelog.Seq // the last change that was trimmed by this transaction
	text    []byte

	journal  bool // what changes is noted
	notes    []note
	appended int // changes that were queued

	held [2]bool // the locks of tables: see hold
}

// mode is what a transaction may do.
type mode uint8

const (
	reading mode = iota
	writing
	alone    // writing, the head of the cell too
	adopting // alone in a database that may not be the cell's
)

// Update runs fn in a transaction. fn runs again if PostgreSQL asks for that, because of a deadlock say.
// The error wraps cell.ErrUnknownOutcome if the connection ended while the commit was under way.
func (c *Cell) Update(ctx context.Context, fn func(resolve.Tx) error) error {
	return c.run(ctx, writing, func(t *tx) error { return fn(t) })
}

// Exclusive runs fn in a transaction that has the cell alone.
func (c *Cell) Exclusive(ctx context.Context, fn func(resolve.Tx) error) error {
	return c.run(ctx, alone, func(t *tx) error { return fn(t) })
}

// View runs fn in a transaction that reads one snapshot.
func (c *Cell) View(ctx context.Context, fn func(resolve.Tx) error) error {
	return c.run(ctx, reading, func(t *tx) error { return fn(t) })
}

// Read is a View: the server keeps pages for all connections.
func (c *Cell) Read(ctx context.Context, fn func(resolve.Tx) error) error { return c.View(ctx, fn) }

// tries is how often a transaction is run that the server asks to be run again.
const tries = 10

func (c *Cell) run(ctx context.Context, m mode, fn func(*tx) error) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	guess := true
	for try := 1; ; try++ {
		err, failure := c.attempt(ctx, m, func(t *tx) error {
			t.guess = guess
			return fn(t)
		})
		// A lock that is not to be had may be one of a process that was stopped in the middle of a
		// transaction, which the server ends after a while. Who wants the cell alone gives way to
		// those who queue behind it.
		repeat := again(failure)
		if m != reading && state(failure) == lockNotAvailable {
			// Or a table is locked, for who knows how long.
			repeat = m >= alone || c.writable.Ask(ctx) == nil
		}
		if errors.Is(failure, errSpansMissing) {
			guess = false // or one that changes rows which are there, and others, would run for ever
			continue
		}
		if !repeat || try >= tries { // more if spans were missing
			return err
		}
		if err := c.pause(ctx, try); err != nil {
			return err
		}
	}
}

// pause lets the others go first.
func (c *Cell) pause(ctx context.Context, try int) error {
	timer := time.NewTimer(time.Duration(c.opts.Rand() * float64(try) * float64(4*time.Millisecond)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attempt runs fn once, or twice if the first connection turns out to have ended while nobody used it.
// failure is what the database did wrong, if anything.
func (c *Cell) attempt(ctx context.Context, m mode, fn func(*tx) error) (err, failure error) {
	if err := c.breaker(m).Err(); err != nil {
		return fmt.Errorf("cell %s: %w", c, err), nil
	}
	defer func() {
		switch {
		case doubtful(failure):
			c.breaker(m).Doubt()
		case err == nil && m != reading:
			c.wrote.Store(time.Now().UnixNano())
		}
	}()
	err, failure, stale := c.once(ctx, m, fn)
	if stale {
		c.pool.drop(c) // the others will have ended with it
		err, failure, _ = c.once(ctx, m, fn)
	}
	if errors.Is(failure, ErrStrange) && m != adopting {
		if err = c.adopt(ctx, c.newest); err == nil {
			err, failure, _ = c.once(ctx, m, fn)
		}
	}
	return err, failure
}

// once runs fn in a transaction on one connection. stale means that it had ended before, and that nothing
// was done.
func (c *Cell) once(ctx context.Context, m mode, fn func(*tx) error) (err, failure error, stale bool) {
	on, err := c.acquire(ctx, m == adopting)
	if err != nil {
		return fmt.Errorf("cell %s: %w", c, err), err, false
	}
	defer c.release(on, m == adopting)
	t := &tx{cell: c, conn: on, mode: m, queue: new(pgx.Batch)}
	defer t.end()
	if err = t.begin(ctx); err == nil {
		err = fn(t)
	}
	if err == nil {
		err = t.finish(ctx)
	}
	return err, t.err, on.used && !t.begun && isLost(t.err)
}

// begin begins the transaction, and passes the gate if it writes. One that reads sends the beginning with
// its first question.
func (t *tx) begin(ctx context.Context) error {
	o := t.cell.opts
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
		// Nobody passes the gate any more, and who has passed it has ended. The statements after
		// this one have a snapshot each, taken after the lock.
		t.queue.Queue("LOCK TABLE locus_cell IN EXCLUSIVE MODE")
	}
	t.gate()
	if t.mode == reading {
		return nil
	}
	if err := t.flush(ctx); err != nil {
		return fmt.Errorf("begin in cell %s: %w", t.cell, err)
	}
	return nil
}

// flush sends what is in the queue.
func (t *tx) flush(ctx context.Context) error {
	if t.queue.Len() == 0 {
		return nil
	}
	queue := t.queue
	t.queue = new(pgx.Batch)
	if err := t.conn.run(ctx, t.mode, queue); err != nil {
		return t.fail(err)
	}
	if t.begun {
		return nil
	}
	t.begun = true
	return t.passed()
}

// finish commits. What happens to ctx meanwhile makes no difference: a commit that was sent is waited
// for, since nobody else could tell what became of it.
func (t *tx) finish(ctx context.Context) error {
	switch {
	case t.err != nil:
		return explain(t.err)
	case ctx.Err() != nil:
		return t.fail(ctx.Err())
	case !t.begun:
		return nil
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
	if t.lasting { // also if it is not known whether it was committed
		t.cell.unbeaten.Store(true)
	}
	if err == nil {
		return nil
	}
	_, slow := errors.AsType[*slowError](err)
	if t.mode != reading && (slow || isLost(err) && !pgconn.SafeToRetry(err)) {
		t.fail(err)                                                                         //nolint:errcheck // the error below says more
		return fmt.Errorf("commit in cell %s: %w: %v", t.cell, cell.ErrUnknownOutcome, err) //nolint:errorlint // it must not say that nothing was done
	}
	return fmt.Errorf("commit in cell %s: %w", t.cell, t.fail(err))
}

// end rolls back what was not committed. It runs after a panic of the caller's function too.
func (t *tx) end() {
	over := t.over
	t.over = true
	if over || t.conn.IsClosed() || t.conn.PgConn().TxStatus() == 'I' {
		return
	}
	b := new(pgx.Batch)
	b.Queue("ROLLBACK")
	if err := t.conn.run(context.Background(), t.mode, b); err != nil {
		t.conn.close()
	}
}

// use is the beginning of every method.
func (t *tx) use(ctx context.Context) error {
	if t.over {
		return ErrTx
	}
	if t.err != nil {
		return fmt.Errorf("the transaction has failed before: %w", explain(t.err))
	}
	if err := ctx.Err(); err != nil {
		return t.fail(err)
	}
	return nil
}

// alter is the beginning of every method that writes what lasts.
func (t *tx) alter(ctx context.Context) error {
	t.lasting = true
	return t.write(ctx)
}

// write is the beginning of methods that write what is written while nothing happens, too.
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

// exec queues a statement whose answer does not matter.
func (t *tx) exec(sql string, args ...any) { t.queue.Queue(sql, args...) }

// query sends a statement, with all that waits, and calls each with every row of the answer.
func (t *tx) query(ctx context.Context, sql string, each func(pgx.Rows) error, args ...any) error {
	t.queue.Queue(sql, args...).Query(eachRow(each))
	return t.flush(ctx)
}

// eachRow is what reads an answer row by row.
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

// rows answers with what read makes of every row.
func rows[T any](ctx context.Context, t *tx, read func(pgx.Rows) (T, error), sql string, args ...any) (all []T, err error) {
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

// column makes an argument of a batch: one value of every item.
func column[T, V any](items []T, value func(T) V) []V {
	values := make([]V, len(items))
	for i, item := range items {
		values[i] = value(item)
	}
	return values
}

// numbers are integers as pgx knows them.
func numbers[T ~int64 | ~uint64](values []T) []int64 {
	return column(values, func(v T) int64 { return int64(v) })
}

// inOrder answers with the items in the order of the key, so that rows are locked in one order by all. Of
// items that compare equal the last one is kept.
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

// places are the positions of each value in a batch, which may name one twice.
func places[K cmp.Ordered](keys []K) map[K][]int {
	at := make(map[K][]int, len(keys))
	for i, k := range keys {
		at[k] = append(at[k], i)
	}
	return at
}
