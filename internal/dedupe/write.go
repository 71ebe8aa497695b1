// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/match"
)

// Names of the columns that a row of the output has in addition to those of its file.
const (
	ColumnCluster = "cluster_id"
	ColumnSize    = "cluster_size"
	ColumnWeight  = "cluster_weight"
)

// Header collects the columns of the input, in the order of appearance.
type Header struct {
	Columns []exchange.Column
	at      map[string]int
}

// Add adds columns that are not there yet.
func (h *Header) Add(names ...string) {
	if h.at == nil {
		h.at = map[string]int{}
	}
	for _, name := range names {
		if _, known := h.at[name]; !known {
			h.at[name] = len(h.Columns)
			h.Columns = append(h.Columns, exchange.Column{Name: name})
		}
	}
}

// See adds the columns of a row, and marks columns with lists.
func (h *Header) See(fields []bulk.Field) {
	for _, f := range fields {
		h.Add(f.Name)
		if len(f.Values) > 1 {
			h.Columns[h.at[f.Name]].Many = true
		}
	}
}

// ErrColumn means that a file has a column which the output needs for itself.
var ErrColumn = errors.New("dedupe: a column has the name of one that is added")

// Output returns the columns of the input and the added ones.
func (h *Header) Output() ([]exchange.Column, error) {
	for _, name := range []string{ColumnCluster, ColumnSize, ColumnWeight} {
		if _, taken := h.at[name]; taken {
			return nil, fmt.Errorf("%w: %s", ErrColumn, name)
		}
	}
	return append(slices.Clone(h.Columns), exchange.Column{Name: ColumnCluster, Type: exchange.Int},
		exchange.Column{Name: ColumnSize, Type: exchange.Int}, exchange.Column{Name: ColumnWeight, Type: exchange.Float}), nil
}

// Fill sets the columns of a row to the texts of its file, and clears the others. A row that cannot be parsed has its
// text in the first column.
func (h *Header) Fill(to exchange.Row, fields []bulk.Field) {
	clear(to)
	for _, f := range fields {
		to[h.at[f.Name]] = f.Values
	}
}

// Next reads the next row of a file unchanged; io.EOF is its end.
func Next(r *bulk.Reader, h *Header) ([]bulk.Field, error) {
	_, err := r.Next()
	refused, ok := errors.AsType[*bulk.RowError](err)
	if err != nil && !ok {
		return nil, err
	}
	fields, failed := r.Fields()
	if failed != nil {
		return []bulk.Field{{Name: h.Columns[0].Name, Values: []string{refused.Raw()}}}, nil
	}
	return fields, nil
}

// Weight returns a match weight as tables have it.
func Weight(s match.Weight) []string {
	return []string{strconv.FormatFloat(float64(s)/100, 'f', -1, 64)}
}

// Rows writes the rows of a file with their clusters; first is the place of the first one in the input.
func (c *Clusters) Rows(w exchange.Writer, h *Header, r *bulk.Reader, source string, first int) (rows int, err error) {
	own := len(h.Columns)
	to := make(exchange.Row, own+3)
	for ; ; rows++ {
		fields, err := Next(r, h)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		h.Fill(to, fields)
		if i, added := h.at[bulk.ColumnSource]; added && source != "" {
			to[i] = []string{source}
		}
		if of := c.Row(first + rows); of.ID > 0 {
			to[own], to[own+1] = exchange.FormatInt(int64(of.ID)), exchange.FormatInt(int64(of.Size))
			if of.Weighed {
				to[own+2] = Weight(of.Weight)
			}
		}
		if err := w.Write(to); err != nil {
			return rows, err
		}
	}
}
