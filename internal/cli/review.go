// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/review"
)

// pair is the part of a review.Pair that is printed.
type pair struct {
	A           entity.Ref  `json:"a"`
	B           entity.Ref  `json:"b"`
	EntityA     string      `json:"entity_a"`
	EntityB     string      `json:"entity_b"`
	Merges      int         `json:"merges"`
	Joined      bool        `json:"joined"`
	Teaches     float64     `json:"teaches"`
	Explanation explanation `json:"explanation"`
}

func (a *app) reviewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "review",
		Short: "Review pairs of records that the matcher leaves to people",
		Example: "  locus review list\n" +
			"  locus review answer",
	}
	c.AddCommand(a.reviewList(), a.reviewAnswer(), a.reviewAssign(), a.reviewTeam())
	return c
}

func (a *app) reviewList() *cobra.Command {
	var pages paging
	var order string
	var f review.Filter
	c := &cobra.Command{
		Use:   "list",
		Short: "List the pairs to decide about",
		Long: "Orders of the list:\n" +
			"  best     possible matches, the highest match weight first (default)\n" +
			"  teaches  the most informative pairs first, from possible matches and weakly joined pairs within entities\n" +
			"  chance   all compared pairs in random order, for locus quality\n" +
			"  second   pairs that another person answered, for a second opinion\n" +
			"With a filter, a page may have fewer pairs than --limit even if more follow.",
		Example: "  locus review list --order teaches --limit 20\n" +
			"  locus review list --all --json",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			if pages.limit > 100 {
				return usage("--limit 100", "--limit %d: a page has at most 100 pairs", pages.limit)
			}
			t := &term.Table{Header: []string{"weight", "record", "other", "entity", "other", "merges", "teaches"},
				Right: map[int]bool{0: true, 5: true, 6: true}}
			err := pages.list(c.Context(), a, cl, "/v1/review", "pairs", filterQuery(orderQuery(order), &f), func(raw json.RawMessage) error {
				var p pair
				if err := json.Unmarshal(raw, &p); err != nil {
					return fmt.Errorf("read a pair: %w", err)
				}
				t.Add(p.Explanation.Weight.String(), p.A.String(), p.B.String(), p.EntityA, p.EntityB, plural(p.Merges, "record"),
					fmt.Sprintf("%.2f", p.Teaches))
				return nil
			})
			if err != nil || a.json {
				return err
			}
			return a.printTable(t)
		}),
	}
	pages.flags(c)
	filterFlags(c, &f)
	orderFlag(c, &order)
	return a.connection(c)
}

func orderFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "order", "best", "order of the pairs: best, teaches, chance or second")
}

// orderQuery is the query of an order, empty for the default.
func orderQuery(order string) url.Values {
	if order == "best" {
		return url.Values{}
	}
	return url.Values{"order": {order}}
}

func (a *app) reviewAnswer() *cobra.Command {
	var f by
	var same, different bool
	var order string
	c := &cobra.Command{
		Use:   "answer [ADDRESS ADDRESS]",
		Short: "Decide whether two records are the same thing; on a terminal, pair after pair",
		Long: "Without addresses, shows the pairs of the review queue side by side with their match weights. Keys: s same,\n" +
			"d different, k skip, q quit.",
		Example: "  locus review answer\n" +
			"  locus review answer vendor:88231 crm:17 --different --reason \"two floors\"",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 || len(args) > 2:
				return arguments("ADDRESS", "ADDRESS")(c, args)
			case len(args) == 2 && same == different:
				return usage("--same or --different", "locus review answer: --same or --different is missing")
			case len(args) == 0 && (same || different):
				return arguments("ADDRESS", "ADDRESS")(c, args)
			case len(args) == 0 && (!isTerminal(a.stdin) || a.json):
				return usage("locus review answer ADDRESS ADDRESS --same", "no terminal to ask: the addresses are missing")
			}
			return nil
		},
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			if len(args) == 0 {
				return a.reviewPairs(c, cl, &f, order)
			}
			return a.decide(c, cl, a.sign(&f, verdictOn(args[0], args[1], same)))
		}),
	}
	c.Flags().BoolVar(&same, "same", false, "they are the same thing")
	c.Flags().BoolVar(&different, "different", false, "they are different things")
	orderFlag(c, &order)
	f.flags(c)
	return a.connection(c)
}

func verdictOn(x, y string, same bool) httpapi.DecisionInput {
	d := httpapi.DecisionInput{Verdict: entity.VerdictDifferent, A: x, B: y}
	if same {
		d.Verdict = entity.VerdictSame
	}
	return d
}

// reviewPairs asks the user about one pair after another. Decided pairs leave the queue, so the next page starts after
// the skipped ones.
func (a *app) reviewPairs(c *cobra.Command, cl *client, f *by, order string) error {
	keys := bufio.NewReader(a.stdin)
	cursor, answered := "", 0
	for {
		q := orderQuery(order)
		q.Set("limit", "20")
		q.Set("assigned", review.Open) // pairs assigned to others are left to them
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		var page struct {
			Pairs  []pair `json:"pairs"`
			Cursor string `json:"cursor"`
		}
		if _, err := cl.get(c.Context(), "/v1/review", q, &page); err != nil {
			return err
		}
		for i := range page.Pairs {
			p := &page.Pairs[i]
			fmt.Fprintf(a.stdout, "\n%s   and   %s   %s one of %s; the answer teaches %.2f bits\n", term.Escape(p.A.String()),
				term.Escape(p.B.String()), would(p.Joined), plural(p.Merges, "record"), p.Teaches)
			if err := a.waterfall(a.stdout, &p.Explanation, "5"); err != nil {
				return err
			}
			answer, err := a.ask(keys)
			if err != nil || answer == "q" {
				a.say("answered %s", plural(answered, "pair"))
				return nil //nolint:nilerr // the end of the input is the end of the answers
			}
			if answer == "k" {
				continue
			}
			if err := a.decide(c, cl, a.sign(f, verdictOn(p.A.String(), p.B.String(), answer == "s"))); err != nil {
				return err
			}
			answered++
		}
		if cursor = page.Cursor; cursor == "" {
			a.say("answered %s; no pairs are left", plural(answered, "pair"))
			return nil
		}
	}
}

func would(joined bool) string {
	if joined {
		return "are"
	}
	return "would be"
}

func (a *app) ask(keys *bufio.Reader) (string, error) {
	for {
		fmt.Fprint(a.stderr, "the same thing? [s]ame, [d]ifferent, s[k]ip, [q]uit: ")
		line, err := keys.ReadString('\n')
		answer := strings.ToLower(strings.TrimSpace(line))
		switch answer {
		case "s", "same":
			return "s", nil
		case "d", "different":
			return "d", nil
		case "k", "skip":
			return "k", nil
		case "q", "quit":
			return "q", nil
		}
		if err != nil {
			return "", err
		}
	}
}
