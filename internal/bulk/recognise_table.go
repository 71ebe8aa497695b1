// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/internal/tabular"
	"github.com/locus-db/locus/match"
)

// isTable reports whether the rows of a format are cells of named columns, not text.
func (f Format) isTable() bool { return f == Parquet || f == XLSX || f == SQL }

// hasColumns reports whether a file of that format names all its columns in advance.
func (f Format) hasColumns() bool { return f == CSV || f.isTable() }

// Unit is the word for the place of a row in a file of that format, which Row.Line counts: "line" or "row".
func (f Format) Unit() string {
	if f.isTable() {
		return "row"
	}
	return "line"
}

// recogniseTable recognises the columns of a table by its first rows.
func (p *Plan) recogniseTable(r *Reader, kinds []*match.Schema) (err error) {
	p.Format = r.container
	switch o := p.options; {
	case r.container == Auto:
		return &FileError{Name: p.Name, Reason: fmt.Sprintf("it is no %s file", o.Format), Hint: "leave out --format"}
	case o.Format != Auto && o.Format != r.container:
		return &FileError{Name: p.Name, Reason: fmt.Sprintf("it is a %s file, and no %s", r.container, o.Format), Hint: "leave out --format"}
	}
	if err := r.seekable(); err != nil {
		return err
	}
	if p.Format == XLSX {
		if err := p.chooseSheet(r, kinds); err != nil {
			return tableError(p.Name, err)
		}
	}
	table, err := p.openTable(r)
	if err != nil {
		return tableError(p.Name, err)
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	return p.understandTable(table, kinds)
}

// understandTable determines the meaning of the columns of a table from its first rows.
func (p *Plan) understandTable(table tabular.Table, kinds []*match.Schema) error {
	s, err := sampleOfTable(table)
	if err != nil {
		return tableError(p.Name, err)
	}
	p.longer = !s.whole
	columns, rows := s.columnsOf(p.options.Null)
	if err := p.understand(columns, rows, kinds); err != nil {
		return err
	}
	if err := p.refuseBinary(s.columns); err != nil {
		return err
	}
	shown, err := newTable(p, &Reader{}, s, newMapper(p.sampleMapping()))
	if err != nil {
		return err
	}
	p.showSample(shown)
	return nil
}

// openTable opens the table of a file.
func (p *Plan) openTable(r *Reader) (tabular.Table, error) {
	if p.Format == XLSX {
		return p.openSheet(r)
	}
	return tabular.OpenParquet(r.at, r.length)
}

// refuseBinary refuses columns without text that map to attributes or reserved names, and asks about other such columns
// unless they are ignored.
func (p *Plan) refuseBinary(columns []tabular.Column) error {
	for i, c := range columns {
		if c.Binary == "" {
			continue
		}
		p.Columns[i].Reason = "it has " + c.Binary
		reason, hint := fmt.Sprintf("column %.60q has %s, which is not read", c.Name, c.Binary), "--ignore "+c.Name+" leaves it out"
		if uses, _ := p.mapping.resolve(c.Name); len(uses) > 0 {
			return &FileError{Name: p.Name, Reason: reason, Hint: hint}
		}
		if !p.mapping.ignoreAll && !slices.Contains(p.options.Ignore, c.Name) {
			p.Questions = slices.DeleteFunc(p.Questions, func(q Question) bool { return q.Text == p.mapping.noColumn(c.Name) })
			p.ask(reason, hint)
		}
	}
	return nil
}
