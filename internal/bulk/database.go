// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/sqltable"
	"github.com/locus-db/locus/internal/tabular"
	"github.com/locus-db/locus/match"
)

// columnPUID is a column that tables of exports have.
const columnPUID = "puid"

// recogniseDatabase recognises the columns of a table or a query by its first rows, in a snapshot of its own.
func recogniseDatabase(url string, kinds []*match.Schema, o *Options) (p *Plan, err error) {
	p = &Plan{Name: sqltable.Name(url), Format: SQL, Database: true, options: o, url: url}
	if o.Format != Auto {
		return nil, &FileError{Name: p.Name, Reason: "it is a database, and no " + string(o.Format), Hint: "leave out --format"}
	}
	table, err := p.openDatabase(&sqltable.Options{Page: sampleRows})
	if err != nil {
		return nil, tableError(p.Name, err)
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	p.key = table.Key()
	named := slices.ContainsFunc(table.Columns(), func(c tabular.Column) bool { return c.Name == ColumnKey })
	// A table that an export made has the number of each record in that installation, which means nothing in another
	// one.
	if slices.ContainsFunc(table.Columns(), func(c tabular.Column) bool { return c.Name == columnPUID }) {
		ignoring := *o
		ignoring.Ignore = append(slices.Clone(o.Ignore), columnPUID)
		o, p.options = &ignoring, &ignoring
	}
	if len(o.Key) == 0 && !named && !slices.ContainsFunc(o.Set, func(a Assignment) bool { return a.Attribute == ColumnKey }) {
		keyed := *o
		keyed.Key, p.options = p.key, &keyed
	}
	if err := p.understandTable(table, kinds); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Plan) openDatabase(o *sqltable.Options) (*sqltable.Table, error) {
	o.Table, o.Query, o.Since = p.options.Table, p.options.Query, p.options.Since
	return sqltable.Open(cmp.Or(p.options.Context, context.Background()), p.url, o)
}

// OpenAfter is Open of a database after the position of a row, nil for the beginning, and from a value of Options.Since
// on, "" for all. That many rows came before.
func (p *Plan) OpenAfter(position []string, rows int64, from string) (*Reader, error) {
	table, err := p.openDatabase(&sqltable.Options{After: position, Rows: rows, From: from})
	if err != nil {
		return nil, tableError(p.Name, err)
	}
	r := &Reader{Name: p.Name, Format: SQL, Size: -1, stream: true, taken: &counter{}, high: table.High(), close: []func() error{table.Close}}
	if r.rows, err = newTable(p, r, table, newMapper(p.mapping)); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Primary reports whether a column belongs to the primary key of a table of a database.
func (p *Plan) Primary(column string) bool { return slices.Contains(p.key, column) }

// Positioned reports whether rows have positions.
func (p *Plan) Positioned() bool { return len(p.key) > 0 }

// Since returns the column of Options.Since.
func (p *Plan) Since() string { return p.options.Since }

// High returns the highest value of Options.Since in the snapshot that is read, "" without one.
func (r *Reader) High() string { return r.high }

// File returns the name from which the names of the state and of the refused rows are derived: see Beside. For a
// database it consists of the database's and the table's name, in the folder of a SQLite file or else in the current
// directory.
func (p *Plan) File() string {
	if p.Database {
		return filepath.Join(filepath.Dir(sqltable.File(p.url)), sqltable.Base(p.url, &sqltable.Options{Table: p.options.Table}))
	}
	return Beside(p.Name)
}

// sourceOf returns the source that the name of the input suggests.
func (p *Plan) sourceOf() string {
	if !p.Database {
		return SourceOf(p.Name)
	}
	table := p.options.Table
	return SourceOf(table[strings.LastIndexByte(table, '.')+1:] + ".csv")
}

func (p *Plan) databaseLayout() string {
	text := "query"
	if p.options.Table != "" {
		text = "table " + p.options.Table
	}
	if p.Positioned() {
		return text + ", by key " + strings.Join(p.key, ", ")
	}
	return text
}
