// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/export"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/review"
)

// dedupe groups the rows and writes the files.
func (a *app) dedupe(ctx context.Context, o *oneShot) (err error) {
	if err := o.takeOnce(); err != nil {
		return err
	}
	if err := o.weigh(ctx, a); err != nil {
		return err
	}
	s, err := dedupe.Open(ctx, &dedupe.Options{Keep: o.keep, Kinds: o.kinds, Terms: o.terms, Counted: o.schema.Kind,
		Resolving: o.resolving})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var ends []int
	for i := range o.files {
		if err := o.load(ctx, a, s, i); err != nil {
			return err
		}
		ends = append(ends, s.Len())
	}
	if len(o.files) > 1 {
		o.header.Add("source")
	}
	clusters, err := s.Finish(ctx)
	o.progress.Close()
	if err != nil {
		return err
	}
	columns, err := o.header.Output()
	if err != nil {
		return usage("rename it in the file", "%v", err)
	}
	if err := a.table(ctx, o.out, columns, func(w exchange.Writer) error {
		first := 0
		for i := range o.files {
			if err := o.rows(w, clusters, i, first); err != nil {
				return err
			}
			first = ends[i]
		}
		return o.unchanged()
	}); err != nil {
		return err
	}
	if err := o.others(ctx, a, s, clusters); err != nil {
		return err
	}
	err = o.summary(a, map[string]any{"rows": s.Len(), "clusters": clusters.Len()},
		counted(int64(s.Len()), "row", "rows")+" in "+counted(int64(clusters.Len()), "cluster", "clusters"))
	return errors.Join(err, o.partly(s.Len()))
}

// summary prints the size of the tables. If a table is written to standard output, it goes to standard error.
func (o *oneShot) summary(a *app, counts map[string]any, text string) error {
	if !a.json {
		a.say("%s: %s", term.Escape(o.outName()), text)
		return nil
	}
	maps.Copy(counts, map[string]any{"type": "summary", "file": o.outName(), "kind": o.schema.Kind, "refused": o.refused,
		"empty": o.empty, "footer": o.footer})
	if !o.toStdout() {
		return a.printJSON(counts)
	}
	line, err := json.Marshal(counts)
	a.say("%s", line)
	return err
}

// rows reads a file once more and writes its rows.
func (o *oneShot) rows(w exchange.Writer, clusters *dedupe.Clusters, i, first int) error {
	r, err := o.open(i)
	if err != nil {
		return err
	}
	defer r.Close()
	source := ""
	if len(o.files) > 1 && !slices.Contains(r.Header(), "source") {
		source = o.sources[i]
	}
	_, err = clusters.Rows(w, &o.header, r, source, first)
	return err
}

// table writes a file in one step, in the format that its name says, or to the standard output, with --json as JSON
// lines.
func (a *app) table(ctx context.Context, name string, columns []exchange.Column, rows func(exchange.Writer) error) error {
	fallback := exchange.CSV
	if a.json {
		fallback = exchange.JSONL
	}
	format, err := exchange.ParseFormat("", name, fallback)
	if err != nil {
		return err
	}
	to, file, err := a.create(name)
	if err != nil {
		return err
	}
	defer file.Discard()
	w, err := exchange.New(to, format, columns, nil)
	if err != nil {
		return err
	}
	if err := rows(w); err != nil {
		return err
	}
	if err := errors.Join(w.Close(), ctx.Err()); err != nil {
		return err
	}
	return file.Commit()
}

// others writes the links, the golden rows and the pairs to review.
func (o *oneShot) others(ctx context.Context, a *app, s *dedupe.Session, c *dedupe.Clusters) error {
	cluster := exchange.Column{Name: dedupe.ColumnCluster, Type: exchange.Int}
	if o.links != "" {
		if err := a.table(ctx, o.links, []exchange.Column{{Name: "source"}, {Name: "key"}, cluster}, func(w exchange.Writer) error {
			return s.EachLink(ctx, c, func(source, key string, id int) error {
				return w.Write(exchange.Row{{source}, {key}, exchange.FormatInt(int64(id))})
			})
		}); err != nil {
			return err
		}
	}
	if o.golden != "" {
		t, err := export.Open(ctx, s.DB, export.Entities, export.Query{Kind: o.schema.Kind})
		if err != nil {
			return err
		}
		columns := append([]exchange.Column{cluster}, t.Columns[2:]...) // without the id and the kind
		if err := a.table(ctx, o.golden, columns, func(w exchange.Writer) error { return s.EachGolden(ctx, c, t, w.Write) }); err != nil {
			return err
		}
	}
	if o.review == "" {
		return nil
	}
	columns := []exchange.Column{
		{Name: "match_weight", Type: exchange.Float}, {Name: "a_source"}, {Name: "a_key"},
		{Name: "a_" + cluster.Name, Type: exchange.Int},
		{Name: "b_source"}, {Name: "b_key"}, {Name: "b_" + cluster.Name, Type: exchange.Int},
	}
	return a.table(ctx, o.review, columns, func(w exchange.Writer) error {
		return s.EachDoubt(ctx, c, func(p review.Pair, a, b int) error {
			return w.Write(exchange.Row{
				dedupe.Weight(p.Explanation.Weight), {p.A.Source}, {p.A.Key}, exchange.FormatInt(int64(a)),
				{p.B.Source}, {p.B.Key}, exchange.FormatInt(int64(b)),
			})
		})
	})
}
