// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"maps"

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
		n.Once, n.seen = dedupe.Distinct(pairs), true
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

// lookOnce decides from the rows which files list nothing twice, and declares that when weights are learned from them:
// at most one of a row's candidates in such a file matches.
func (o *oneShot) lookOnce(ctx context.Context) error {
	if !o.once.asks {
		return nil
	}
	if !o.once.seen {
		m, records, err := o.normalised(ctx, func(int, *bulk.RowError) {})
		if err != nil {
			return err
		}
		o.once.decide(across(m, records))
	}
	schema := *o.schema
	schema.Sources = maps.Clone(schema.Sources)
	if schema.Sources == nil {
		schema.Sources = map[string]match.Source{}
	}
	for i, once := range [...]bool{o.once.First, o.once.Second} {
		if once {
			schema.Sources[o.sources[i]] = match.Source{Trust: schema.Trust(o.sources[i]), Deduplicated: true}
		}
	}
	o.schema = &schema
	return nil
}

// across returns the pairs of records of two sources that match. Of identical records of one source it takes two, which
// show that the source lists a thing twice.
func across(m *match.Matcher, records []*match.Record) (pairs []dedupe.Pair) {
	leads, equal := match.Leaders(records), map[int][]int{}
	for i, lead := range leads {
		of := equal[lead]
		if n := len(of); n < 2 || records[of[n-2]].Source() != records[i].Source() {
			equal[lead] = append(of, i)
		}
	}
	add := func(one, two []int) {
		for _, i := range one {
			for _, j := range two {
				if a, b := records[i], records[j]; a.Source() < b.Source() {
					if v := m.Compare(a, b); m.Decide(v) == match.Same {
						pairs = append(pairs, dedupe.Pair{A: i, B: j, Weight: m.Sum(v)})
					}
				}
			}
		}
	}
	for _, p := range match.Candidates(records) {
		if leads[p[1]] == p[1] {
			add(equal[p[0]], equal[p[1]])
			add(equal[p[1]], equal[p[0]])
		}
	}
	for i, lead := range leads {
		if i == lead {
			add(equal[i], equal[i])
		}
	}
	return pairs
}
