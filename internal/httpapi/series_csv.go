// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strings"
	"time"
)

const mediaCSV = "text/csv"

// tabular is an answer that can be written as CSV.
type tabular interface {
	// csv returns the table; its first row has the column names.
	csv() []byte
}

// wantsCSV reports whether a client prefers CSV to JSON.
func wantsCSV(r *http.Request) bool {
	for media := range accepted(r) {
		if media == mediaCSV || media == mediaJSON {
			return media == mediaCSV
		}
	}
	return false
}

// csv returns a row for each step and a column for each counter, five for a gauge. Null is empty.
func (s *Series) csv() []byte {
	var body bytes.Buffer
	w := csv.NewWriter(&body)
	row := []string{"time"}
	var columns []Column
	for i := range s.Lines {
		names, of := s.Lines[i].Columns()
		for _, name := range names {
			row = append(row, harmless(name))
		}
		columns = append(columns, of...)
	}
	_ = w.Write(row) // cannot fail in memory
	for i, at := range s.Times {
		row = append(row[:0], at.Format(time.RFC3339))
		for _, column := range columns {
			row = append(row, column.Text(i))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return body.Bytes()
}

// harmless keeps spreadsheets from interpreting a name as a formula.
func harmless(name string) string {
	if name != "" && strings.ContainsRune("=+-@\t\r", rune(name[0])) {
		return "'" + name
	}
	return name
}
