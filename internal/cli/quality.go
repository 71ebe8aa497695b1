// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
)

func (a *app) quality() *cobra.Command {
	var kind, threshold string
	c := &cobra.Command{
		Use:   "quality [TABLE]",
		Short: "Estimate precision and recall from your decisions, and describe the data",
		Long: "Precision is the share of the compared pairs within entities that are the same thing. Recall is the share of the pairs\n" +
			"that are the same thing that are within one entity. Both have a 90 % interval. They are estimated from answers about\n" +
			"randomly drawn pairs, which locus review answer --order chance asks for. Matches that no comparison found are not\n" +
			"counted.\n\n" +
			"With a table, describes the records, or a sample of a large installation: attributes (how many records have a value),\n" +
			"formats (shapes of values, and odd ones), sources (duplicates within each), sizes (of entities), weights (of the compared\n" +
			"pairs), thresholds (effect of other match thresholds; --threshold adds one), evidence (how often each comparison level\n" +
			"was seen), keys (how many records have each kind of blocking key).",
		Example: "  locus quality\n" +
			"  locus quality thresholds --threshold 6.5 --json",
		Args: atMost("TABLE"), ValidArgs: profileNames(),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			if len(args) == 1 {
				return a.profile(c.Context(), cl, args[0], kind, threshold)
			}
			if kind != "" || threshold != "" {
				return usage("locus quality thresholds", "locus quality: --kind and --threshold are for a table")
			}
			var q quality.Estimate
			raw, err := cl.get(c.Context(), "/v1/quality", nil, &q)
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printRaw(typed("quality", raw))
			}
			return a.printQuality(&q)
		}),
	}
	c.Flags().StringVar(&kind, "kind", "", "only this kind, for a table")
	c.Flags().StringVar(&threshold, "threshold", "", "show the effect of this match threshold, in `bits`, too")
	return a.connection(c)
}

func (a *app) printQuality(q *quality.Estimate) error {
	t := &term.Table{Header: []string{"kind", "within", "weight", "pairs", "decided", "drawn", "same"},
		Right: map[int]bool{3: true, 4: true, 5: true, 6: true}}
	for _, k := range q.Kinds {
		a.say("%s: precision %s, recall %s", k.Kind, within(k.Precision), within(k.Recall))
		for _, s := range k.Strata {
			within := "two entities"
			if s.Joined {
				within = "one entity"
			}
			t.Add(k.Kind, within, fromTo(s.From, s.To), term.Count(int64(s.Pairs)), term.Count(int64(s.Decided)),
				term.Count(int64(s.Drawn)), term.Count(int64(s.DrawnSame)))
		}
		if k.Drawn == 0 {
			a.say("no randomly drawn pair is decided yet: locus review answer --order chance")
		}
	}
	a.sayLookedAt(q.Records, q.Whole)
	return a.printTable(t)
}

// within is an estimate with its interval.
func within(i quality.Interval) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", i.Value, i.Low, i.High)
}

// fromTo describes the limits of a match weight, whose end is excluded.
func fromTo(from, to *match.Weight) string {
	switch {
	case from != nil && to != nil:
		return from.String() + " to " + to.String()
	case from != nil:
		return "from " + from.String()
	case to != nil:
		return "below " + to.String()
	}
	return "any"
}
