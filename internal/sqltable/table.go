// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/tabular"
)

// Table is a table or the result of a query. It implements tabular.Table.
type Table struct {
	ctx     context.Context //nolint:containedctx // of the snapshot, which ends with Close
	db      database
	o       Options
	columns []column
	public  []tabular.Column
	key     []string // columns of the primary key, none if rows are not read in pages
	at      []int    // their places
	from    string   // the table or the query, as statements name it
	high    string

	rows   rows // of the page that is read, nil before the first
	n      int  // rows of it that were taken
	last   []string
	number int64
	cells  []tabular.Cell
	err    error
}

// column is a column of a result. Its values are written by text; none if it is binary.
type column struct {
	name   string
	binary string
	texts  func(value string) ([]string, error) // nil if the text of the database is right
}

// database is an open snapshot.
type database interface {
	// describe returns the columns of the table or query, and its primary key: none for a query, or if the key may be
	// null.
	describe(ctx context.Context, from string, table string) (columns []column, key []string, err error)
	// query runs a statement. Parameters are written by param.
	query(ctx context.Context, statement string, args []string) (rows, error)
	quote(name string) string
	// selected returns the expression that a statement selects for a column.
	selected(name string) string
	// param writes the parameter of that number, from 1, to be compared with a column.
	param(n int, column string) string
	// after returns the condition that a row comes after a key, whose parameters are given in the order of the key, and
	// afterArgs their values in the order of the condition.
	after(key, params []string) string
	afterArgs(values []string) []string
	tables(ctx context.Context) ([]string, error)
	close() error
}

// rows is the result of a statement: for each row the texts of its columns, nil for null, valid until the next call.
// The error is io.EOF at the end.
type rows interface {
	next() (values []*string, err error)
	close() error
}

const defaultPage = 5000

// Open begins a snapshot. The error is a *tabular.Error.
func Open(ctx context.Context, name string, o *Options) (*Table, error) {
	t := &Table{ctx: ctx, o: *o, last: o.After, number: o.Rows}
	if t.o.Page == 0 {
		t.o.Page = defaultPage
	}
	var err error
	switch {
	case strings.HasPrefix(name, "sqlite:"):
		t.db, err = openSQLite(ctx, name)
	case strings.HasPrefix(name, "mysql:"):
		t.db, err = openMySQL(ctx, name)
	default:
		t.db, err = openPostgres(ctx, name)
	}
	if err != nil {
		hint := "see whether the address, the user and the password are right"
		if strings.HasPrefix(name, "sqlite:") {
			hint = "see whether the path is that of a SQLite file"
		}
		return nil, &tabular.Error{Reason: "the database cannot be opened", Hint: hint, Err: err}
	}
	if err := t.describe(); err != nil {
		wrong, known := errors.AsType[*tabular.Error](err)
		if !known {
			wrong = &tabular.Error{Reason: "the database refused", Err: err}
		}
		return nil, errors.Join(wrong, t.db.close())
	}
	return t, nil
}

func (t *Table) describe() (err error) {
	if (t.o.Table == "") == (t.o.Query == "") {
		return t.noTable("a table or a query of the database is wanted", nil)
	}
	if t.from = "(" + strings.TrimRight(t.o.Query, "; \t\r\n") + "\n) AS q"; t.o.Table != "" {
		parts := strings.Split(t.o.Table, ".")
		for i, part := range parts {
			parts[i] = t.db.quote(part)
		}
		t.from = strings.Join(parts, ".")
	}
	if t.columns, t.key, err = t.db.describe(t.ctx, t.from, t.o.Table); err != nil {
		if t.o.Table != "" {
			return t.noTable(fmt.Sprintf("table %.60q cannot be read", t.o.Table), err)
		}
		return &tabular.Error{Reason: "the query cannot be read", Err: err}
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		if names[i] = c.name; slices.Contains(names[:i], c.name) {
			return &tabular.Error{Reason: fmt.Sprintf("two columns are named %.60q", c.name), Hint: "name one of them with AS"}
		}
		t.public = append(t.public, tabular.Column{Name: c.name, Binary: c.binary})
	}
	for _, name := range t.key {
		i := slices.Index(names, name)
		if i < 0 || t.columns[i].binary != "" {
			t.key, t.at = nil, nil // pages need texts
			break
		}
		t.at = append(t.at, i)
	}
	if len(t.last) > 0 && len(t.last) != len(t.key) {
		return &tabular.Error{Reason: "the primary key is another one than before",
			Hint: "remove the state file to begin again"}
	}
	if t.o.Since == "" {
		return nil
	}
	if !slices.Contains(names, t.o.Since) {
		return &tabular.Error{Reason: fmt.Sprintf("there is no column %.60q for --since", t.o.Since),
			Hint: "the columns are: " + strings.Join(names, ", ")}
	}
	return t.highest()
}

