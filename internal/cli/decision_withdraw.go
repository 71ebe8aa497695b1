// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// withdrawing holds the flags of decision withdraw.
type withdrawing struct {
	by
	attribute           string
	anchor, yes, dryRun bool
}

func (a *app) decisionWithdraw() *cobra.Command {
	var f withdrawing
	c := &cobra.Command{
		Use:   "withdraw [ADDRESS [ADDRESS]]",
		Short: "Withdraw a decision about two records, an anchor or a value, or all decisions of an author",
		Long: "Without addresses, withdraws all decisions by --author, so that entities get the ids that they would have without\n" +
			"these. A decision that another author has replaced stays.",
		Example: "  locus decision withdraw vendor:88231 crm:17 --reason \"moved in 2019\"\n" +
			"  locus decision withdraw --author agent:helpdesk --dry-run",
		Args: func(c *cobra.Command, args []string) error {
			one := f.anchor || f.attribute != ""
			switch {
			case len(args) > 2:
				return arguments("ADDRESS", "ADDRESS")(c, args)
			case len(args) == 0 && (one || f.author == ""):
				return arguments("ADDRESS")(c, args)
			case len(args) == 0:
				return nil
			case len(args) == 2 == one || f.anchor && f.attribute != "":
				return usage("two addresses, or one with --anchor or with --attribute NAME",
					"locus decision withdraw: the addresses are missing")
			case f.yes || f.dryRun:
				return usage("leave it out", "locus decision withdraw: --yes and --dry-run are for all decisions of an author")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(unless(f.dryRun, writes), func(c *cobra.Command, cl *client, args []string) error {
				if len(args) == 0 {
					return a.withdrawAll(c, cl, &f)
				}
				d := httpapi.DecisionInput{Verdict: entity.VerdictSame, A: args[0], Withdraw: true, Attribute: f.attribute}
				switch {
				case f.anchor:
					d.Verdict = entity.VerdictAnchor
				case f.attribute != "":
					d.Verdict = entity.VerdictValue
				default:
					d.B = args[1]
				}
				return a.decide(c, cl, a.sign(&f.by, d))
			})(c, args)
		},
	}
	c.Flags().BoolVar(&f.anchor, "anchor", false, "withdraw the decision about which record names the entity")
	c.Flags().StringVar(&f.attribute, "attribute", "", "withdraw the decision about the value of this attribute")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask for confirmation")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be withdrawn, and stop")
	f.flags(c)
	return a.connection(c)
}

// withdrawAll withdraws all decisions of an author. A run that was stopped can be repeated.
func (a *app) withdrawAll(c *cobra.Command, cl *client, f *withdrawing) error {
	list, err := a.decisionsBy(c, cl, f.author)
	if err != nil {
		return err
	}
	t := decisionTable()
	for i := range list {
		addDecision(t, &list[i])
	}
	if len(list) == 0 {
		a.say("%s has no decision to withdraw", term.Escape(f.author))
		return nil
	}
	if f.dryRun && a.json {
		for i := range list {
			raw, err := json.Marshal(&list[i])
			if err != nil {
				return fmt.Errorf("write a decision: %w", err)
			}
			if err := a.printRaw(typed("result", raw)); err != nil {
				return err
			}
		}
		return nil
	}
	if f.dryRun {
		a.say("would withdraw %s", plural(len(list), "decision"))
		return a.printTable(t)
	}
	if !f.yes && !a.json {
		if err := t.Write(a.stderr, a.talk); err != nil {
			return err
		}
	}
	if err := a.confirm(f.yes, fmt.Sprintf("Withdraw %s by %s?", plural(len(list), "decision"), term.Escape(f.author))); err != nil {
		return err
	}
	var results []httpapi.DecideResult
	var raws []json.RawMessage
	for at := 0; at < len(list); at += portion {
		request := httpapi.DecideRequest{}
		for i := at; i < min(at+portion, len(list)); i++ {
			request.Decisions = append(request.Decisions, withdrawal(&list[i], &f.by))
		}
		answered, raw, err := a.send(c, cl, "/v1/decisions", request)
		if err != nil {
			a.say("withdrew %d of %s: repeat the command for the rest", len(results), plural(len(list), "decision"))
			return err
		}
		results, raws = append(results, answered...), append(raws, raw...)
	}
	return a.decided(results, raws)
}

// withdrawal returns the input that withdraws a decision. The author stays.
func withdrawal(d *decisions.Decided, f *by) httpapi.DecisionInput {
	in := httpapi.DecisionInput{Verdict: d.Verdict, A: d.A.String(), Attribute: d.Attribute, Withdraw: true,
		Author: f.author, Reason: f.reason}
	if d.Pair() {
		in.B = d.B.String()
	}
	return in
}

// decisionsBy returns all decisions by an author that count.
func (a *app) decisionsBy(c *cobra.Command, cl *client, author string) (list []decisions.Decided, err error) {
	query := url.Values{"limit": {"1000"}}
	for {
		var page httpapi.DecisionList
		if _, err := cl.get(c.Context(), "/v1/decisions", query, &page); err != nil {
			return nil, err
		}
		for _, d := range page.Decisions {
			if d.Author == author {
				list = append(list, d)
			}
		}
		if page.Cursor == "" {
			return list, nil
		}
		query.Set("cursor", page.Cursor)
	}
}
