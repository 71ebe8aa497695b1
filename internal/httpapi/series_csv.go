// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/counter"
)

const mediaCSV = "text/csv"

// tabular is an answer that can be written as a table.
type tabular interface {
	// csv is the table, its first row the names of the columns.
	csv() []byte
}

// wantsCSV tells whether a client asks for a table and not for JSON before it.
func wantsCSV(r *http.Request) bool {
	for media := range accepted(r) {
		if media == mediaCSV || media == mediaJSON {
			return media == mediaCSV
		}
	}
	return false
}

// csv has a row for each step and a column for each counter, five for a gauge. What is null is empty.
func (s *Series) csv() []byte {
	var body bytes.Buffer
	w := csv.NewWriter(&body)
	row := []string{"time"}
	var columns [][]counter.Value
	for i := range s.Lines {
		line, name := &s.Lines[i], harmless(s.Lines[i].Metric)
		if line.Kind == counter.Counter.String() {
			row, columns = append(row, name), append(columns, line.Values)
			continue
		}
		row = append(row, name+" min", name+" max", name+" sum", name+" count", name+" last")
		columns = append(columns, line.Min, line.Max, line.Sum, line.Count, line.Last)
	}
	_ = w.Write(row) // into memory, which does not fail
	for i, at := range s.Times {
		row = append(row[:0], at.Format(time.RFC3339))
		for _, column := range columns {
			text := ""
			if column[i] != counter.Null {
				text = strconv.FormatInt(int64(column[i]), 10)
			}
			row = append(row, text)
		}
		_ = w.Write(row)
	}
	w.Flush()
	return body.Bytes()
}

// harmless keeps spreadsheets from taking a name for a formula.
func harmless(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r", rune(name[0])) {
		return "'" + name
	}
	return name
}
