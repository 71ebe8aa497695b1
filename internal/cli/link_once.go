// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/match"
)

// once is whether each of two files lists a thing once, so that a row is in one pair at most.
type once struct {
	is   bool
	said bool // --one-to-one was given
	seen bool // the rows were looked at, or it was said
	asks bool // the command has the flag
}

func (n *once) flag(c *cobra.Command) {
	n.asks = true
	c.Flags().BoolVar(&n.is, "one-to-one", false, "keep at most one pair per row, the highest match weights first; by default if the files list nothing twice")
	c.PreRun = func(*cobra.Command, []string) { n.said = c.Flags().Changed("one-to-one"); n.seen = n.said }
}

// decide looks at the pairs, unless it is known already.
func (n *once) decide(pairs []dedupe.Pair) {
	if !n.seen {
		n.is, n.seen = dedupe.Distinct(pairs), true
	}
}

// lookOnce decides from the rows whether each file lists a thing once, and declares that for the weights that are learned
// from them: of the candidates of a row one matches, or none.
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
	if o.once.is {
		schema := *o.schema
		schema.Sources = maps.Clone(schema.Sources)
		if schema.Sources == nil {
			schema.Sources = map[string]match.Source{}
		}
		for _, source := range o.sources {
			schema.Sources[source] = match.Source{Trust: schema.Trust(source), Deduplicated: true}
		}
		o.schema = &schema
	}
	return nil
}

// across returns the pairs of records of two sources that match. Of identical records of one source it takes two, which show
// that the source lists a thing twice.
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
