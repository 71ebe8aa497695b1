// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/review"
)

// filterFlags are the flags that select pairs of the review queue.
func filterFlags(c *cobra.Command, f *review.Filter) {
	c.Flags().StringVar(&f.Source, "source", "", "only pairs with a record of this source")
	c.Flags().StringVar(&f.Kind, "kind", "", "only pairs of this kind")
	c.Flags().StringVar(&f.Attribute, "attribute", "", "only pairs that disagree in this attribute")
	c.Flags().StringVar(&f.Bits, "bits", "", "only pairs whose match weight has these whole bits")
	c.Flags().StringVar(&f.Assigned, "assigned", "",
		"only pairs assigned to this person; none, mine, open (mine or none) or all")
}

// chosenPairs are the pairs of arguments, two addresses each.
func chosenPairs(args []string) (pairs []review.Chosen) {
	for i := 0; i+1 < len(args); i += 2 {
		pairs = append(pairs, review.Chosen{A: args[i], B: args[i+1]})
	}
	return pairs
}

// pairArguments wants addresses in pairs, and either these or a filter.
func pairArguments(args []string, f *review.Filter) error {
	switch {
	case len(args)%2 != 0:
		return usage("two addresses for each pair", "%d addresses: want two for each pair", len(args))
	case len(args) > 0 && *f != review.Filter{}:
		return usage("pairs or a filter", "pairs are chosen by their addresses or by a filter, not both")
	}
	return nil
}

func (a *app) decisionBulk() *cobra.Command {
	var f review.Filter
	var who by
	var yes, dryRun bool
	c := &cobra.Command{
		Use:   "bulk same|different [ADDRESS ADDRESS]...",
		Short: "Decide about many pairs of the review queue in one step that can be undone",
		Long: "Selects pairs by their addresses, or by flags from the first 1000 of the review queue; without either, all 1000. Shows\n" +
			"the number of pairs and the effect on the entities, and asks before it decides.",
		Example: "  locus decision bulk different --source crm --bits 0 --dry-run\n" +
			"  locus decision bulk same --attribute phones --bits 4 --reason \"new telephone\" --yes",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] != string(entity.VerdictSame) && args[0] != string(entity.VerdictDifferent) {
				return usage("same or different", "locus decision bulk: the verdict is missing")
			}
			return pairArguments(args[1:], &f)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(unless(dryRun, writes), func(c *cobra.Command, cl *client, args []string) error {
				ask := httpapi.PreviewRequest{Verdict: entity.Verdict(args[0]), Pairs: chosenPairs(args[1:])}
				if len(ask.Pairs) == 0 {
					ask.Filter = &f
				}
				return a.bulk(c, cl, ask, &who, yes, dryRun)
			})(c, args)
		},
	}
	filterFlags(c, &f)
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be decided, and stop")
	who.flags(c)
	return a.connection(c)
}

// bulk shows the effect of a bulk decision, and makes it.
func (a *app) bulk(c *cobra.Command, cl *client, ask httpapi.PreviewRequest, who *by, yes, dryRun bool) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return fmt.Errorf("write the choice: %w", err)
	}
	var effect review.Effect
	raw, err := cl.do(c.Context(), http.MethodPost, "/v1/decisions/preview", nil, body, &effect)
	if err != nil {
		return err
	}
	if dryRun && a.json {
		return a.printRaw(typed("effect", raw))
	}
	largest := ""
	if effect.Largest != nil {
		largest = fmt.Sprintf("; the largest entity would have %s", plural(effect.Largest.Records, "record"))
	}
	a.say("%s: %d entities would be merged, %d would be split%s", plural(len(effect.Pairs), "pair"), effect.Merged,
		effect.Split, largest)
	if effect.More {
		a.say("the queue goes on: repeat the command for the pairs further down")
	}
	if dryRun {
		t := &term.Table{Header: []string{"weight", "record", "other", "merges"}, Right: map[int]bool{0: true, 3: true}}
		for _, p := range effect.Pairs {
			t.Add(strconv.FormatFloat(float64(p.Explanation.Weight)/100, 'f', -1, 64), p.A.String(), p.B.String(),
				plural(p.Merges, "record"))
		}
		return a.printTable(t)
	}
	if len(effect.Pairs) == 0 {
		return nil
	}
	if err := a.confirm(yes, fmt.Sprintf("Decide %s: %s?", plural(len(effect.Pairs), "pair"), ask.Verdict)); err != nil {
		return err
	}
	signed := a.sign(who, httpapi.DecisionInput{})
	if body, err = json.Marshal(httpapi.BulkRequest{PreviewRequest: ask, Stamp: effect.Stamp, Author: signed.Author, Reason: signed.Reason}); err != nil {
		return fmt.Errorf("write the decisions: %w", err)
	}
	var made httpapi.BulkResponse
	raw, err = cl.do(c.Context(), http.MethodPost, "/v1/decisions/bulk", nil, body, &made)
	if err != nil {
		return err
	}
	a.say("undo it with: locus decision undo %s", made.Batch)
	return a.decidedAll(made.Results, raw)
}

// decidedAll prints the results of an answer.
func (a *app) decidedAll(results []httpapi.DecideResult, raw json.RawMessage) error {
	var list struct {
		Results []json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("read what was decided: %w", err)
	}
	return a.decided(results, list.Results)
}

func (a *app) decisionUndo() *cobra.Command {
	var who by
	c := &cobra.Command{
		Use:   "undo BATCH",
		Short: "Withdraw the decisions of a batch that are still in force",
		Long:  "Decisions that were replaced since are left alone. locus review team lists the batches.",
		Example: "  locus decision undo q4m2xk7vw3np\n" +
			"  locus decision undo q4m2xk7vw3np --reason \"the wrong filter\"",
		Args: arguments("BATCH"),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			signed := a.sign(&who, httpapi.DecisionInput{})
			body, err := json.Marshal(httpapi.UndoRequest{Author: signed.Author, Reason: signed.Reason})
			if err != nil {
				return fmt.Errorf("write the decisions: %w", err)
			}
			var answer httpapi.DecideResponse
			raw, err := cl.do(c.Context(), http.MethodPost, "/v1/decisions/bulk/"+url.PathEscape(args[0])+"/undo", nil,
				body, &answer)
			if err != nil {
				return err
			}
			return a.decidedAll(answer.Results, raw)
		}),
	}
	who.flags(c)
	return a.connection(c)
}
