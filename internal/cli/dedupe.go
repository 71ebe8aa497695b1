// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// oneShot holds the flags of dedupe and link, and the state of their files.
type oneShot struct {
	reading
	out, keep             string
	golden, links, review string
	left, learn           bool
	once                  once
	deduplicated          []string    // files that list nothing twice, as given
	asked                 func() bool // reports whether learn was given
	weighed               bool        // the kind is the user's own, and states weights
	files                 []string
	found                 []fs.FileInfo // files before they were read; nil for an input that is not a file
	kinds                 []*match.Schema
	schema                *match.Schema
	sources               []string
	terms                 *match.TermFrequencies // of all files
	plans                 []*bulk.Plan
	progress              *term.Progress
	header                dedupe.Header
	rejects               *bulk.Rejects
	refused               int
	empty                 int64 // rows without any value
	footer                int   // rows below the lists that are no records
}

func (a *app) dedupeCommand() *cobra.Command {
	var o oneShot
	c := &cobra.Command{
		Use:   "dedupe FILE... -o FILE",
		Short: "Find the rows of files that describe the same thing; needs no installation",
		Long: "Writes all rows in their order with three more columns: cluster_id, which is equal for rows that describe the same\n" +
			"thing; cluster_size; and cluster_weight, the match weight of the weakest join that holds the row in its cluster. Sort by\n" +
			"cluster_weight to review doubtful rows first. Refused rows have no cluster and are also written to OUT.rejected.jsonl.\n" +
			"The same input gives the same output. Formats and columns are recognised as by locus ingest, without a question;\n" +
			"unknown columns are not compared. Works in a temporary directory, which is removed at the end.",
		Example: "  locus dedupe crm.csv shop.csv -o out.csv\n" +
			"  locus dedupe people.csv -o out.csv --kind person --set emails=mail --golden people.parquet --review doubtful.csv",
		Args: atLeast("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.oneShot(c.Context(), &o, args, a.dedupe) },
	}
	o.flags(c)
	f := c.Flags()
	f.StringVar(&o.golden, "golden", "",
		"write a row per cluster to this file, with the values that are most likely right")
	f.StringVar(&o.links, "links", "", "write a row per record to this file: source, key and cluster_id")
	f.StringVar(&o.review, "review", "", "write the possible matches between clusters to this file")
	o.learnFlag(c)
	f.StringSliceVar(&o.deduplicated, "deduplicated", nil, "files that list nothing twice, or none; by default those whose rows show it, with --learn")
	f.StringVar(&o.keep, "keep", "", "keep the data in this directory, for locus serve --data")
	return c
}

func (o *oneShot) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&o.out, "output", "o", "",
		"file to write, .csv, .jsonl or .parquet; - is standard output, with --json as JSON lines")
	o.reading.flags(f)
	f.Lookup("kind").Usage = "kind of all rows, or the YAML file of one; by default the built-in kind that recognises most columns, or one drafted from the files if that compares too few"
	f.Lookup("key").Usage = "column with the key of a row, for --links, --golden and --review; repeat it for a key of several columns (default \"key\", or a column that looks like it, else the number of the row)"
}

func (o *oneShot) outputs() []string { return []string{o.out, o.golden, o.links, o.review} }

// toStdout reports whether a table goes to the standard output.
func (o *oneShot) toStdout() bool { return slices.ContainsFunc(o.outputs(), isStdout) }

// oneShot checks the flags, recognises the files, and runs the command.
func (a *app) oneShot(ctx context.Context, o *oneShot, files []string, run func(context.Context, *oneShot) error) (err error) {
	if o.out == "" {
		return usage("-o out.csv, or -o - for the standard output", "-o is missing: the file for the result")
	}
	if err := checkOutputs(o.outputs(), files); err != nil {
		return err
	}
	gone, err := o.take(ctx, a, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gone()) }()
	if err := o.look(a); err != nil {
		return err
	}
	defer a.collectRarely(0)()
	if o.rejects, err = bulk.NewRejects(rejectName(o.outName()), 0); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.rejects.Close()) }()
	o.progress = term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	defer o.progress.Close()
	return run(ctx, o)
}

