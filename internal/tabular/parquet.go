// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// maxColumns is how many columns a table has at most.
const maxColumns = 4096

// parquetBatch is how many rows are read from the library at a time.
const parquetBatch = 64

// parquetTable reads the row groups of a Parquet file one after another.
type parquetTable struct {
	in      *lz4File
	size    int64
	file    *parquet.File
	columns []Column
	texts   []func(parquet.Value) (string, bool)

	required []bool // whether a column has a value in every row

	group int          // number of the row group that is read, from 1
	rows  parquet.Rows // of it, nil before the first and after the last
	left  int64        // rows of it that were not taken
	batch []parquet.Row
	at, n int // next row of the batch, and rows in it

	number int64
	total  int64
	cells  []Cell
	seen   []bool // columns of the row that have a value or a null
	err    error
}

// OpenParquet opens a Parquet file. The error is an *Error. The file is not closed by the table.
func OpenParquet(r io.ReaderAt, size int64) (Table, error) {
	t := &parquetTable{in: &lz4File{ReaderAt: r}, size: size, batch: make([]parquet.Row, parquetBatch)}
	err := guard(func() (err error) {
		if err := checkFooter(r, size); err != nil {
			return err
		}
		t.file, err = parquet.OpenFile(t.in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		return t.describe()
	})
	if err != nil {
		return nil, &Error{Reason: "the footer of the Parquet file cannot be read",
			Hint: "see whether the file is complete", Err: err}
	}
	return t, nil
}

// describe collects the columns and counts the rows.
func (t *parquetTable) describe() error {
	var wrong error
	walk(t.file.Root(), "", false, func(leaf *parquet.Column, path string) {
		text, binary := textOf(leaf.Type())
		t.required = append(t.required, leaf.MaxDefinitionLevel() == 0)
		if wrong == nil {
			wrong = checkType(path, leaf.Type())
		}
		t.columns, t.texts = append(t.columns, Column{path, binary}), append(t.texts, text)
	})
	if wrong != nil {
		return wrong
	}
	known := make(map[string]bool, len(t.columns))
	for _, c := range t.columns {
		if known[c.Name] {
			return fmt.Errorf("two columns are named %.60q", c.Name)
		}
		known[c.Name] = true
	}
	if len(t.columns) == 0 || len(t.columns) > maxColumns {
		return fmt.Errorf("it has %d columns, want 1 to %d", len(t.columns), maxColumns)
	}
	t.seen = make([]bool, len(t.columns))
	for i, group := range t.file.RowGroups() {
		chunks := group.ColumnChunks()
		if len(chunks) != len(t.columns) || group.NumRows() < 0 {
			return fmt.Errorf("row group %d has %d of %d columns and %d rows", i+1, len(chunks), len(t.columns), group.NumRows())
		}
		t.total += group.NumRows()
	}
	if t.total != t.file.NumRows() {
		return fmt.Errorf("the row groups have %d rows, the file says %d", t.total, t.file.NumRows())
	}
	return nil
}

// Columns implements Table.
func (t *parquetTable) Columns() []Column { return t.columns }

// Done implements Table.
func (t *parquetTable) Done() float64 {
	if t.total == 0 {
		return 1
	}
	return float64(t.number) / float64(t.total)
}

// Next implements Table.
func (t *parquetTable) Next() (Row, error) {
	if t.err != nil {
		return Row{}, t.err
	}
	var row Row
	err := guard(func() (err error) {
		row, err = t.next()
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Error{
			Reason: fmt.Sprintf("row group %d is damaged after row %d", t.group, t.number),
			Hint:   "the rows before stay; see whether the file is complete", Err: err,
		}
	}
	t.err = err
	return row, err
}

func (t *parquetTable) next() (Row, error) {
	for t.at == t.n {
		if err := t.read(); err != nil {
			return Row{}, err
		}
	}
	values := t.batch[t.at]
	t.at++
	t.cells = t.cells[:0]
	clear(t.seen)
	for _, v := range values {
		i := v.Column()
		if i < 0 || i >= len(t.columns) {
			return Row{}, fmt.Errorf("a value is of column %d of %d", i, len(t.columns))
		}
		t.seen[i] = true
		if v.IsNull() {
			continue
		}
		if t.columns[i].Binary != "" {
			t.cells = append(t.cells, Cell{i, string(v.ByteArray())})
			continue
		}
		if text, ok := t.texts[i](v); ok {
			t.cells = append(t.cells, Cell{i, text})
		}
	}
	for i, seen := range t.seen {
		if !seen {
			return Row{}, fmt.Errorf("column %.60q ends before the others", t.columns[i].Name)
		}
	}
	t.number++
	return Row{Number: t.number, Cells: t.cells}, nil
}

// read takes rows from the row group, or begins the next one.
func (t *parquetTable) read() (err error) {
	t.at, t.n = 0, 0
	if t.rows != nil && t.left == 0 {
		// Not earlier: the rows of the batch refer to memory that Close may give to others.
		if err := t.endGroup(); err != nil {
			return err
		}
	}
	if t.rows == nil {
		groups := t.file.RowGroups()
		if t.group == len(groups) {
			return io.EOF
		}
		t.group++
		t.in.sizes = t.in.sizes[:0] // of the group before
		for i := range t.columns {
			isNull := t.texts[i] == nil && t.columns[i].Binary == ""
			if err := checkPages(t.in, t.size, &t.file.Metadata().RowGroups[t.group-1].Columns[i].MetaData, t.required[i],
				isNull); err != nil {
				return fmt.Errorf("column %.60q: %w", t.columns[i].Name, err)
			}
		}
		if t.left = groups[t.group-1].NumRows(); t.left == 0 {
			return nil
		}
		t.rows = groups[t.group-1].Rows()
	}
	if t.n, err = t.rows.ReadRows(t.batch); err != nil && !errors.Is(err, io.EOF) {
		return errors.Join(noEOF(err), t.endGroup())
	}
	if t.left -= int64(t.n); t.left < 0 || t.left > 0 && (err != nil || t.n == 0) {
		return errors.Join(fmt.Errorf("it has %d rows more or fewer than the footer says", max(t.left, -t.left)),
			t.endGroup())
	}
	return nil
}

// noEOF converts the end of the input, which is no end of the table.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (t *parquetTable) endGroup() error {
	rows := t.rows
	t.rows = nil
	return rows.Close()
}

// Close implements Table.
func (t *parquetTable) Close() error {
	if t.rows == nil {
		return nil
	}
	return guard(t.endGroup)
}
