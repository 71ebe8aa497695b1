// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/export"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/pgtable"
	"github.com/locus-db/locus/internal/sqltable"
	"github.com/locus-db/locus/internal/term"
)

// columnPUID identifies a record in an installation.
const columnPUID = "puid"

// key returns the column that identifies a row of a table of PostgreSQL, "" without one.
func (o *exporting) key() string {
	switch o.what {
	case export.Records, export.Links:
		return columnPUID
	case export.Entities:
		return "entity"
	}
	return ""
}

// exportTo fills a table of PostgreSQL, or brings it up to date from the watermark that is stored with it. Everything
// has arrived before the table is changed.
func (a *app) exportTo(ctx context.Context, cl *client, o *exporting) error {
	if err := o.target.Connect(ctx); err != nil {
		return toFailure(err)
	}
	defer o.target.Close()
	installation, _, err := (&source{cl}).Installation(ctx)
	if err != nil {
		return err
	}
	state, err := o.target.Begin(ctx,
		pgtable.Spec{Installation: installation, What: string(o.what), Kind: o.kind, Source: o.source, Columns: o.columns})
	if err != nil {
		return toFailure(err)
	}
	if key := o.key(); o.columns == nil {
		o.columns = []string{export.UsualColumns}
	} else if key != "" && !slices.Contains(o.columns, key) {
		o.columns = append([]string{key}, o.columns...)
	}
	load := &pgtable.Load{Key: o.key()}
	var got *fetched
	if o.since = state.Watermark; o.since != "" && o.what != export.Decisions {
		got, err = o.fetchChanges(ctx, cl)
		if p, ok := errors.AsType[*httpapi.Problem](err); ok && p.Code == httpapi.CodeTrimmed {
			a.say("the logs no longer reach back to the last export: writing everything again")
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if got == nil {
		o.since, load.Whole = "", true
		if got, err = o.fetch(ctx, cl); err != nil {
			return err
		}
	}
	defer got.lines.Close()
	o.load(load, got)
	if _, err := o.target.Write(ctx, state, load); err != nil {
		return toFailure(err)
	}
	return a.exportedTo(o, got, load.Whole)
}

// fetchChanges fetches the changes after the watermark of the table. The server leaves out rows that no longer belong
// to the kind or the source, though they may have when the table was written. So all changed rows are fetched first, to
// be removed.
func (o *exporting) fetchChanges(ctx context.Context, cl *client) (*fetched, error) {
	if o.kind == "" && o.source == "" {
		return o.changed(ctx, cl)
	}
	of := *o
	of.kind, of.source, of.columns = "", "", []string{o.key()}
	all, err := of.changed(ctx, cl)
	if err != nil {
		return nil, err
	}
	if err := all.lines.Close(); err != nil {
		return nil, err
	}
	got, err := o.changed(ctx, cl)
	if err != nil {
		return nil, err
	}
	got.keys, got.watermark = append(got.keys, all.keys...), all.watermark
	slices.Sort(got.keys)
	got.keys = slices.Compact(got.keys)
	return got, nil
}

// changed fetches changed rows, with their op.
func (o *exporting) changed(ctx context.Context, cl *client) (*fetched, error) {
	of := *o
	if of.chosen() {
		of.columns = append(slices.Clone(o.columns), "op")
	}
	return of.fetch(ctx, cl)
}

// load describes how to write the fetched rows.
func (o *exporting) load(l *pgtable.Load, got *fetched) {
	op := -1
	for i, c := range got.columns {
		switch {
		case o.since != "" && c.Name == "op":
			op = i
		case o.since != "" && c.Name == "into" && o.what == export.Entities:
		default:
			l.Columns, l.At = append(l.Columns, pgtable.Column{Name: c.Name, Type: o.typeOf(c)}), append(l.At, i)
		}
	}
	l.Gone = func(yield func(string, error) bool) {
		for _, key := range got.keys {
			if !yield(key, nil) {
				return
			}
		}
	}
	l.Watermark = got.watermark
	l.Rows = got.rowsOf(op)
}

// rowsOf returns the rows to store; op is the position of that column, or -1.
func (got *fetched) rowsOf(op int) iter.Seq2[exchange.Row, error] {
	return func(yield func(exchange.Row, error) bool) {
		decoder := exchange.NewDecoder(got.columns)
		for line, err := range got.lines.All() {
			var row exchange.Row
			if err == nil {
				row, err = decoder.Decode(line)
			}
			if err == nil && op >= 0 && !slices.Equal(row[op], []string{export.OpUpsert}) {
				continue
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// typeOf returns the type of a column in PostgreSQL: the type of Locus's own columns, and text for attributes.
func (o *exporting) typeOf(c exchange.Column) string {
	own := map[export.What]map[string]string{
		export.Records: {columnPUID: pgtable.Number, "version": pgtable.Number, "entity": pgtable.ID,
			"observed_at": pgtable.Time},
		export.Links:     {columnPUID: pgtable.Number, "entity": pgtable.ID},
		export.Entities:  {"entity": pgtable.ID},
		export.Decisions: {"at": pgtable.Time, "entity_a": pgtable.ID, "entity_b": pgtable.ID},
	}
	if is := own[o.what][c.Name]; is != "" {
		return is
	}
	if c.Many {
		return pgtable.List
	}
	return pgtable.Text
}

// exportedTo prints a summary of the written rows.
func (a *app) exportedTo(o *exporting, got *fetched, whole bool) error {
	n := got.rows
	if !whole {
		n = len(got.keys)
	}
	if a.json {
		return a.printJSON(map[string]any{"type": "summary", "what": o.what, "to": sqltable.Name(o.to), "rows": n,
			"whole": whole, "watermark": got.watermark})
	}
	what := counted(int64(n), "row", "rows")
	if !whole {
		what = counted(int64(n), "changed row", "changed rows")
	}
	a.say("%s: %s, watermark %s", term.Escape(o.target.Name()), what, got.watermark)
	return nil
}

// toFailure returns the failure of a target's error.
func toFailure(err error) error {
	switch {
	case errors.Is(err, pgtable.ErrForeign), errors.Is(err, pgtable.ErrChanged):
		return &failure{Code: "conflict", Message: err.Error(), Exit: exitConflict, Err: err}
	case errors.Is(err, pgtable.ErrConnect):
		return &failure{Code: "unavailable", Message: err.Error(), Hint: "check --to, PGPASSWORD and whether the server runs",
			Exit: exitUnavailable, Err: err}
	}
	return err
}
