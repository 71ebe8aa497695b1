// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
)

// importShown is how many records of a file are shown in its preview.
const importShown = 3

// importNear is how many entities a record of a file is compared with in its preview.
const importNear = 2

// planOf recognises the beginning of a part, with the options of the page.
func (p *site) planOf(c *call, kinds []*match.Schema) (*bulk.Plan, error) {
	head := c.body[:min(len(c.body), 4096)]
	switch {
	case len(head) == 0:
		return nil, errors.New("the file is empty")
	case bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("\x1f\x8b")) || bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return nil, errors.New("this is not CSV, JSON lines or JSON as text: compressed files, workbooks, Parquet and UTF-16 are imported with locus ingest")
	}
	o := &bulk.Options{
		Format: bulk.Format(c.query["format"]), Delimiter: c.query["delimiter"], Quote: c.query["quote"],
		NoHeader: c.query["header"] == "no", Part: true,
		Source: c.query["source"], Kind: c.query["kind"],
	}
	if o.Format != bulk.Auto && o.Format != bulk.CSV && o.Format != bulk.JSONL && o.Format != bulk.JSON {
		return nil, fmt.Errorf("the format %.20q is imported with locus ingest", o.Format)
	}
	encoding, err := bulk.ParseEncoding(cmp.Or(c.query["encoding"], string(bulk.AutoEncoding)))
	if err != nil {
		return nil, err
	}
	if o.Encoding = encoding; o.Delimiter+o.Quote != "" {
		if err := o.CheckDialect(); err != nil {
			return nil, err
		}
	}
	if o.Source == "" && c.query["mapped"] == "" {
		o.Source = bulk.SourceOf(c.query["name"])
	}
	for name := range strings.SplitSeq(c.query["key"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			o.Key = append(o.Key, name)
		}
	}
	if c.query["mapped"] != "" { // a person has seen the columns
		o.IgnoreUnknown = true
		if null := c.query["null"]; null != "" {
			o.Null = strings.Split(null, "|")
		}
		if len(o.Key) == 0 {
			o.Key = []string{bulk.HashKey}
		}
		for _, name := range slices.Sorted(maps.Keys(c.query)) {
			attribute, is := strings.CutPrefix(name, "set.")
			switch from := strings.TrimSpace(c.query[name]); {
			case !is:
			case from == "":
				o.Ignore = append(o.Ignore, attribute)
			default:
				o.Set = append(o.Set, bulk.Assignment{Attribute: attribute, Expression: from})
			}
		}
	}
	return p.recognised(c, kinds, o)
}

// recognised leaves out of Ignore the columns that the file does not have.
func (p *site) recognised(c *call, kinds []*match.Schema, o *bulk.Options) (*bulk.Plan, error) {
	ignore := o.Ignore
	o.Ignore = nil
	plan, err := bulk.Recognise(bulk.Stdin, bytes.NewReader(c.body), kinds, o)
	if err != nil || len(ignore) == 0 {
		return plan, err
	}
	for _, column := range plan.Columns {
		if slices.Contains(ignore, column.Name) {
			o.Ignore = append(o.Ignore, column.Name)
		}
	}
	if err := plan.Close(); err != nil {
		return nil, err
	}
	return bulk.Recognise(bulk.Stdin, bytes.NewReader(c.body), kinds, o)
}

// previewPart shows how a file would be read, by its beginning.
func (p *site) previewPart(c *call) error {
	kinds := p.svc.Kinds().Schemas()
	shown := console.Import{Name: cut(c.query["name"], 200)}
	plan, err := p.planOf(c, kinds)
	if err != nil {
		shown.Problem = fileProblem(err)
	} else if err = errors.Join(p.propose(c, plan, &shown), plan.Close()); err != nil {
		return err
	}
	var body bytes.Buffer
	if err := p.shown(c.r).Import(&body, shown); err != nil {
		return err
	}
	writePage(c.w, http.StatusOK, &body)
	return nil
}

// fileProblem returns the problem of a file, without the hints about flags, which a page does not have.
func fileProblem(err error) string {
	if f, is := errors.AsType[*bulk.FileError](err); is {
		if f.Line > 0 {
			return fmt.Sprintf("line %d: %s", f.Line, f.Reason)
		}
		return f.Reason
	}
	return err.Error()
}

