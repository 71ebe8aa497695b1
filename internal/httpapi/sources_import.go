// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/sources"
)

// ImportReport is the body of PUT /v1/sources/{source}/import.
type ImportReport struct {
	File     string            `json:"file" doc:"Name of the file or the table that was read, at most 255 bytes"`
	Rows     int64             `json:"rows" doc:"Number of rows read, also refused ones"`
	Outcomes map[string]int64  `json:"outcomes" doc:"Rows by outcome, such as created, matched, updated, unchanged and refused"`
	Refusals []sources.Refusal `json:"refusals,omitempty" maxItems:"20" doc:"Refused rows by cause, the most frequent first"`
	Cursor   *sources.Cursor   `json:"cursor,omitempty" doc:"Where the next import of the table with --since begins; missing without one"`
	Stopped  string            `json:"stopped,omitempty" doc:"Why it ended before its last row; missing if all rows were read"`
}

// ReportOf returns the report of an import of a file into the source that was counted. stopped is why it ended before
// its last row, or "".
func ReportOf(file string, t *bulk.Tally, stopped string) *ImportReport {
	r := &ImportReport{File: reportText(file), Rows: t.Rows, Outcomes: t.Counts, Stopped: reportText(stopped)}
	for cause, n := range t.Causes {
		r.Refusals = append(r.Refusals, sources.Refusal{Cause: reportText(cause), Rows: n.Rows, First: n.Line})
	}
	slices.SortFunc(r.Refusals, func(a, b sources.Refusal) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Cause, b.Cause))
	})
	r.Refusals = r.Refusals[:min(len(r.Refusals), sources.MaxRefusals)]
	return r
}

// reportText returns the beginning of a text, as long as a report may have.
func reportText(text string) string {
	if len(text) <= sources.MaxFile {
		return text
	}
	return strings.ToValidUTF8(text[:sources.MaxFile-len("…")], "") + "…"
}

// stored returns the report as it is stored.
func (r *ImportReport) stored() sources.Import {
	return sources.Import{File: r.File, Rows: r.Rows, Outcomes: r.Outcomes, Refusals: r.Refusals, Cursor: r.Cursor,
		Stopped: r.Stopped}
}

// putImport stores what the program that ran an import reports about it.
func (s *Server) putImport(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	if _, err := object(c.body, "file", "rows", "outcomes", "refusals", "cursor", "stopped"); err != nil {
		return nil, err
	}
	var in ImportReport
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, fault(CodeInvalid, "", "the report of an import: %v", err)
	}
	if err := s.svc.Sources().Imported(c, name, in.stored()); err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, nil
}
