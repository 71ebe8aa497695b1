// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/records"
)

// mediaFile is the type of the body that has a part of a file. No form sends it.
const mediaFile = "application/octet-stream"

// fromFile registers a handler for a part of a file, from a page of this server. The part has a header and whole rows,
// like a small file, so the server keeps nothing between two parts, and the limits of any other body hold.
func (p *site) fromFile(path string, class audit.Class, do func(*call) error) http.HandlerFunc {
	rt := &route{path: path, class: writes, audit: class}
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Context: r.Context(), w: w, r: r, route: rt, class: rt.class}
		err := fromPage(r)
		if err == nil {
			c.query, err = parseQuery(r.URL.RawQuery)
		}
		if err == nil {
			var free func()
			if free, err = p.readBody(c, mediaFile); err == nil {
				defer free()
				err = p.run(c, func() error { return do(c) })
			}
		}
		if err != nil {
			p.refuse(w, r, err)
		}
	}
}

// itemOf is a row as an item of a put.
func itemOf(ctx context.Context, row *bulk.Row) (it item) {
	observed, f := observedAt(row.Observed)
	it.put = records.Input{Ref: entity.Ref{Source: row.Source, Key: row.Key}, Kind: row.Kind, Observed: observed,
		Attributes: entity.Attributes(row.Attributes)}
	it.note(f)
	it.note(requireSource(access.From(ctx), row.Source, "/source"))
	return it
}

// imported is the response for a part: the outcomes of its rows, also by source, and the refused rows.
type imported struct {
	Rows    int                       `json:"rows"`
	Became  map[string]int            `json:"became"`
	Sources map[string]map[string]int `json:"sources"`
	Refused []importedRefusal         `json:"refused"`
}

// importedRefusal is a refused row of a part. Its line is counted from the beginning of the part.
type importedRefusal struct {
	Line   int64           `json:"line"`
	Reason string          `json:"reason"`
	Source string          `json:"source"`
	Cause  string          `json:"cause"` // the reason without the values of the row
	Row    json.RawMessage `json:"row,omitempty"`
}

func (i *imported) refuse(e *bulk.RowError, source string) {
	r := e.Reject()
	i.Refused = append(i.Refused, importedRefusal{r.Line, r.Reason, cmp.Or(r.Source, source), r.Cause, r.Row})
}

func (i *imported) accept(r *PutResult) {
	if i.Sources[r.Source] == nil {
		i.Sources[r.Source] = map[string]int{}
	}
	i.Sources[r.Source][string(r.Outcome)]++
	if r.Pending {
		i.Became["pending"]++
	} else {
		i.Became[string(r.Outcome)]++
	}
}

// importPart puts the records of a part, at most one batch.
func (p *site) importPart(c *call) error {
	plan, err := p.planOf(c, p.svc.Kinds().Schemas())
	if err != nil {
		return fault(CodeInvalid, "", "%s", fileProblem(err))
	}
	plan.LeaveOut()
	reader, err := plan.Open()
	if err != nil {
		return errors.Join(fault(CodeInvalid, "", "%s", fileProblem(err)), plan.Close())
	}
	defer reader.Close()
	answer := imported{Became: map[string]int{}, Sources: map[string]map[string]int{}, Refused: []importedRefusal{}}
	var items []item
	var rows []*bulk.Row
	for {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if answer.Rows++; answer.Rows > records.MaxBatch {
			return fault(CodeTooLarge, "", "a part of a file has at most %d rows", records.MaxBatch)
		}
		if refused, is := errors.AsType[*bulk.RowError](err); is {
			answer.refuse(refused, plan.Source)
			continue
		}
		if err != nil {
			return fault(CodeInvalid, "", "%s", fileProblem(err))
		}
		items, rows = append(items, itemOf(c, row)), append(rows, row)
	}
	p.svc.Counters().CountOwn(locus.OwnMetrics+"refused", int64(len(answer.Refused)))
	if len(items) > 0 {
		put, err := p.putItems(c, items)
		if err != nil {
			return err
		}
		for i := range put.Results {
			if r := &put.Results[i]; r.Error != nil {
				answer.refuse(r.Error.OfRow(rows[i]), plan.Source)
			} else {
				answer.accept(r)
			}
		}
	}
	p.looks.drop("survey") // the page of the import shows its sources
	slices.SortStableFunc(answer.Refused, func(a, b importedRefusal) int { return int(a.Line - b.Line) })
	writeJSON(c.w, http.StatusOK, mediaJSON, answer)
	return nil
}

// reportImport stores what the page counted for each source of a file, when the file has ended.
func (p *site) reportImport(c *call) error {
	var of map[string]*bulk.Tally
	if err := json.Unmarshal(c.body, &of); err != nil {
		return fault(CodeInvalid, "", "want the counts of sources by their names")
	}
	all := slices.Sorted(maps.Keys(of))
	for _, source := range all[:min(len(all), bulk.MaxSources)] {
		// Rows of other sources, and of names that no source can have, were refused.
		if of[source] == nil || requireSource(access.From(c), source, "") != nil ||
			len(records.CheckRef(entity.Ref{Source: source, Key: "any"})) > 0 {
			continue
		}
		report := ReportOf(c.query["name"], of[source], c.query["stopped"])
		if err := p.svc.Sources().Imported(c, source, report.stored()); err != nil {
			return err
		}
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