// propose fills in the recognised columns, and the matches of the first records.
func (p *site) propose(c *call, plan *bulk.Plan, shown *console.Import) error {
	kinds := p.svc.Kinds().Schemas()
	shown.Layout, shown.Source, shown.Kind, shown.Key = plan.Layout(), plan.Source, cmp.Or(plan.Kind,
		kinds[0].Kind), strings.Join(plan.Key, ",")
	if shown.Key == bulk.HashKey {
		shown.Key = ""
	}
	shown.Args = plan.Args()
	shown.Fixed = map[string]string{"mapped": "1", "name": c.query["name"], "format": string(plan.Format), "encoding": string(plan.Encoding)}
	if null := plan.Null(); len(null) > 0 {
		shown.Fixed["null"] = strings.Join(null, "|")
	}
	if plan.Format == bulk.CSV {
		shown.Fixed["delimiter"], shown.Fixed["quote"] = string(plan.Dialect.Delimiter), "none"
		if plan.Dialect.Quote != 0 {
			shown.Fixed["quote"] = string(plan.Dialect.Quote)
		}
		if !plan.Header {
			shown.Fixed["header"] = "no"
		}
	}
	from := map[string]string{}
	for _, a := range plan.Assignments() {
		from[a.Attribute] = strings.TrimPrefix(from[a.Attribute]+","+a.Expression, ",")
	}
	for _, column := range plan.Columns {
		shown.Columns = append(shown.Columns, console.ImportColumn{
			Name: column.Name, To: strings.Join(column.To, ", "), Reason: column.Reason, Values: column.Values,
		})
		if slices.Contains(column.To, column.Name) && from[column.Name] == "" {
			from[column.Name] = column.Name
		}
	}
	if i := slices.IndexFunc(plan.Columns, func(column bulk.Column) bool { return slices.Contains(column.To, bulk.ColumnKey) }); i >= 0 && shown.Key == "" {
		shown.Key = plan.Columns[i].Name
	}
	for _, k := range kinds {
		shown.Kinds = append(shown.Kinds, k.Kind)
	}
	if schema := p.svc.Kinds().Schema(shown.Kind); schema != nil {
		for _, a := range schema.Attributes {
			shown.Attributes = append(shown.Attributes, console.ImportAttribute{Name: a.Name, From: from[a.Name]})
		}
	}
	plan.LeaveOut()
	for _, q := range plan.Questions {
		text := q.Text
		if len(plan.Key) == 0 && !strings.Contains(text, "source") {
			text += ": name its columns below, or leave the field empty and show again, so that the content of a row is its key"
		}
		shown.Questions = append(shown.Questions, text)
	}
	return p.foresee(c, plan, shown)
}

// foresee returns the entities that the first records would match. Nothing is stored.
func (p *site) foresee(c *call, plan *bulk.Plan, shown *console.Import) error {
	for _, r := range plan.Refused {
		shown.Refused = append(shown.Refused, console.ImportRefusal{Line: r.Line, Reason: r.Reason})
	}
	var probes []entities.Probe
	for _, row := range plan.Sample {
		it := itemOf(c, row)
		if it.fault != nil {
			shown.Refused = append(shown.Refused, console.ImportRefusal{Line: row.Line, Reason: it.fault.Detail})
			continue
		}
		if len(probes) == importShown {
			continue
		}
		line := console.ImportRow{Line: row.Line, Source: row.Source, Key: row.Key}
		for _, name := range slices.Sorted(maps.Keys(row.Attributes)) {
			line.Values = append(line.Values, name+": "+strings.Join(row.Attributes[name], ", "))
		}
		shown.Rows = append(shown.Rows, line)
		probes = append(probes, entities.Probe{Ref: it.put.Ref, Kind: it.put.Kind, Observed: it.put.Observed,
			Attributes: it.put.Attributes})
	}
	if len(probes) == 0 {
		return nil
	}
	found, err := p.svc.Entities().Match(c, probes, &entities.MatchOptions{Put: true, Top: importNear})
	if err != nil {
		return err
	}
	for i, f := range found {
		row := &shown.Rows[i]
		for _, err := range []error{f.Err, f.PutErr} {
			if err != nil {
				shown.Refused = append(shown.Refused, console.ImportRefusal{Line: row.Line, Reason: toFault(err, "").Detail})
			}
		}
		for _, near := range f.Candidates {
			row.Near = append(row.Near, console.ImportNear{Entity: near.Entity.ID.String(), Name: near.Entity.View.First("name"),
				Level: string(near.Level), Weight: near.MatchWeight.String()})
		}
		if f.Put != nil {
			if row.Outcome = f.Put.Outcome; !f.Put.Entity.IsZero() {
				row.Entity, row.Name = f.Put.Entity.String(), f.Put.Entity.String()
				for _, near := range row.Near {
					if near.Entity == row.Entity {
						row.Name = near.Name
					}
				}
			}
		}
	}
	return nil
}
