// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/httpapi"
)

// fetched is a table as the server sent it: all of its rows, as lines of JSON in order.
type fetched struct {
	columns   []exchange.Column
	lines     *exchange.Sorter
	rows      int
	watermark string

	several []bool          // the columns that have several values in a row
	kinds   map[string]bool // the kinds that occur
	keys    []string        // of a table: the keys of all rows, of changed ones only
}

// fetch requests a table and keeps its rows until all have arrived.
func (o *exporting) fetch(ctx context.Context, cl *client) (got *fetched, err error) {
	response, err := cl.send(ctx, cl.patient(),
		question{method: http.MethodGet, path: "/v1/export/" + string(o.what), query: o.query()})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		_, err := readAnswer(response)
		return nil, err
	}
	got = &fetched{lines: &exchange.Sorter{}, watermark: response.Header.Get(httpapi.WatermarkHeader),
		kinds: map[string]bool{}}
	for _, name := range strings.Split(response.Header.Get(httpapi.ColumnsHeader), ",") {
		got.columns = append(got.columns, exchange.ParseHeader(name))
	}
	got.several = make([]bool, len(got.columns))
	if err := o.receive(got, response.Body); err != nil {
		return nil, errors.Join(err, got.lines.Close())
	}
	if err := o.narrow(ctx, cl, got); err != nil {
		return nil, errors.Join(err, got.lines.Close())
	}
	return got, nil
}

func (o *exporting) receive(got *fetched, body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), maxStreamLine)
	decoder := exchange.NewDecoder(got.columns)
	var by []int
	for _, name := range o.identity() {
		by = append(by, slices.IndexFunc(got.columns, func(c exchange.Column) bool { return c.Name == name }))
	}
	kind := slices.IndexFunc(got.columns, func(c exchange.Column) bool { return c.Name == "kind" })
	keyed := -1
	if o.target != nil && o.since != "" {
		keyed = slices.IndexFunc(got.columns, func(c exchange.Column) bool { return c.Name == o.key() })
	}
	var key []byte
	for ; lines.Scan(); got.rows++ {
		row, err := decoder.Decode(lines.Bytes())
		if err != nil {
			return fmt.Errorf("read the table: %w", err)
		}
		key = key[:0]
		for _, i := range by {
			for _, value := range row[i] {
				key = append(key, value...)
			}
			key = append(key, 0)
		}
		if keyed >= 0 && len(row[keyed]) == 1 {
			got.keys = append(got.keys, strings.Clone(row[keyed][0]))
		}
		for i, values := range row {
			got.several[i] = got.several[i] || len(values) > 1
		}
		if kind >= 0 && len(row[kind]) == 1 {
			got.kinds[row[kind][0]] = true
		}
		if err := got.lines.Add(key, lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the table: %w: %w", errCut, err)
	}
	return nil
}

// narrow marks the columns that must be lists. Without options about kinds and columns, it leaves out the columns of
// kinds that do not occur.
func (o *exporting) narrow(ctx context.Context, cl *client, got *fetched) error {
	for i, several := range got.several {
		got.columns[i].Many = got.columns[i].Many || several
	}
	if o.chosen() {
		chosen, _, err := exchange.Select(got.columns, o.columns)
		got.columns = chosen
		return err
	}
	of, err := o.kindsOf(ctx, cl)
	if err != nil {
		return err
	}
	got.columns = slices.DeleteFunc(got.columns, func(c exchange.Column) bool {
		kinds, attribute := of[c.Name]
		return attribute && !slices.ContainsFunc(kinds, func(kind string) bool { return got.kinds[kind] })
	})
	return nil
}

// write writes the fetched rows.
func (o *exporting) write(to io.Writer, got *fetched) error {
	if o.format == exchange.JSONL && o.columns == nil {
		w := bufio.NewWriterSize(to, 64<<10)
		for line, err := range got.lines.All() {
			if err != nil {
				return err
			}
			_, _ = w.Write(line) // Flush returns the first error
			_ = w.WriteByte('\n')
		}
		return w.Flush()
	}
	w, err := exchange.New(to, o.format, got.columns,
		&exchange.Options{Spreadsheet: o.spreadsheet, Metadata: o.metadata(got.watermark)})
	if err != nil {
		return err
	}
	decoder := exchange.NewDecoder(got.columns)
	for line, err := range got.lines.All() {
		if err != nil {
			return err
		}
		row, err := decoder.Decode(line)
		if err != nil {
			return err
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}
