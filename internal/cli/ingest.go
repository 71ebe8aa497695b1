// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/storage/all"
)

// ingesting holds the flags of an import.
type ingesting struct {
	source, key, kind, format string
	rename                    map[string]string
	ignoreUnknown, dryRun     bool
	limit, maxRejects, batch  int
}

func (a *app) ingestCommand() *cobra.Command {
	var o ingesting
	c := &cobra.Command{
		Use:   "ingest FILE...",
		Short: "Import records from CSV or JSONL files, plain, gzip or zstd; - is the standard input",
		Long: "Every row is a record under its source and key; its other columns are attributes. Importing twice is\n" +
			"importing once. Refused rows are written to FILE.rejected.jsonl, which can be imported once corrected.\n" +
			"After an interruption the same command goes on after the last durable batch. Several columns of an attribute\n" +
			"that has one value are alternatives, such as two spellings; --map '{first} {last}=name' makes one value of them.",
		Example: "  locus ingest --source vendor --key id businesses.csv\n" +
			"  locus ingest --url http://127.0.0.1:7070 --map '{first} {last}=name' --map tel=phones more.jsonl.gz",
		Args: atLeast("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			cl, err := a.connect(c, unless(o.dryRun, makes))
			if o.dryRun && errors.Is(err, cell.ErrMissing) {
				// A directory that the import would create has the built-in kinds.
				kinds, err := chosen(match.Kinds(), o.kind)
				if err != nil {
					return err
				}
				return a.ingest(c.Context(), nil, kinds, &o, args)
			}
			if err != nil {
				return err
			}
			defer cl.close()
			kinds, err := cl.kinds(c.Context(), o.kind)
			if err != nil {
				return err
			}
			return a.ingest(c.Context(), cl, kinds, &o, args)
		},
	}
	f := c.Flags()
	f.StringVar(&o.source, "source", "", "source of all rows; without it the column source says it")
	f.StringVar(&o.key, "key", "", "column with the source's own key (default \"key\")")
	f.StringVar(&o.kind, "kind", "", "kind of all rows; without it the column kind says it, and where there is none they are places")
	f.StringVar(&o.format, "format", "", "csv or jsonl; without it the name of the file says it, or its first character")
	f.Var(&mapFlag{urls: &a.cellMap, columns: columnsValue(&o.rename)}, "map",
		"column=attribute, for columns with other names; several columns may share an attribute, and '{first} {last}=name' composes one value of several. Or postgres://HOST/NAME, where the cell map of a shared installation is")
	f.BoolVar(&o.ignoreUnknown, "ignore-unknown", false, "leave out columns that are no attributes")
	f.BoolVar(&o.dryRun, "dry-run", false, "read the files and judge every row as the server does, write nothing")
	f.IntVar(&o.limit, "limit", 0, "stop after so many rows of each file, 0 for all")
	f.IntVar(&o.maxRejects, "max-rejects", 0, "stop once more rows than this were refused, 0 for never")
	f.IntVar(&o.batch, "batch", 500, "rows of one request, at most 1000")
	return a.connection(c)
}

// columnsValue is a flag of column=attribute pairs.
func columnsValue(to *map[string]string) pflag.Value {
	var flags pflag.FlagSet
	flags.StringToStringVar(to, "map", nil, "")
	return flags.Lookup("map").Value
}

func (o *ingesting) check(files []string) error {
	switch {
	case o.batch < 1 || o.batch > records.MaxBatch:
		return usage("--batch 500", "--batch %d: want 1 to %d", o.batch, records.MaxBatch)
	case o.limit < 0 || o.maxRejects < 0:
		return usage("", "--limit and --max-rejects cannot be below 0")
	case !slices.Contains([]string{"", "csv", "jsonl"}, o.format):
		return usage("--format csv, --format jsonl", "--format %.20q is not known", o.format)
	}
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			return usage("name every file once", "%.80q is named twice", name)
		}
	}
	return nil
}

// columns returns the meaning of the columns for these kinds.
func (o *ingesting) columns(kinds []*match.Schema) *bulk.Columns {
	c := &bulk.Columns{Source: o.source, Key: o.key, Kind: o.kind, Rename: o.rename, IgnoreUnknown: o.ignoreUnknown}
	for i, kind := range kinds {
		for _, attribute := range kind.Attributes {
			if i == 0 {
				c.Attributes = append(c.Attributes, attribute.Name)
			} else {
				c.Others = append(c.Others, attribute.Name)
			}
			if attribute.Many {
				c.Many = append(c.Many, attribute.Name)
			}
		}
	}
	return c
}

