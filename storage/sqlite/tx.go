// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// tx is a transaction: the connection that it runs on, and what became of it. The methods of the
// Stores stand in the files that are named after them.
type tx struct {
	cell  *Cell
	conn  *conn
	mode  mode
	state *state // of the cell, as the transaction has it; nil before it is asked for
	was   state  // as it stands in its row
	over  bool
	// lasting is whether something may have been written that counts as a commit.
	lasting bool
	err     error // the first statement that failed; a transaction is not committed after one
	text    []byte
}

// mode is what a transaction may do.
type mode uint8

const (
	reading mode = iota
	writing
	alone // writing, the head of the cell too
)

// begin starts a transaction on the connection, which is the caller's alone.
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

// end rolls back what was not committed. It runs after a panic of the caller's function too.
func (t *tx) end() {
	if t.over {
		return
	}
	t.over = true
	if s, err := t.conn.prepare("ROLLBACK"); err == nil {
		_ = s.exec() // fails where SQLite has rolled back already
	}
}

// use is the beginning of every method.
func (t *tx) use(ctx context.Context) error {
	if t.over {
		return ErrTx
	}
	if t.err != nil {
		return fmt.Errorf("the transaction has failed before: %w", t.err)
	}
	return ctx.Err()
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
	err = explain(err)
	if t.err == nil {
		t.err = err
	}
	return err
}

// exec runs a statement once.
func (t *tx) exec(sql string, values ...any) error {
	s, err := t.conn.prepare(sql)
	if err != nil {
		return t.fail(err)
	}
	return t.fail(s.exec(values...))
}

// drop runs a statement that deletes rows up to a limit, and answers how many it has deleted.
func (t *tx) drop(ctx context.Context, sql string, which int64, limit int) (int, error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	s, err := t.conn.prepare(sql)
	if err != nil {
		return 0, t.fail(err)
	}
	n, err := s.change(which, int64(limit))
	return int(n), t.fail(err)
}

// each runs a statement for every item, with the values that args gives.
func each[T any](t *tx, sql string, items []T, run func(s *stmt, item T) error) error {
	if len(items) == 0 {
		return nil
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

// query calls each with every row of the answer.
func (t *tx) query(ctx context.Context, sql string, each func(row) error, values ...any) error {
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

// rows answers with what read makes of every row.
func rows[T any](ctx context.Context, t *tx, read func(row) (T, error), sql string, values ...any) (all []T, err error) {
	err = t.query(ctx, sql, func(r row) error {
		one, err := read(r)
		all = append(all, one)
		return err
	}, values...)
	return all, err
}

// numbers writes integers as a JSON array, which a statement reads with json_each: one statement
// for a batch of any length.
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

// hexes writes the bytes of items as a JSON array, see numbers.
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

// inOrder answers with the items in the order of the key, so that rows are written in the order
// in which they lie. Of items that compare equal the later one stays later.
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