// look recognises all files as rows of one kind, the one that explains most columns, and prints which columns are
// compared.
func (o *oneShot) look(a *app) error {
	o.kinds = match.Kinds()
	if _, err := chosen(o.kinds, o.kind); err != nil && isFile(o.kind) {
		own, _, err := a.schemaOf(o.kind)
		if err != nil {
			return err
		}
		o.kinds, o.kind, o.weighed = dedupe.Kinds(own), own.Kind, len(own.Weights) > 0
		o.options.Kind = own.Kind
	}
	kinds, err := chosen(o.kinds, o.kind)
	if err != nil {
		return err
	}
	for _, name := range o.files {
		source := sourceOf(name)
		for n := 2; slices.Contains(o.sources, source); n++ {
			source = fmt.Sprintf("%s-%d", sourceOf(name), n)
		}
		o.sources = append(o.sources, source)
	}
	var failed error
	most := explains{columns: -1}
	for _, kind := range kinds {
		plans, explained, err := o.recognise(kind)
		if err != nil {
			failed = cmp.Or(failed, err)
		} else if explained.compare(most) > 0 {
			o.plans, o.schema, most = plans, kind, explained
		}
	}
	if o.plans == nil {
		return failed
	}
	o.takeDraft(a)
	o.takeNameless()
	return a.compared(o.plans, o.schema)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// explains counts the columns of files that are attributes of a kind, the files whose names are those of people if the
// kind is one of people, and the columns that have the name of an attribute.
type explains struct{ columns, people, named int }

func (e explains) compare(other explains) int {
	return cmp.Or(cmp.Compare(e.columns, other.columns), cmp.Compare(e.people, other.people), cmp.Compare(e.named, other.named))
}

// recognise recognises all files as rows of a kind, and returns how many columns are attributes of it.
func (o *oneShot) recognise(kind *match.Schema) (plans []*bulk.Plan, explained explains, err error) {
	for i, name := range o.files {
		options := *o.options
		options.Source, options.Kind = o.sources[i], kind.Kind
		p, err := bulk.Recognise(name, nil, o.kinds, &options)
		if err != nil {
			return nil, explained, err
		}
		plans = append(plans, p)
		explained.columns += len(p.Attributes())
		if p.People {
			explained.people++
		}
		for _, c := range p.Columns {
			if slices.Contains(c.To, strings.ToLower(c.Name)) {
				explained.named++
			}
		}
	}
	return plans, explained, nil
}

// unchanged returns an error if a file is another one than before it was first read: each is read several times, and a
// row of the last time would get the cluster of another row.
func (o *oneShot) unchanged() error {
	for i, before := range o.found {
		if before == nil {
			continue
		}
		now, err := os.Stat(o.files[i])
		if err != nil || !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			return &bulk.FileError{Name: o.files[i], Reason: "was changed while it was read, so nothing is written",
				Hint: "run the command again once the file is complete", Err: err}
		}
	}
	return nil
}

// open opens a file for reading its rows.
func (o *oneShot) open(i int) (*bulk.Reader, error) { return o.plans[i].Open() }

// sourceOf returns the name of a file as a source.
func sourceOf(name string) string { return cmp.Or(bulk.SourceOf(name), "file") }

// load puts the rows of a file and collects its columns.
func (o *oneShot) load(ctx context.Context, a *app, s *dedupe.Session, i int) error {
	in, err := o.input(i)
	if err != nil {
		return err
	}
	defer in.Close()
	err = s.Add(ctx, in, func(f dedupe.Refusal) error { return o.refuse(a, f.RowError, i) })
	o.leftOut(a, in.Reader, i)
	return err
}

// input opens a file whose rows are compared, and collects its columns.
func (o *oneShot) input(i int) (*dedupe.Input, error) {
	r, err := o.open(i)
	if err != nil {
		return nil, err
	}
	o.header.Add(r.Header()...)
	in := &dedupe.Input{Reader: r, Source: o.sources[i], Kind: o.schema.Kind}
	if r.Lists() {
		in.See = o.header.See
	}
	in.Count = func(row int64) {
		o.progress.Update(func() string { return fmt.Sprintf("%s: %s read", term.Escape(o.files[i]), counted(row, "row", "rows")) })
	}
	return in, nil
}

// resolving shows how far the rows are resolved.
func (o *oneShot) resolving(p resolve.LoadProgress) {
	o.progress.Update(func() string {
		return fmt.Sprintf("%s of %s %s", term.Short(float64(p.Done)), term.Short(float64(p.Of)), loadSteps[p.Step])
	})
}

// leftOut reports and counts the rows of a file that are missing in the output: those without a value, and the footer.
func (o *oneShot) leftOut(a *app, r *bulk.Reader, file int) {
	o.progress.Close()
	a.sayLeftOut(o.files[file], r)
	o.empty, o.footer = o.empty+r.Empty().Rows, o.footer+len(r.Footer())
}

func (o *oneShot) refuse(a *app, e *bulk.RowError, file int) error {
	if o.refused++; o.refused <= 5 {
		o.progress.Close()
		a.say("%s %s %d: %s", term.Escape(o.files[file]), o.plans[file].Format.Unit(), e.Line, term.Escape(e.Reason))
	}
	rejected := e.Reject()
	if !o.toStdout() {
		if err := a.printReject(rejected); err != nil {
			return err
		}
	}
	return o.rejects.Write(rejected)
}

// outName returns the name of the output for messages.
func (o *oneShot) outName() string {
	if isStdout(o.out) {
		return "stdout"
	}
	return o.out
}

// partly returns the error of exit 3 if rows were refused.
func (o *oneShot) partly(rows int) error {
	if o.refused == 0 {
		return nil
	}
	all := tally{rows: int64(rows), refused: int64(o.refused)}
	return &failure{Code: "partly_refused", Exit: exitPartly, Message: all.became("compared"),
		Hint: "correct the rows in " + rejectName(o.outName())}
}