// job identifies the destination and options of an import, which must be the same when it is continued.
func (o *ingesting) job(cl *client) string {
	return fmt.Sprintf("%s source=%s key=%s kind=%s map=%v ignore=%t format=%s", cl.job, o.source, o.key, o.kind, o.rename, o.ignoreUnknown, o.format)
}

// kinds requests the named kind, or all kinds, the default kind first.
func (c *client) kinds(ctx context.Context, name string) ([]*match.Schema, error) {
	first, names, err := c.schema(ctx, name)
	if err != nil || name != "" {
		return []*match.Schema{first}, err
	}
	kinds := []*match.Schema{first}
	for _, other := range names {
		if other == first.Kind {
			continue
		}
		kind, _, err := c.schema(ctx, other)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// schema requests a kind, and the names of all kinds.
func (c *client) schema(ctx context.Context, name string) (*match.Schema, []string, error) {
	query := url.Values{}
	if name != "" {
		query.Set("kind", name)
	}
	var answer httpapi.Schema
	if _, err := c.get(ctx, "/v1/schema", query, &answer); err != nil {
		return nil, nil, err
	}
	kind := &match.Schema{Kind: answer.Kind, Version: answer.Version}
	for _, attribute := range answer.Attributes {
		kind.Attributes = append(kind.Attributes, match.Attribute{
			Name: attribute.Name, Type: attribute.Type, Role: attribute.Role, Many: attribute.Many, Required: attribute.Required,
		})
	}
	return kind, answer.Kinds, nil
}

// chosen returns the named kind, or all kinds.
func chosen(kinds []*match.Schema, name string) ([]*match.Schema, error) {
	if name == "" {
		return kinds, nil
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		if names[i] = kind.Kind; kind.Kind == name {
			return []*match.Schema{kind}, nil
		}
	}
	return nil, usage("--kind "+names[0], "--kind %.64q is not known: there are %s", name, strings.Join(names, ", "))
}

// outcomes in display order, with the words of the progress line.
var outcomes = []struct{ name, word string }{
	{"founded", "new"}, {"joined", "joined"}, {"updated", "updated"}, {"unchanged", "unchanged"}, {"stale", "stale"}, {"checked", "checked"}, {refused, "refused"},
}

const (
	refused = "refused"
	// unresolved counts durable rows whose entities are not resolved yet, whatever their outcome.
	unresolved = "pending"
)

// ingest imports files one after another. Rejected rows do not stop it; an unreadable file does. The first kind is the
// default kind.
func (a *app) ingest(ctx context.Context, cl *client, kinds []*match.Schema, o *ingesting, files []string) error {
	header := []string{"file", "rows"}
	for _, outcome := range outcomes {
		header = append(header, outcome.word)
	}
	t := &term.Table{Header: append(header, "seconds", unresolved), Right: map[int]bool{}}
	for i := 1; i < len(t.Header); i++ {
		t.Right[i] = true
	}
	var all tally
	waiting := int64(0)
	failed := a.fileByFile(t, files, func(name string) error {
		im := &importer{app: a, client: cl, flags: o, kinds: kinds, name: name, now: time.Now}
		failed := im.run(ctx)
		all.add(name, im.state.Rows, im.state.Counts[refused], im.state.Lines, im.state.Causes)
		waiting += im.state.Counts[unresolved]
		if im.reader == nil {
			return failed
		}
		return errors.Join(failed, im.summary(t))
	})
	if waiting > 0 {
		a.say("%s: durable, and worked out as soon as the cells that they take answer; locus status counts them as redo", counted(waiting, "row is pending", "rows are pending"))
	}
	if failed == nil && all.refused > 0 {
		hint := "correct and import the rows in " + strings.Join(rejectNames(files), ", ")
		message := all.became("in")
		if o.dryRun {
			hint, message = "correct the rows above", fmt.Sprintf("%s would be refused%s, of %s", all.size(), all.because(), term.Count(all.rows))
		}
		failed = all.failure(message, hint)
	}
	return failed
}

// fileByFile reads files one after another until one fails, and prints the table of results.
func (a *app) fileByFile(t *term.Table, files []string, read func(name string) error) error {
	var failed error
	for _, name := range files {
		if failed = read(name); failed != nil {
			break
		}
	}
	if a.json || t.Len() == 0 {
		return failed
	}
	return errors.Join(failed, a.printTable(t))
}

func rejectNames(files []string) []string {
	names := make([]string, 0, len(files))
	for _, name := range files {
		names = append(names, rejectName(name))
	}
	return names
}

// rejectName returns the name of the file for rejected rows.
func rejectName(name string) string {
	if name == bulk.Stdin {
		name = "stdin"
	}
	return name + ".rejected.jsonl"
}
