// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) decisionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "decision",
		Short: "List, withdraw, export and import the decisions of people",
		Example: "  locus decision list --of vendor:88231\n" +
			"  locus decision export > decisions.jsonl",
	}
	c.AddCommand(a.decisionList(), a.decisionWithdraw(), a.decisionBulk(), a.decisionUndo(), a.decisionExport(),
		a.decisionImport())
	return c
}

// by holds the flags for the author and the reason.
type by struct{ author, reason string }

func (f *by) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.author, "author", "", "author of the decision; $USER by default")
	c.Flags().StringVar(&f.reason, "reason", "", "reason of the decision")
}

// sign sets the author and the reason of a decision.
func (a *app) sign(f *by, d httpapi.DecisionInput) httpapi.DecisionInput {
	if d.Author = f.author; d.Author == "" {
		d.Author = a.env["USER"]
	}
	d.Reason = f.reason
	return d
}

// decide makes decisions and prints the results.
func (a *app) decide(c *cobra.Command, cl *client, decisions ...httpapi.DecisionInput) error {
	results, raws, err := a.send(c, cl, "/v1/decisions", httpapi.DecideRequest{Decisions: decisions})
	if err != nil {
		return err
	}
	return a.decided(results, raws)
}

// send posts decisions.
func (a *app) send(c *cobra.Command, cl *client, path string,
	request any) (results []httpapi.DecideResult, raws []json.RawMessage, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, nil, fmt.Errorf("write the decisions: %w", err)
	}
	var answer httpapi.DecideResponse
	raw, err := cl.do(c.Context(), http.MethodPost, path, nil, body, &answer)
	if err != nil {
		return nil, nil, err
	}
	var list struct {
		Results []json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, nil, fmt.Errorf("read what was decided: %w", err)
	}
	return answer.Results, list.Results, nil
}

// decided prints the results of decisions. A single rejected one is an error; some of many give exit code 3.
func (a *app) decided(results []httpapi.DecideResult, raws []json.RawMessage) error {
	refused := 0
	t := decisionTable()
	for i, r := range results {
		if a.json {
			if len(results) > 1 || r.Error == nil {
				if err := a.printRaw(typed("result", raws[i])); err != nil {
					return err
				}
			}
		}
		if r.Error != nil {
			if len(results) == 1 {
				return &httpapi.Problem{Fault: *r.Error}
			}
			refused++
			if !a.json {
				a.say("refused: %s", term.Escape(r.Error.Detail))
			}
			continue
		}
		addDecision(t, r.Decision)
		if r.Decision.Pending && !a.json {
			a.say("%s: it is durable; entities follow once their cells are available", addressOf(r.Decision.RefA, r.Decision.A))
		}
		if r.Decision.Conflict != "" && !a.json {
			a.say("%s: %s", addressOf(r.Decision.RefA, r.Decision.A), r.Decision.Conflict)
		}
	}
	if !a.json {
		if err := a.printTable(t); err != nil {
			return err
		}
	}
	if refused > 0 {
		return &failure{Code: "refused", Message: fmt.Sprintf("%d of %d decisions were refused", refused, len(results)),
			Exit: exitPartly}
	}
	return nil
}

func decisionTable() *term.Table {
	return &term.Table{Header: []string{"verdict", "record", "other", "value", "author", "reason", "at", "state"}}
}

func addDecision(t *term.Table, d *decisions.Decided) {
	other, value, state := "", "", "counts"
	if d.Pair() {
		other = addressOf(d.RefB, d.B)
	}
	if d.Attribute != "" {
		value = d.Attribute + "=" + d.Value
	}
	switch {
	case d.Withdrawn:
		state = "withdrawn"
	case d.Pending:
		state = "pending"
	case d.Conflict != "":
		state = "overruled"
	}
	t.Add(string(d.Verdict), addressOf(d.RefA, d.A), other, value, d.Author, d.Reason, d.At.UTC().Format(timeMilli), state)
}

// addressOf returns the address of a record: its key, or its puid if it is deleted.
func addressOf(ref entity.Ref, puid entity.PUID) string {
	if ref == (entity.Ref{}) {
		return puid.String()
	}
	return ref.String()
}

func (a *app) decisionList() *cobra.Command {
	var pages paging
	var of string
	var withdrawn bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List decisions",
		Example: "  locus decision list --all\n" +
			"  locus decision list --of vendor:88231 --withdrawn",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			t := decisionTable()
			err := pages.list(c.Context(), a, cl, "/v1/decisions", "decisions", decisionQuery(of, withdrawn), func(raw json.RawMessage) error {
				var d decisions.Decided
				if err := json.Unmarshal(raw, &d); err != nil {
					return fmt.Errorf("read a decision: %w", err)
				}
				addDecision(t, &d)
				return nil
			})
			if err != nil || a.json {
				return err
			}
			return a.printTable(t)
		}),
	}
	c.Flags().StringVar(&of, "of", "", "only decisions about this record, or about the records of this entity")
	c.Flags().BoolVar(&withdrawn, "withdrawn", false, "include withdrawn decisions")
	pages.flags(c)
	return a.connection(c)
}

func decisionQuery(of string, withdrawn bool) url.Values {
	q := url.Values{}
	if of != "" {
		q.Set("of", of)
	}
	if withdrawn {
		q.Set("withdrawn", "true")
	}
	return q
}

func (a *app) decisionExport() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "export",
		Short: "Print all decisions in force as lines of JSON, which decision import reads",
		Long:  "Records are named by SOURCE:KEY. Withdrawn decisions and those about deleted records are left out.",
		Example: "  locus decision export > decisions.jsonl\n" +
			"  locus decision export --data ./locus-data",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			q := url.Values{"limit": {"1000"}}
			left := 0
			for {
				var page httpapi.DecisionList
				if _, err := cl.get(c.Context(), "/v1/decisions", q, &page); err != nil {
					return err
				}
				for _, d := range page.Decisions {
					if d.RefA == (entity.Ref{}) || d.Pair() && d.RefB == (entity.Ref{}) {
						left++
						continue
					}
					in := httpapi.DecisionInput{Verdict: d.Verdict, A: d.RefA.String(), Attribute: d.Attribute, Value: d.Value,
						Author: d.Author, Reason: d.Reason}
					if d.Pair() {
						in.B = d.RefB.String()
					}
					if err := a.printJSON(in); err != nil {
						return err
					}
				}
				if page.Cursor == "" {
					if left > 0 {
						a.say("left out: %s about deleted records", plural(left, "decision"))
					}
					return nil
				}
				q.Set("cursor", page.Cursor)
			}
		}),
	})
}
