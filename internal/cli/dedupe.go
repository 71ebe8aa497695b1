// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// oneShot holds the flags of dedupe and link, and what is known of their files.
type oneShot struct {
	out, kind, key, keep  string
	golden, links, review string
	rename                map[string]string
	oneToOne, left        bool
	files                 []string
	schema                *match.Schema
	sources               []string
	header                dedupe.Header
	rejects               *bulk.Rejects
	refused               int
}

func (a *app) dedupeCommand() *cobra.Command {
	var o oneShot
	c := &cobra.Command{
		Use:   "dedupe FILE...",
		Short: "Group the rows of files that are one thing, without an installation",
		Long: "The output has every row in its order, its columns untouched, and three more: cluster_id, the same for rows that are one\n" +
			"thing, numbered by their first rows; cluster_size, how many there are; cluster_weight, the weakest join that holds the row\n" +
			"in its cluster, in match weight: sort by it to look at the doubtful ones first. A row that is refused keeps its place without\n" +
			"a cluster and is in OUT.rejected.jsonl. The same input gives the same output. Columns are attributes by their names, or by\n" +
			"--map; the others are not compared. The work is done in a private temporary directory that is removed in the end.",
		Example: "  locus dedupe crm.csv shop.csv -o out.csv\n" +
			"  locus dedupe people.csv -o out.csv --kind person --map mail=emails --golden people.parquet --review doubtful.csv",
		Args: atLeast("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.oneShot(c.Context(), &o, args, a.dedupe) },
	}
	o.flags(c)
	f := c.Flags()
	f.StringVar(&o.golden, "golden", "", "file for a row per cluster, with the values that are most likely right")
	f.StringVar(&o.links, "links", "", "file for a row per record: source, key and cluster_id")
	f.StringVar(&o.review, "review", "", "file for the pairs that may be one thing, and are in two clusters")
	f.StringVar(&o.keep, "keep", "", "keep the data in this directory, for locus serve --data")
	return c
}

func (o *oneShot) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&o.out, "output", "o", "", "file to write: .csv, .jsonl or .parquet")
	f.StringVar(&o.kind, "kind", "", "kind of all rows; without it the built-in one that has most of the columns")
	f.StringVar(&o.key, "key", "", "column with the key of a row, for --links, --golden and --review (default \"key\" if there is one, else the number of the row)")
	f.Var(columnsValue(&o.rename), "map", "column=attribute, for columns with other names; '{first} {last}=name' composes one value of several")
}

// oneShot checks the flags, opens the files once to see their columns, and runs the command.
func (a *app) oneShot(ctx context.Context, o *oneShot, files []string, run func(context.Context, *oneShot) error) (err error) {
	if o.out == "" {
		return usage("-o out.csv", "the file for the result is missing")
	}
	o.files = files
	for i, name := range append([]string{o.out, o.golden, o.links, o.review}, files...) {
		if name == bulk.Stdin {
			return usage("write it to a file first", "the standard input cannot be read twice")
		}
		if name != "" && i < 4 && slices.Contains(files, name) {
			return usage("name another file", "%.80q would be read and written", name)
		}
		if i < 4 && name != "" {
			if _, err := exchange.ParseFormat("", name, exchange.CSV); err != nil {
				return err
			}
		}
	}
	if err := o.look(a); err != nil {
		return err
	}
	if a.env["GOGC"] == "" {
		// Collecting garbage less often saves a fifth of the processor time. Near the limit it is as often as ever.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	}
	if o.rejects, err = bulk.NewRejects(rejectName(o.out), 0); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.rejects.Close()) }()
	return run(ctx, o)
}

