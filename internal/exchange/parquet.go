// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	// rowGroup is how many rows a row group has at most. The writer keeps one in memory.
	rowGroup = 50_000
	// rowBatch is how many rows are passed to the library at once.
	rowBatch = 256
)

// parquetWriter writes Parquet: every column is optional and of UTF-8, INT64 or DOUBLE; a list is a LIST of required
// strings, empty if the row has none.
type parquetWriter struct {
	w       *parquet.Writer
	columns []Column
	rows    []parquet.Row
	n, size int // rows that are buffered; rows of the group
}

// ordered is a group whose fields have the order of the columns, and not of their names.
type ordered struct {
	parquet.Group
	place map[string]int
}

// Fields returns the fields in order.
func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return cmp.Compare(o.place[a.Name()], o.place[b.Name()]) })
	return fields
}

func newParquet(w io.Writer, columns []Column, metadata [][2]string) *parquetWriter {
	root := ordered{parquet.Group{}, map[string]int{}}
	for i, c := range columns {
		root.place[c.Name] = i
		switch {
		case c.Many:
			root.Group[c.Name] = parquet.List(parquet.String())
		case c.Type == Int:
			root.Group[c.Name] = parquet.Optional(parquet.Int(64))
		case c.Type == Float:
			root.Group[c.Name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		default:
			root.Group[c.Name] = parquet.Optional(parquet.String())
		}
	}
	options := []parquet.WriterOption{
		parquet.NewSchema("locus", root), parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.CreatedBy("locus", "", ""),
	}
	for _, pair := range metadata {
		options = append(options, parquet.KeyValueMetadata(pair[0], pair[1]))
	}
	return &parquetWriter{w: parquet.NewWriter(w, options...), columns: columns, rows: make([]parquet.Row, rowBatch)}
}

// Write adds a row.
func (p *parquetWriter) Write(row Row) error {
	to := p.rows[p.n][:0]
	for i, c := range p.columns {
		values := row[i]
		if !c.Many && len(values) > 1 {
			return fmt.Errorf("column %s has %d values in one row, and is no list", c.Name, len(values))
		}
		if len(values) == 0 {
			to = append(to, parquet.NullValue().Level(0, 0, i))
		}
		for n, text := range values {
			v, err := parquetValue(c, text)
			if err != nil {
				return err
			}
			to = append(to, v.Level(min(n, 1), 1, i))
		}
	}
	p.rows[p.n] = to
	if p.n++; p.n == len(p.rows) {
		return p.flush()
	}
	return nil
}

func parquetValue(c Column, text string) (parquet.Value, error) {
	switch c.Type {
	case Int:
		n, err := strconv.ParseInt(text, 10, 64)
		return parquet.Int64Value(n), err
	case Float:
		f, err := strconv.ParseFloat(text, 64)
		return parquet.DoubleValue(f), err
	default:
		return parquet.ByteArrayValue([]byte(text)), nil
	}
}

// flush passes the buffered rows on, and ends the row group when it is full.
func (p *parquetWriter) flush() error {
	if _, err := p.w.WriteRows(p.rows[:p.n]); err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	p.size += p.n
	p.n = 0
	if p.size >= rowGroup {
		p.size = 0
		return p.w.Flush()
	}
	return nil
}

// Close writes the buffered rows and the footer.
func (p *parquetWriter) Close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.w.Close()
}
