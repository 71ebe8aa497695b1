// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/match"
)

// hitKind describes the columns of a file of hits.
var hitKind = &match.Schema{Kind: "hit", Version: 1, Attributes: []match.Attribute{
	{Name: "at", Type: match.TypeDate}, {Name: "n", Type: match.TypeNumber}, {Name: "value", Type: match.TypeNumber},
}}

// openHits opens a file of hits.
func openHits(name string, stdin io.Reader, format string) (*bulk.Reader, error) {
	plan, err := bulk.Recognise(name, stdin, []*match.Schema{hitKind}, &bulk.Options{
		Format: bulk.Format(format), Source: "hits", Key: []string{"metric"}, Exact: true,
	})
	if err != nil {
		return nil, err
	}
	reader, err := plan.Open()
	return reader, errors.Join(err, plan.Close())
}

// columnsHint adapts the hints of an error to files of hits.
func columnsHint(err error) error {
	if file, ok := errors.AsType[*bulk.FileError](err); ok && (strings.HasPrefix(file.Hint, "--key ") || strings.HasPrefix(file.Hint, "--set ") || strings.HasPrefix(file.Hint, "the columns are")) {
		file.Reason = strings.Replace(file.Reason, "is no attribute", "is not a column of hits", 1)
		file.Hint = "its columns are metric, at, and n or value"
	}
	return err
}

// add adds a row to the batch, or returns why it is rejected.
func (h *hitFile) add(row *bulk.Row) *bulk.RowError {
	hit := httpapi.HitInput{Metric: row.Key}
	fields := map[string]string{}
	for name, values := range row.Attributes {
		if len(values) != 1 {
			return wrongHit(row, name, "want one value")
		}
		fields[name] = values[0]
	}
	hit.At = fields["at"]
	_, counts := fields["n"]
	_, reads := fields["value"]
	switch {
	case hit.At == "":
		return wrongHit(row, "at", "it is missing: each row needs the time of its hit")
	case counts && reads:
		return wrongHit(row, "value", "a counter has n, a gauge has value: not both")
	}
	for name, to := range map[string]**int64{"n": &hit.N, "value": &hit.Value} {
		if text, there := fields[name]; there {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return wrongHit(row, name, fmt.Sprintf("%.40q is not a whole number", text))
			}
			*to = &n
		}
	}
	text, err := json.Marshal(hit)
	if err != nil {
		return wrongHit(row, "", err.Error())
	}
	if len(h.body) > 0 {
		h.body = append(h.body, ',')
	}
	h.body, h.lines, h.size = append(h.body, text...), append(h.lines, row), h.size+len(text)
	return nil
}

func wrongHit(row *bulk.Row, field, reason string) *bulk.RowError {
	e := &bulk.RowError{Line: row.Line, Lines: row.Lines, Code: string(httpapi.CodeInvalid), Reason: reason,
		Row: flatHit(row)}
	if field != "" {
		e.Pointer = "/" + field
	}
	return e
}

// flatHit returns a row as a JSONL line.
func flatHit(row *bulk.Row) json.RawMessage {
	flat := row.Values()
	flat["metric"] = row.Key
	text, _ := json.Marshal(flat) // cannot fail: strings and lists of strings
	return text
}
