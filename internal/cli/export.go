// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/export"
	"github.com/locus-db/locus/internal/pgtable"
	"github.com/locus-db/locus/internal/term"
)

// exporting holds the flags of an export.
type exporting struct {
	what                     export.What
	out, kind, source, since string
	columns                  []string
	formatName               string
	format                   exchange.Format
	spreadsheet              bool
	to                       string
	target                   *pgtable.Target // of to
}

func (a *app) exportCommand() *cobra.Command {
	var o exporting
	c := &cobra.Command{
		Use:   "export records|entities|links|decisions",
		Short: "Write records, entities, links or decisions as CSV, JSON lines, Parquet or a table of PostgreSQL",
		Long: "records    a row for each record, which locus ingest reads\n" +
			"entities   a row for each entity with its merged view\n" +
			"links      a row for each record with its entity\n" +
			"decisions  a row for each decision, which locus decision import reads\n" +
			"\n" +
			"The file appears under its name once it is complete. The command prints a watermark at the end; the next export with\n" +
			"--since WATERMARK contains only the changes since, with op upsert, redirect or delete. A deleted record has only its\n" +
			"puid. In CSV a column of lists is named NAME[]; its values are joined by \" | \", and \\| and \\\\ stand for a bar and a\n" +
			"backslash in a value.\n\n" +
			"With --to, the rows go to a table of PostgreSQL, which is created if it does not exist. Repeating the command applies the\n" +
			"changes since: the watermark is stored beside the table, in the same transaction as the rows. The password comes from\n" +
			"PGPASSWORD, a service file or a password file.",
		Example: "  locus export entities --kind person -o people.parquet\n" +
			"  locus export entities --to 'postgres://db1/crm?table=golden'",
		Args:      arguments("records|entities|links|decisions"),
		ValidArgs: []string{"records", "entities", "links", "decisions"},
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(args[0]); err != nil {
				return err
			}
			cl, err := a.connect(c, reads)
			if err != nil {
				return err
			}
			defer cl.close()
			if o.target != nil {
				return a.exportTo(c.Context(), cl, &o)
			}
			return a.export(c.Context(), cl, &o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.out, "output", "o", "", "file to write; standard output by default")
	f.StringVar(&o.formatName, "format", "", "csv, jsonl or parquet; by default that of the file's name, or csv")
	f.StringVar(&o.kind, "kind", "", "only this kind")
	f.StringVar(&o.source, "source", "", "only this source; of entities, those with a record of it")
	f.StringSliceVar(&o.columns, "columns", nil, "only these columns, in this order, * for the usual ones; records also have entity, puid and version; decisions have at, entity_a and entity_b")
	f.StringVar(&o.to, "to", "", "table of PostgreSQL to fill or to bring up to date: postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE")
	f.StringVar(&o.since, "since", "", "only changes after this watermark of an earlier export")
	f.BoolVar(&o.spreadsheet, "spreadsheet", false, "put an apostrophe before values that a spreadsheet would evaluate as formulas; such CSV cannot be ingested without loss")
	return a.connection(c)
}

func (o *exporting) check(what string) error {
	o.what = export.What(what)
	if !slices.Contains(export.All, o.what) {
		return usage("locus export records",
			"there is no table %.20q: there are records, entities, links and decisions", what)
	}
	if isStdout(o.out) {
		o.out = ""
	}
	var err error
	if o.format, err = exchange.ParseFormat(o.formatName, o.out, exchange.CSV); err != nil {
		return usage("--format csv", "%v", err)
	}
	if o.to != "" {
		if o.out != "" || o.formatName != "" || o.spreadsheet || o.since != "" {
			return usage("a table keeps its own watermark: leave out -o, --format, --spreadsheet and --since",
				"--to is for a table of PostgreSQL")
		}
		if o.target, err = pgtable.Parse(o.to); err != nil {
			return usage("locus export entities --to 'postgres://db1/crm?table=golden'", "--to: %v", err)
		}
	}
	if o.spreadsheet && o.format != exchange.CSV {
		return usage("--format csv", "--spreadsheet is for csv, not for %s", o.format)
	}
	if o.since != "" {
		if _, err := changelog.ParseWatermark(o.since); err != nil {
			return usage("--since takes what an earlier export printed, such as g0-0:17,g0-1:4", "--since: %v", err)
		}
	}
	return nil
}

// query returns the query of the request. Rows are sorted here, so the columns that identify them are always asked for.
func (o *exporting) query() url.Values {
	q := url.Values{"format": {"jsonl"}}
	for name, value := range map[string]string{"kind": o.kind, "source": o.source, "since": o.since} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if o.columns != nil {
		columns := slices.Clone(o.columns)
		for _, name := range o.identity() {
			if slices.Contains(columns, export.UsualColumns) && name != columnPUID {
				continue
			}
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
		q.Set("columns", strings.Join(columns, ","))
	}
	return q
}

// chosen reports whether the user chose the columns.
func (o *exporting) chosen() bool {
	return o.columns != nil && !slices.Contains(o.columns, export.UsualColumns)
}

// identity returns the columns that identify a row and that the rows are sorted by, so that their order does not depend
// on where records live; nil leaves the rows in the order of the server.
func (o *exporting) identity() []string {
	switch o.what {
	case export.Records, export.Links:
		if o.since != "" || o.target != nil { // nothing but its puid is left of a deleted record
			return []string{"source", "key", columnPUID}
		}
		return []string{"source", "key"}
	case export.Entities:
		return []string{"entity"}
	}
	return nil
}

// export writes a table, to a file in one step or to the standard output. Everything has arrived before the first byte
// is written.
func (a *app) export(ctx context.Context, cl *client, o *exporting) error {
	to, file, err := a.create(cmp.Or(o.out, bulk.Stdin))
	if err != nil {
		return err
	}
	defer file.Discard()
	got, err := o.fetch(ctx, cl)
	if err != nil {
		return err
	}
	defer got.lines.Close()
	if err := o.write(to, got); err != nil {
		return err
	}
	if err := file.Commit(); err != nil {
		return err
	}
	return a.exported(o, got)
}

// exported prints the size of an export. If the table is written to standard output, it goes to standard error.
func (a *app) exported(o *exporting, got *fetched) error {
	if o.spreadsheet {
		a.say("values that begin like a formula were prefixed with an apostrophe: open this file in a spreadsheet; locus ingest keeps the apostrophes unless it has --spreadsheet")
	}
	if !a.json {
		a.say("%s: %s, watermark %s", term.Escape(cmp.Or(o.out, "stdout")), counted(int64(got.rows), "row", "rows"),
			got.watermark)
		return nil
	}
	summary := map[string]any{"type": "summary", "what": o.what, "format": o.format, "file": o.out, "rows": got.rows,
		"watermark": got.watermark}
	if o.out != "" {
		return a.printJSON(summary)
	}
	line, err := json.Marshal(summary)
	a.say("%s", line)
	return err
}

// metadata returns the description of the table for the footer of a Parquet file.
func (o *exporting) metadata(watermark string) [][2]string {
	pairs := [][2]string{{"locus.table", string(o.what)}, {"locus.watermark", watermark}}
	if o.since != "" {
		pairs = append(pairs, [2]string{"locus.since", o.since})
	}
	return pairs
}

// kindsOf returns the attributes that belong to a kind which occurs. An export of all kinds leaves out the columns of
// the others.
func (o *exporting) kindsOf(ctx context.Context, cl *client) (map[string][]string, error) {
	if o.kind != "" || o.chosen() || o.what != export.Records && o.what != export.Entities {
		return nil, nil
	}
	kinds, err := cl.kinds(ctx, "")
	if err != nil {
		return nil, err
	}
	of := map[string][]string{}
	for _, kind := range kinds {
		for _, a := range kind.Attributes {
			of[a.Name] = append(of[a.Name], kind.Kind)
		}
	}
	return of, nil
}
