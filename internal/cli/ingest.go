// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

func (a *app) ingestCommand() *cobra.Command {
	var o ingesting
	c := &cobra.Command{
		Use:   "ingest FILE or URL...",
		Short: "Import records from CSV, JSON, JSONL, Parquet and XLSX files, plain, gzip, zstd or zip; - is standard input",
		Long: "Each row is a record with a source and a key; its other columns are attributes. Importing a file twice changes\n" +
			"nothing. The format and the meaning of the columns are recognised; guesses are shown first, and imported only after\n" +
			"you accept them. --preview only shows them. Refused rows are written to FILE.rejected.jsonl, which can be corrected and\n" +
			"imported. After an interruption, repeat the command to continue after the last durable batch.\n\n" +
			"postgres://HOST/DATABASE, mysql://HOST/DATABASE and sqlite:FILE read a table or a query in one read-only\n" +
			"snapshot. The password comes from PGPASSWORD, a service file or a password file, or from MYSQL_PWD.",
		Example: "  locus ingest --preview customers.csv\n" +
			"  locus ingest --url http://127.0.0.1:7070 --set 'name={first} {last}' --set phones=tel,mobile more.jsonl.gz",
		Args: atLeast("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return a.ingestFiles(c, &o, args)
		},
	}
	o.flags(c.Flags())
	return a.connection(c)
}

// ingestFiles recognises all files before anything is written, and before a missing data directory is made.
func (a *app) ingestFiles(c *cobra.Command, o *ingesting, files []string) error {
	nothing := o.dryRun || o.preview
	cl, err := a.connect(c, unless(nothing, o.opens(writes, loads)))
	missing := errors.Is(err, cell.ErrMissing) && !errors.Is(err, storage.ErrLost)
	if err != nil && !missing {
		return err
	}
	var kinds []*match.Schema
	if missing {
		// A directory that the import would create has the built-in kinds.
		cl = nil
		kinds, err = chosen(match.Kinds(), o.kind)
	} else {
		defer cl.close()
		kinds, err = cl.kinds(c.Context(), o.kind)
	}
	if err != nil {
		return err
	}
	o.options.Context = c.Context()
	plans, err := a.recognised(files, kinds, &o.reading)
	if err != nil {
		return err
	}
	defer closePlans(plans) //nolint:errcheck // streams that were not read
	a.hintKind(files, kinds, &o.reading)
	if o.preview {
		return a.previews(plans, kinds)
	}
	if err := a.settled(plans, o); err != nil {
		return err
	}
	if missing && !nothing {
		made, err := a.connect(c, o.opens(makes, makesToLoad))
		if err != nil {
			return err
		}
		defer made.close()
		return a.ingest(c.Context(), made, kinds, o, plans)
	}
	return a.ingest(c.Context(), cl, kinds, o, plans)
}

// job identifies the destination and options of an import, which must be the same when it is continued.
func job(cl *client, p *bulk.Plan) string { return cl.job + " " + p.String() }

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
	return answer.Match(), answer.Kinds, nil
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
	return nil, usage("--kind "+names[0], "unknown --kind %.64q: want %s", name, strings.Join(names, ", "))
}

// outcomes in display order, with the words of the progress line.
var outcomes = []struct{ name, word string }{
	{"created", "new"}, {"matched", "matched"}, {"updated", "updated"}, {"unchanged", "unchanged"}, {"stale", "stale"},
	{"checked", "checked"}, {refused, "refused"},
}

const (
	refused = sources.Refused
	// unresolved counts durable rows whose entities are not resolved yet, whatever their outcome.
	unresolved = "pending"
)

// ingest imports files one after another. Rejected rows do not stop it; an unreadable file does. The first kind is the
// default kind.
func (a *app) ingest(ctx context.Context, cl *client, kinds []*match.Schema, o *ingesting, plans []*bulk.Plan) error {
	files, beside, planOf := make([]string, len(plans)), make([]string, len(plans)), map[string]*bulk.Plan{}
	for i, p := range plans {
		files[i], beside[i], planOf[p.Name] = p.Name, p.File(), p
	}
	header := []string{"file", "rows"}
	for _, outcome := range outcomes {
		header = append(header, outcome.word)
	}
	t := &term.Table{Header: append(header, "seconds", unresolved), Right: map[int]bool{}}
	for i := 1; i < len(t.Header); i++ {
		t.Right[i] = true
	}
	if !o.dryRun {
		a.countFirst(ctx, cl, kinds, plans)
	}
	var all tally
	waiting := int64(0)
	snapshots, err := a.snapshots(ctx, cl, o, plans)
	if err != nil {
		return err
	}
	defer snapshots.close()
	loading, err := a.loading(ctx, cl, o, plans)
	if err != nil {
		return err
	}
	if loading {
		defer a.collectRarely(0)()
	}
	failed := a.fileByFile(t, files, func(name string) error {
		im := &importer{app: a, client: cl, flags: o, plan: planOf[name], kinds: kinds, name: name, now: time.Now,
			snapshot: snapshots.of(planOf[name])}
		failed := im.run(ctx)
		snapshots.accept(im)
		if !o.snapshot && !o.dryRun && failed == nil && im.plan.ByContent() {
			a.say("%s: keys are derived from the content, so an edited row is a new record; --snapshot deletes records that the file no longer has", term.Escape(name))
		}
		all.add(name, im.plan.Format.Unit(), im.state.Rows, im.state.Counts[refused], im.state.Lines, im.state.Causes)
		waiting += im.state.Counts[unresolved]
		if im.reader == nil {
			return failed
		}
		if failed == nil && im.state.Rows == 0 {
			im.say("%s has no rows", term.Escape(name))
		}
		return errors.Join(failed, im.summary(t))
	})
	if loading {
		failed = errors.Join(failed, a.load(ctx, cl))
	} else if waiting > 0 {
		a.say("%s: stored; resolution waits for unavailable cells; locus status counts them as redo",
			counted(waiting, "row is pending", "rows are pending"))
	}
	unread := failed != nil
	if failed == nil && all.refused > 0 {
		hint := "correct and import the rows in " + strings.Join(rejectNames(beside), ", ")
		message := all.became("in")
		if o.dryRun {
			hint, message = "correct the rows above", fmt.Sprintf("%s would be refused%s, of %s", all.size(), all.because(),
				term.Count(all.rows))
		}
		failed = all.failure(message, hint)
	}
	return snapshots.finish(ctx, failed, unread)
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
	return bulk.Beside(name) + ".rejected.jsonl"
}
