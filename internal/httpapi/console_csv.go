// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/csv"
	"mime"
	"net/http"
	"strconv"
)

// writeTable writes a table as a CSV file that the browser saves under a name. The first row has the names of the
// columns. A text that a spreadsheet would take for a formula is quoted; numbers are left alone.
func writeTable(c *call, name string, rows [][]string) {
	var body bytes.Buffer
	w := csv.NewWriter(&body)
	for _, row := range rows {
		for i, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err != nil {
				row[i] = harmless(cell)
			}
		}
		_ = w.Write(row) // cannot fail in memory
	}
	w.Flush()
	c.w.Header().Set("Content-Disposition",
		mime.FormatMediaType("attachment", map[string]string{"filename": name + ".csv"}))
	writeWhole(c.w, http.StatusOK, mediaCSV+"; charset=utf-8; header=present", body.Bytes())
}
