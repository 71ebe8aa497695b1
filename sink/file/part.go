// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

// Format is the format of the parts.
type Format string

// The formats.
const (
	JSONL   Format = "jsonl"   // an event per line, as webhooks get it
	Parquet Format = "parquet" // a row per event; view is JSON
)

// line is an event in a part: sink.Event with its view as text.
type line struct {
	ID      locality.ID     `json:"id"`
	Rev     int64           `json:"rev,string"`
	Op      sink.Op         `json:"op"`
	Kind    string          `json:"kind,omitempty"`
	Into    locality.ID     `json:"into,omitzero"`
	At      string          `json:"at,omitempty"`
	Records []string        `json:"records,omitempty"`
	View    json.RawMessage `json:"view,omitempty"`
}

// lineOf returns the line of an event.
func lineOf(e *sink.Event) (line, error) {
	l := line{ID: e.ID, Rev: e.Rev, Op: e.Op, Kind: e.Kind, Into: e.Into, At: e.At, Records: e.Records}
	var err error
	if e.View != nil {
		l.View, err = json.Marshal(e.View)
	}
	return l, err
}

// row is a line in Parquet.
type row struct {
	ID      string   `parquet:"id"`
	Rev     int64    `parquet:"rev"`
	Op      string   `parquet:"op,dict"`
	Kind    *string  `parquet:"kind,optional,dict"`
	Into    *string  `parquet:"into,optional"`
	At      *string  `parquet:"at,optional"`
	Records []string `parquet:"records,list"`
	View    *string  `parquet:"view,optional"`
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (l *line) row() row {
	r := row{ID: l.ID.String(), Rev: l.Rev, Op: string(l.Op), Kind: optional(l.Kind), At: optional(l.At),
		Records: l.Records, View: optional(string(l.View))}
	if !l.Into.IsZero() {
		r.Into = optional(l.Into.String())
	}
	return r
}

func (r *row) line() (l line, err error) {
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	l = line{Rev: r.Rev, Op: sink.Op(r.Op), Kind: text(r.Kind), At: text(r.At), Records: r.Records}
	if len(l.Records) == 0 {
		l.Records = nil
	}
	if r.View != nil {
		l.View = json.RawMessage(*r.View)
	}
	if l.ID, err = locality.Parse(r.ID); err == nil && r.Into != nil {
		l.Into, err = locality.Parse(*r.Into)
	}
	return l, err
}

// partWriter writes a part, which gets its name when it is closed.
type partWriter struct {
	file   *exchange.File
	buffer *bufio.Writer
	json   *json.Encoder
	rows   *parquet.GenericWriter[row]
	n      int64
}

func createPart(name string, format Format) (*partWriter, error) {
	f, err := exchange.Create(name)
	if err != nil {
		return nil, err
	}
	w := &partWriter{file: f, buffer: bufio.NewWriterSize(f, 1<<18)}
	if format == Parquet {
		w.rows = parquet.NewGenericWriter[row](w.buffer, parquet.Compression(&parquet.Zstd),
			parquet.MaxRowsPerRowGroup(50_000))
		return w, nil
	}
	w.json = json.NewEncoder(w.buffer)
	w.json.SetEscapeHTML(false)
	return w, nil
}

func (w *partWriter) write(l *line) error {
	w.n++
	if w.rows == nil {
		return w.json.Encode(l)
	}
	_, err := w.rows.Write([]row{l.row()})
	return err
}

func (w *partWriter) close() error {
	var err error
	if w.rows != nil {
		err = w.rows.Close()
	}
	if err = errors.Join(err, w.buffer.Flush()); err != nil {
		return err
	}
	return w.file.Commit()
}

// partReader reads the lines of a part in order.
type partReader struct {
	file   *os.File
	buffer *bufio.Reader
	rows   *parquet.GenericReader[row]
	now    line // valid until done
	done   bool
}

func openPart(name string, format Format) (*partReader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r := &partReader{file: f}
	if format == Parquet {
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		p, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("file: %s: %w", name, err), f.Close())
		}
		r.rows = parquet.NewGenericReader[row](p)
	} else {
		r.buffer = bufio.NewReaderSize(f, 1<<16)
	}
	return r, r.next()
}

// next reads the next line.
func (r *partReader) next() (err error) {
	if r.rows != nil {
		var one [1]row
		n, err := r.rows.Read(one[:])
		if n == 0 {
			r.done = errors.Is(err, io.EOF)
			return r.broken(err)
		}
		r.now, err = one[0].line()
		return r.broken(err)
	}
	text, err := r.buffer.ReadBytes('\n')
	if err != nil {
		r.done = errors.Is(err, io.EOF) && len(text) == 0
		return r.broken(err)
	}
	r.now = line{}
	return r.broken(json.Unmarshal(text, &r.now))
}

// broken adds the name of the part to an error; the end of the file is not an error.
func (r *partReader) broken(err error) error {
	if err == nil || r.done {
		return nil
	}
	return fmt.Errorf("file: read %s: %w", r.file.Name(), err)
}

func (r *partReader) close() { _ = r.file.Close() }