// highest reads the highest value of the column Since.
func (t *Table) highest() (err error) {
	highest, err := list(t.ctx, t.db, "SELECT max("+t.db.quote(t.o.Since)+") FROM "+t.from)
	if err == nil && len(highest) == 1 {
		t.high = highest[0][0]
	}
	return err
}

// noTable lists the tables.
func (t *Table) noTable(reason string, err error) error {
	wrong := &tabular.Error{Reason: reason, Hint: "--table NAME or --query SELECT", Err: err}
	if names, err := t.db.tables(t.ctx); err == nil && len(names) > 0 {
		if len(names) > 20 {
			names = append(names[:20], "...")
		}
		wrong.Hint += "; the tables are: " + strings.Join(names, ", ")
	}
	return wrong
}

// Columns implements tabular.Table.
func (t *Table) Columns() []tabular.Column { return t.public }

// Key returns the columns of the primary key. Rows are in its order. Without a primary key it is empty, and rows
// have no order and no position.
func (t *Table) Key() []string { return t.key }

// High returns the highest value of the column Since in the snapshot, as its database writes it, "" without one.
func (t *Table) High() string { return t.high }

// Done implements tabular.Table.
func (t *Table) Done() float64 { return -1 }

// Close ends the snapshot.
func (t *Table) Close() error {
	var err error
	if t.rows != nil {
		err = t.rows.close()
		t.rows = nil
	}
	if t.err != nil {
		err = nil // known
	}
	return errors.Join(err, t.db.close())
}

// Next implements tabular.Table.
func (t *Table) Next() (tabular.Row, error) {
	if t.err != nil {
		return tabular.Row{}, t.err
	}
	row, err := t.next()
	if err != nil && !errors.Is(err, io.EOF) {
		if stopped := t.ctx.Err(); stopped != nil { // drivers have errors of their own for it
			err = stopped
		}
		err = &tabular.Error{Reason: fmt.Sprintf("reading stopped after row %d", t.number),
			Hint: "the rows before stay", Err: err}
	}
	t.err = err
	return row, err
}

func (t *Table) next() (tabular.Row, error) {
	values, err := t.take()
	if err != nil {
		return tabular.Row{}, err
	}
	t.number++
	row := tabular.Row{Number: t.number}
	t.cells = t.cells[:0]
	for i, value := range values {
		c := &t.columns[i]
		switch {
		case value == nil || c.binary != "":
		case c.texts == nil:
			t.cells = append(t.cells, tabular.Cell{Column: i, Text: *value})
		default:
			texts, err := c.texts(*value)
			if err != nil {
				return tabular.Row{}, fmt.Errorf("column %.60q: %w", c.name, err)
			}
			for _, text := range texts {
				t.cells = append(t.cells, tabular.Cell{Column: i, Text: text})
			}
		}
	}
	if len(t.at) > 0 {
		last := make([]string, len(t.at))
		for i, at := range t.at {
			if values[at] == nil {
				return tabular.Row{}, fmt.Errorf("a row has no value in column %.60q of its key", t.key[i])
			}
			last[i] = *values[at]
		}
		t.last, row.Position = last, last
	}
	row.Cells = t.cells
	return row, nil
}

// take returns the values of the next row, from the next page if this one has ended.
func (t *Table) take() (values []*string, err error) {
	for {
		if t.rows == nil {
			statement, args := t.statement()
			if t.rows, err = t.db.query(t.ctx, statement, args); err != nil {
				return nil, err
			}
			t.n = 0
		}
		if values, err = t.rows.next(); err == nil {
			t.n++
			return values, nil
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		end := t.rows
		t.rows = nil
		if err := end.close(); err != nil {
			return nil, err
		}
		if len(t.key) == 0 || t.n < t.o.Page {
			return nil, io.EOF
		}
	}
}
