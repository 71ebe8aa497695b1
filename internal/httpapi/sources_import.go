// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/locus-db/locus/sources"
)

// ImportReport is the body of PUT /v1/sources/{source}/import.
type ImportReport struct {
	File     string            `json:"file" doc:"Name of the file or the table that was read, at most 255 bytes"`
	Rows     int64             `json:"rows" doc:"Number of rows read, also refused ones"`
	Outcomes map[string]int64  `json:"outcomes" doc:"Rows by outcome, such as created, matched, updated, unchanged and refused"`
	Refusals []sources.Refusal `json:"refusals,omitempty" maxItems:"20" doc:"Refused rows by cause, the most frequent first"`
	Stopped  string            `json:"stopped,omitempty" doc:"Why it ended before its last row; missing if all rows were read"`
}

// putImport stores what the program that ran an import reports about it.
func (s *Server) putImport(c *call) (any, error) {
	name, err := c.path("source")
	if err != nil {
		return nil, err
	}
	if _, err := object(c.body, "file", "rows", "outcomes", "refusals", "stopped"); err != nil {
		return nil, err
	}
	var in ImportReport
	d := json.NewDecoder(bytes.NewReader(c.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, fault(CodeInvalid, "", "the report of an import: %v", err)
	}
	if err := s.svc.Sources().Imported(c, name, sources.Import{
		File: in.File, Rows: in.Rows, Outcomes: in.Outcomes, Refusals: in.Refusals, Stopped: in.Stopped,
	}); err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, nil
}