// look reads the columns of all files, chooses the kind, and says what is compared.
func (o *oneShot) look(a *app) error {
	kinds, err := chosen(match.Kinds(), o.kind)
	if err != nil {
		return err
	}
	var names []string
	for i, name := range o.files {
		source := sourceOf(name)
		for n := 2; slices.Contains(o.sources, source); n++ {
			source = fmt.Sprintf("%s-%d", sourceOf(name), n)
		}
		o.sources = append(o.sources, source)
		columns, err := o.columnsOf(i, kinds[0])
		if err != nil {
			return err
		}
		for _, c := range columns {
			if !slices.Contains(names, c) {
				names = append(names, c)
			}
		}
	}
	score := func(kind *match.Schema) (n int) {
		for _, name := range names {
			if _, ok := kind.Attribute(o.attribute(name)); ok {
				n++
			}
		}
		return n
	}
	o.schema = slices.MaxFunc(kinds, func(x, y *match.Schema) int {
		return cmp.Or(score(x)-score(y), slices.Index(kinds, y)-slices.Index(kinds, x))
	})
	var used, unused []string
	for _, name := range names {
		if _, ok := o.schema.Attribute(o.attribute(name)); ok {
			used = append(used, name)
		} else if name != cmp.Or(o.key, bulk.ColumnKey) {
			unused = append(unused, name)
		}
	}
	for template := range o.rename {
		if strings.Contains(template, "{") {
			used = append(used, template)
		}
	}
	if len(used) == 0 {
		return usage("--map COLUMN=ATTRIBUTE; locus kind show "+o.schema.Kind+" lists the attributes", "no column is an attribute of kind %s: there are %.300s", o.schema.Kind, strings.Join(names, ", "))
	}
	a.say("kind %s: compared by %s", o.schema.Kind, term.Escape(strings.Join(used, ", ")))
	if len(unused) > 0 {
		a.say("not compared: %s   (--map COLUMN=ATTRIBUTE)", term.Escape(strings.Join(unused, ", ")))
	}
	return nil
}

// attribute returns the attribute that a column is.
func (o *oneShot) attribute(column string) string {
	if to, renamed := o.rename[column]; renamed {
		return to
	}
	return exchange.ParseHeader(column).Name
}

// columnsOf returns the columns of a file: its header, or those of its first rows.
func (o *oneShot) columnsOf(i int, kind *match.Schema) ([]string, error) {
	o.schema = kind
	r, err := o.open(i)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var h dedupe.Header
	for range 100 {
		if _, err := r.Next(); err != nil && errors.Is(err, io.EOF) {
			break
		} else if refused := new(bulk.RowError); err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		if fields, err := r.Fields(); err == nil {
			h.See(fields)
		}
	}
	names := r.Header()
	for _, c := range h.Columns {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names, nil
}

// open opens a file for reading rows of the kind. Mappings of columns that only other files have are left out.
func (o *oneShot) open(i int) (*bulk.Reader, error) {
	columns := (&ingesting{source: o.sources[i], key: o.key, kind: o.schema.Kind, rename: o.rename, ignoreUnknown: true}).columns([]*match.Schema{o.schema})
	columns.Keyless = true
	return bulk.Open(o.files[i], nil, bulk.Auto, columns)
}

// sourceOf returns the name of a file as a source.
func sourceOf(name string) string {
	base := strings.ToLower(filepath.Base(name))
	base, _, _ = strings.Cut(base, ".")
	base = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, base)
	return cmp.Or(strings.Trim(base[:min(len(base), 50)], "-_"), "file")
}

// load puts the rows of a file and collects its columns. It returns how many rows there are.
func (o *oneShot) load(ctx context.Context, a *app, s *dedupe.Session, i int) error {
	r, err := o.open(i)
	if err != nil {
		return err
	}
	defer r.Close()
	o.header.Add(r.Header()...)
	in := &dedupe.Input{Reader: r, Source: o.sources[i], Kind: o.schema.Kind}
	if r.Header() == nil {
		in.See = o.header.See
	}
	return s.Add(ctx, in, func(f dedupe.Refusal) error { return o.refuse(a, f.RowError, i) })
}

func (o *oneShot) refuse(a *app, e *bulk.RowError, file int) error {
	if o.refused++; o.refused <= 5 {
		a.say("%s line %d: %s", term.Escape(o.files[file]), e.Line, term.Escape(e.Reason))
	}
	rejected := reject(e)
	if err := a.printReject(rejected); err != nil {
		return err
	}
	return o.rejects.Write(rejected)
}

// partly returns the error of exit 3 if rows were refused.
func (o *oneShot) partly(rows int) error {
	if o.refused == 0 {
		return nil
	}
	all := tally{rows: int64(rows), refused: int64(o.refused)}
	return &failure{Code: "partly_refused", Exit: exitPartly, Message: all.became("compared"), Hint: "correct the rows in " + rejectName(o.out)}
}
