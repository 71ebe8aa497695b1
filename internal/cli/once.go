// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// once tells which of two files list nothing twice, and how that was determined.
type once struct {
	dedupe.Once
	said bool // --one-to-one was given
	seen bool // the rows were looked at, or it was said
	asks bool // the command has the flag
}

func (n *once) flag(c *cobra.Command) {
	n.asks = true
	is := c.Flags().Bool("one-to-one", false,
		"keep at most one pair per row, the highest match weights first; by default if the files seem to list nothing twice")
	c.PreRun = func(*cobra.Command, []string) {
		n.said = c.Flags().Changed("one-to-one")
		n.seen = n.said
		n.First, n.Second = *is, *is
	}
}

// decide looks at the pairs, unless it is known already.
func (n *once) decide(pairs []dedupe.Pair) {
	if !n.seen {
		n.Once, n.seen = dedupe.Distinct(pairs, n.Once), true
	}
}

// best leaves out the pairs of rows with a better partner, and prints that if it was not requested.
func (o *oneShot) best(a *app, pairs []dedupe.Pair) []dedupe.Pair {
	o.once.decide(pairs)
	best := o.once.Best(pairs)
	if left := len(pairs) - len(best); left > 0 && !o.once.said {
		files := "the files list"
		switch {
		case !o.once.Second:
			files = term.Escape(o.files[0]) + " lists"
		case !o.once.First:
			files = term.Escape(o.files[1]) + " lists"
		}
		a.say("%s nothing twice: %s of rows with a better partner left out; --one-to-one=false keeps them", files,
			counted(int64(left), "pair", "pairs"))
	}
	return best
}

// lookOnce decides from the rows which files list nothing twice, and declares that for weights that are learned from
// them. It says so, with what the user can do about it.
func (o *oneShot) lookOnce(ctx context.Context, a *app, advice string) error {
	if len(o.files) < 2 {
		return nil
	}
	if o.once.seen {
		o.declareOnce(o.once.of(o.sources))
		return nil
	}
	m, records, err := o.normalised(ctx, func(int, *bulk.RowError) {}) // refused rows are reported when they are grouped
	if err != nil {
		return err
	}
	pairs := dedupe.Matches(m, records)
	once := dedupe.ListOnce(records, pairs)
	if o.once.asks {
		o.once.First, o.once.Second = slices.Contains(once, o.sources[0]), slices.Contains(once, o.sources[1])
		o.once.decide(slices.DeleteFunc(pairs, func(p dedupe.Pair) bool { return records[p.A].Source() == records[p.B].Source() }))
		o.declareOnce(o.once.of(o.sources))
		return nil
	}
	for i, source := range o.sources {
		if !slices.Contains(once, source) {
			continue
		}
		left := 0
		for _, p := range pairs {
			if records[p.A].Source() == source && records[p.B].Source() == source {
				left++
			}
		}
		a.say("%s lists nothing twice: %s of its own rows left apart%s", term.Escape(o.files[i]), counted(int64(left), "pair", "pairs"), advice)
	}
	o.declareOnce(once)
	return nil
}

// takeOnce takes the files that list nothing twice from the flag.
func (o *oneShot) takeOnce() error {
	if len(o.deduplicated) == 0 {
		return nil
	}
	o.once.seen = true
	if slices.Equal(o.deduplicated, []string{"none"}) {
		return nil
	}
	var once []string
	for _, name := range o.deduplicated {
		i := slices.Index(o.files, name)
		if i < 0 {
			return usage("one of the files as on the command line, or none", "--deduplicated %s is not a file of this command", term.Escape(name))
		}
		once = append(once, o.sources[i])
	}
	o.declareOnce(once)
	return nil
}

// of returns which of two sources list nothing twice.
func (n *once) of(sources []string) (once []string) {
	for i, is := range [...]bool{n.First, n.Second} {
		if is {
			once = append(once, sources[i])
		}
	}
	return once
}

// declareOnce makes the kind keep the rows of a source apart.
func (o *oneShot) declareOnce(once []string) {
	if len(once) == 0 {
		return
	}
	schema := *o.schema
	schema.Sources = maps.Clone(schema.Sources)
	if schema.Sources == nil {
		schema.Sources = map[string]match.Source{}
	}
	for _, source := range once {
		of := schema.Sources[source]
		of.Trust, of.Deduplicated = schema.Trust(source), true
		schema.Sources[source] = of
	}
	o.schema, o.kinds = &schema, dedupe.Kinds(&schema)
}
