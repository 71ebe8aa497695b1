// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/storage/internal/posting"
)

// tx is a transaction with its connection and outcome. The Store methods are in files named after the Stores.
type tx struct {
	cell  *Cell
	conn  *conn
	mode  mode
	state *state // the cell's state as the transaction sees it; nil until it is read
	was   state  // the state as stored
	over  bool
	// lasting is set once the transaction may have written something that counts as a commit.
	lasting bool
	err     error         // the first failed statement; the transaction is not committed after it
	posted  *posting.Runs // nil until postings are read or written
	text    []byte
	span    span.Span // of the transaction
}

// mode is the access of a transaction.
type mode uint8

const (
	reading mode = iota
	writing
	alone // writing, including the head of the cell
)

// begin starts a transaction on the connection, which the caller must own.
func (c *Cell) begin(on *conn, m mode) (*tx, error) {
	if err := on.resize(c.cache.Load()); err != nil {
		return nil, fmt.Errorf("begin in cell %s: %w", c, err)
	}
	t := &tx{cell: c, conn: on, mode: m}
	sql := "BEGIN"
	if m != reading {
		sql = "BEGIN IMMEDIATE"
	}
	if err := t.exec(sql); err != nil {
		return nil, fmt.Errorf("begin in cell %s: %w", c, err)
	}
	return t, nil
}

// end rolls back a transaction that was not committed. It also runs after a panic in the caller's function.
func (t *tx) end() {
	if t.over {
		return
	}
	t.over = true
	if s, err := t.conn.prepare("ROLLBACK"); err == nil {
		_ = s.exec() // fails if SQLite has already rolled back
	}
}

// use checks that the transaction is usable; every method calls it first.
func (t *tx) use(ctx context.Context) error {
	if t.over {
		return errTx
	}
	if t.err != nil {
		return fmt.Errorf("the transaction has failed before: %w", t.err)
	}
	return ctx.Err()
}

// alter is use for methods that write lasting data.
func (t *tx) alter(ctx context.Context) error {
	t.lasting = true
	return t.write(ctx)
}

// write is use for methods that write, including those whose writes do not count as a commit.
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
	err = explain(err)
	if t.err == nil {
		t.err = err
	}
	return err
}

// statement starts the span of a statement, however many times it runs.
func (t *tx) statement(sql string) span.Span {
	return t.span.Statements(context.Background(), system, 1, func(int) string { return sql })
}

// exec runs a statement once.
func (t *tx) exec(sql string, values ...any) (err error) {
	if of := t.statement(sql); of.On() {
		defer func() { of.End(err) }()
	}
	s, err := t.conn.prepare(sql)
	if err != nil {
		return t.fail(err)
	}
	return t.fail(s.exec(values...))
}

// drop runs a statement that deletes rows up to a limit, and returns the number deleted.
func (t *tx) drop(ctx context.Context, sql string, which int64, limit int) (dropped int, err error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	if of := t.statement(sql); of.On() {
		defer func() { of.End(err) }()
	}
	s, err := t.conn.prepare(sql)
	if err != nil {
		return 0, t.fail(err)
	}
	n, err := s.change(which, int64(limit))
	return int(n), t.fail(err)
}

// each calls run for every item with the prepared statement.
func each[T any](t *tx, sql string, items []T, run func(s *stmt, item T) error) (err error) {
	if len(items) == 0 {
		return nil
	}
	if of := t.statement(sql); of.On() {
		defer func() { of.End(err) }()
	}
	s, err := t.conn.prepare(sql)
	if err != nil {
		return t.fail(err)
	}
	for _, item := range items {
		if err := run(s, item); err != nil {
			return t.fail(err)
		}
	}
	return nil
}

// query calls each with every row of the result.
func (t *tx) query(ctx context.Context, sql string, each func(row) error, values ...any) (err error) {
	if of := t.statement(sql); of.On() {
		defer func() { of.End(err) }()
	}
	s, err := t.conn.prepare(sql)
	if err != nil {
		return t.fail(err)
	}
	if err := s.query(ctx, each, values...); err != nil {
		if code(err) != 0 {
			return t.fail(err)
		}
		return err
	}
	return nil
}

// rows returns the result of read for every row.
func rows[T any](ctx context.Context, t *tx, read func(row) (T, error), sql string,
	values ...any) (all []T, err error) {
	err = t.query(ctx, sql, func(r row) error {
		one, err := read(r)
		all = append(all, one)
		return err
	}, values...)
	return all, err
}

// numbers encodes integers as a JSON array, which a statement reads with json_each: one statement for a batch of
// any size.
func numbers[T ~int64 | ~uint64](t *tx, values []T) string {
	b := append(t.text[:0], '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	t.text = append(b, ']')
	return string(t.text)
}

// hexes encodes the bytes of items as a JSON array; see numbers.
func hexes[T any](t *tx, items []T, bytes func(*T) []byte) string {
	b := append(t.text[:0], '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(hex.AppendEncode(append(b, '"'), bytes(&items[i])), '"')
	}
	t.text = append(b, ']')
	return string(t.text)
}

// inOrder returns the items in key order, as rows are stored. The sort is stable: of equal items the later one
// stays later.
func inOrder[T any](items []T, compare func(a, b T) int) []T {
	if slices.IsSortedFunc(items, compare) {
		return items
	}
	items = slices.Clone(items)
	slices.SortStableFunc(items, compare)
	return items
}

var (
	errReading = errors.New("sqlite: a transaction that reads cannot write")
)
