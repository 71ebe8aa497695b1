// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/review"
)

func (a *app) reviewTeam() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "team",
		Short: "Show how many pairs each person answered, how often people agree, and where they do not",
		Long: "Today begins at midnight UTC, the week seven days ago. The rate is answers per hour, over the hours of the week with\n" +
			"answers. Pairs decided in bulk are counted separately.",
		Example: "  locus review team\n" +
			"  locus review team --json",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var team review.Team
			raw, err := cl.get(c.Context(), "/v1/review/team", nil, &team)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(typed("team", raw))
			}
			a.say("%s to review%s; people disagree about %d", plural(team.Left, "pair"),
				map[bool]string{true: " and more"}[team.More], team.Unsettled)
			t := &term.Table{Header: []string{"what", "who", "today", "week", "all", "rate", "in bulk", "assigned"},
				Right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true}}
			for _, p := range team.People {
				t.Add("answers", p.Person, strconv.Itoa(p.Today), strconv.Itoa(p.Week), strconv.Itoa(p.All),
					strconv.FormatFloat(p.Rate, 'f', 0, 64), strconv.Itoa(p.InBulk), strconv.Itoa(p.Assigned))
			}
			for _, g := range team.Agreement {
				t.Add("agreement", g.A+", "+g.B, "", "", fmt.Sprintf("%d of %d", g.Agree, g.Pairs), "", "", "")
			}
			for _, d := range team.Disagreements {
				t.Add("to settle", addressOf(d.RefA, d.A)+" "+addressOf(d.RefB, d.B), "", "", "", "", "", "")
			}
			for _, b := range team.Batches {
				t.Add("batch", b.ID+" "+b.Author, "", "", strconv.Itoa(b.Stands), "", "", "")
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) reviewAssign() *cobra.Command {
	var f review.Filter
	var days int
	var release bool
	var to string
	c := &cobra.Command{
		Use:   "assign [ADDRESS ADDRESS]...",
		Short: "Assign pairs of the review queue to a person for some days, or release them",
		Long: "Selects pairs by their addresses, or by flags from the first 1000 of the queue. The person sees them in the console and\n" +
			"with --assigned mine; other people do not. The assignment ends after the days.",
		Example: "  locus review assign --to ann --source crm\n" +
			"  locus review assign --release --assigned ann",
		Args: func(_ *cobra.Command, args []string) error {
			if (to == "") != release {
				return usage("--to NAME or --release", "locus review assign: --to or --release is missing, or both are given")
			}
			return pairArguments(args, &f)
		},
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			ask := httpapi.AssignRequest{To: to, Days: days, Pairs: chosenPairs(args)}
			if len(ask.Pairs) == 0 {
				ask.Filter = &f
			}
			body, err := json.Marshal(ask)
			if err != nil {
				return fmt.Errorf("write the choice: %w", err)
			}
			var answer httpapi.AssignResponse
			raw, err := cl.do(c.Context(), http.MethodPost, "/v1/review/assign", nil, body, &answer)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(typed("assigned", raw))
			}
			a.say("%s %s", map[bool]string{true: "released", false: "assigned"}[release], plural(answer.Pairs, "pair"))
			return nil
		}),
	}
	c.Flags().StringVar(&to, "to", "", "name of the person, as decisions have it")
	c.Flags().BoolVar(&release, "release", false, "release the pairs")
	c.Flags().IntVar(&days, "days", 7, "for how many days, 1 to 90")
	filterFlags(c, &f)
	return a.connection(c)
}

// filterQuery adds a filter to the query of the review queue.
func filterQuery(q url.Values, f *review.Filter) url.Values {
	for name, value := range map[string]string{"source": f.Source, "kind": f.Kind, "attribute": f.Attribute, "bits": f.Bits, "assigned": f.Assigned} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}
