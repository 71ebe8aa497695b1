// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/export"
)

// Headers of an export: the end of the logs before its first row, and its columns as a CSV header names them.
const (
	WatermarkHeader = "Locus-Watermark"
	ColumnsHeader   = "Locus-Columns"
)

// export streams a table. An error before the first bytes is sent like any other error. A later error closes the
// connection in the middle of the answer, so that a client cannot mistake a part for the whole.
func (s *Server) export(c *call) error {
	who := &access.From(c).Restriction
	q := export.Query{Kind: c.query["kind"], Source: c.query["source"], Kinds: who.Kinds, Hide: who.Hide}
	var err error
	if q.Since, err = c.query.watermark("since"); err != nil {
		return err
	}
	if names := c.query["columns"]; names != "" {
		q.Columns = strings.Split(names, ",")
	}
	format, err := c.exportFormat()
	if err != nil {
		return err
	}
	what, err := c.path("what")
	if err != nil {
		return err
	}
	table, err := export.Open(c, s.svc, export.What(what), q)
	if err != nil {
		return err
	}
	if format == exchange.CSV {
		if err := table.MarkLists(); err != nil {
			return err
		}
	}
	h := c.w.Header()
	h.Set("Content-Type", mediaLines)
	if format == exchange.CSV {
		h.Set("Content-Type", mediaCSV+"; charset=utf-8; header=present")
	}
	h.Set(WatermarkHeader, table.Watermark.String())
	names := make([]string, len(table.Columns))
	for i, column := range table.Columns {
		names[i] = column.Header()
	}
	h.Set(ColumnsHeader, strings.Join(names, ","))
	if c.r.Method == http.MethodHead {
		return nil
	}
	return s.send(c, func(w io.Writer) error { return copyTable(w, format, table) })
}

// send writes a long answer, whose headers are set. After an error in the middle the connection is closed.
func (s *Server) send(c *call, write func(io.Writer) error) error {
	out := &timed{ResponseWriter: c.w, control: http.NewResponseController(c.w)}
	_ = out.control.SetReadDeadline(time.Time{}) // nothing more is read; the answer may be long
	err := write(out)
	switch {
	case err == nil:
		return nil
	case s.streams.Err() != nil:
		err = standard(CodeDraining)
	}
	h := c.w.Header()
	if !out.begun {
		for _, name := range []string{"Content-Type", WatermarkHeader, ColumnsHeader, TotalsHeader} {
			h.Del(name)
		}
		return err
	}
	s.note(c.r, problem(toFault(err, ""), h.Get(requestIDHeader)), err)
	panic(http.ErrAbortHandler)
}

// exportFormat returns the format that the parameter names, or the header Accept; JSON lines without either.
func (c *call) exportFormat() (exchange.Format, error) {
	switch text := c.query["format"]; text {
	case "":
	case string(exchange.CSV), string(exchange.JSONL):
		return exchange.Format(text), nil
	default:
		return "", fault(CodeInvalid, pointerTo("format"), "unknown format %.20q: want csv or jsonl", text)
	}
	for media := range accepted(c.r) {
		if media == mediaCSV || media == mediaLines {
			if media == mediaCSV {
				return exchange.CSV, nil
			}
			break
		}
	}
	return exchange.JSONL, nil
}

func copyTable(out io.Writer, format exchange.Format, table *export.Table) error {
	w, err := exchange.New(out, format, table.Columns, nil)
	if err != nil {
		return err
	}
	for row, err := range table.Rows {
		if err != nil {
			return err
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

// timed is an answer whose parts must each be taken within streamWrite.
type timed struct {
	http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// Write writes a part.
func (t *timed) Write(b []byte) (int, error) {
	t.begun = true
	if err := t.control.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return t.ResponseWriter.Write(b)
}
