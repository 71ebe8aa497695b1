// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

func (a *app) kindSuggest() *cobra.Command {
	var name, out string
	var o reading
	c := &cobra.Command{
		Use:   "suggest FILE...",
		Short: "Draft a kind for the columns of files",
		Long: "Prints a kind as YAML, with a type for each column that is chosen by its name and its first 10,000 values. Read it,\n" +
			"correct it, and try it: locus dedupe --kind, locus kind create, locus eval --kind. Nothing is stored. Standard error has\n" +
			"the type of each column and the reason, and a built-in kind if that covers most of the columns.",
		Example: "  locus kind suggest films.csv -o film.yaml\n" +
			"  locus kind suggest dblp.csv scholar.csv --name publication > publication.yaml",
		Args: atLeast("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.unstored = true
			if err := o.check(args); err != nil {
				return err
			}
			if name == "" {
				name = kindOf(args[0])
			}
			d, err := o.draft(match.Kinds(), name, args)
			if err != nil {
				return err
			}
			return a.suggest(d, args[0], out)
		},
	}
	o.layoutFlags(c.Flags())
	c.Flags().StringVarP(&out, "output", "o", "", "file to write the kind to; by default the standard output")
	c.Flags().StringVar(&name, "name", "", "name of the kind; by default that of the first file")
	return c
}

// draft drafts a kind for the columns of files.
func (o *reading) draft(known []*match.Schema, name string, files []string) (*bulk.Draft, error) {
	s := bulk.Suggester{Kinds: known, Left: slices.Concat(o.options.Key, o.options.Ignore)}
	for _, file := range files {
		if err := o.sample(&s, file); err != nil {
			return nil, err
		}
	}
	d, err := s.Draft(name)
	if err != nil {
		return nil, usage("--name NAME, or a kind written by hand: docs/concepts/kinds.md", "no kind for %.80q: %v",
			files[0], err)
	}
	return d, nil
}

// sample shows the beginning of a file to a suggester.
func (o *reading) sample(s *bulk.Suggester, file string) error {
	options := *o.options
	options.Exact, options.IgnoreUnknown, options.Unstored = true, true, true
	p, err := bulk.Recognise(file, nil, s.Kinds, &options)
	if err != nil {
		return err
	}
	r, err := p.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return s.Read(r)
}

// kindOf returns a name for the kind of a file's rows: "films-2024.csv" has films, which are of kind film.
func kindOf(file string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, sourceOf(file)), "_")
	name, _, _ = strings.Cut(name, "_")
	switch {
	case name == "movies":
		return "movie"
	case len(name) > 4 && strings.HasSuffix(name, "ies"):
		return name[:len(name)-3] + "y"
	case len(name) > 3 && strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss"):
		return name[:len(name)-1]
	case len(name) < 2:
		return "thing"
	}
	return name
}

func (a *app) suggest(d *bulk.Draft, file, out string) error {
	t := &term.Table{Header: []string{"column", "becomes", "type", "why", "values"}}
	for _, c := range d.Columns {
		t.Add(term.Clip(c.Name, 32), cmp.Or(c.Attribute, "-"), c.Type, c.Why, term.Clip(strings.Join(c.Values, " | "), 60))
	}
	style := a.talk
	style.Terminal = true // a table for people is always aligned
	if err := t.Write(a.stderr, style); err != nil {
		return err
	}
	if d.Explained >= 2 && !d.Better {
		a.say("kind %s explains %d of %d columns: try locus dedupe %s --kind %s first", d.Known, d.Explained, len(d.Columns),
			term.Escape(shellWord(file)), d.Known)
	}
	for _, c := range d.Columns {
		if c.Set {
			a.say("%s cannot be an alias of %s: --set %s", term.Escape(c.Name), c.Attribute,
				term.Escape(shellWord(c.Attribute+"="+c.Name)))
		}
	}
	for _, c := range d.Composed {
		a.say("a file has %s in several columns: --set %s", c.Attribute, term.Escape(shellWord(c.String())))
	}
	if a.json && out == "" {
		return a.printJSON(struct {
			Type   string `json:"type"`
			Schema string `json:"schema"`
		}{"draft", string(d.Schema.YAML())})
	}
	if err := a.writeKind(d.Schema, out); err != nil {
		return fmt.Errorf("write the kind: %w", err)
	}
	if out != "" {
		a.say("%s: kind %s with %s", term.Escape(out), d.Schema.Kind, plural(len(d.Schema.Attributes), "attribute"))
	}
	return nil
}
