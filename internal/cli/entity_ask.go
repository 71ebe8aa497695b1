// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// howStep is the part of an explain.Step that is printed.
type howStep struct {
	A    []entity.Ref `json:"a"`
	B    []entity.Ref `json:"b"`
	Pair struct {
		A           entity.Ref  `json:"a"`
		B           entity.Ref  `json:"b"`
		Explanation explanation `json:"explanation"`
	} `json:"pair"`
	Sum     json.Number      `json:"sum"`
	Absent  int              `json:"absent"`
	Joined  bool             `json:"joined"`
	Decided *entity.Decision `json:"decided"`
	Against string           `json:"against"`
}

func (a *app) entityHow() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "how ADDRESS",
		Short: "Show the steps that joined the records of an entity, and those that were refused",
		Example: "  locus entity how vendor:88231\n" +
			"  locus entity how 80e51ef9-7a7f-bd53-7a50-01a1f8660d00 --json",
		Args: arguments("ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			e, _, err := a.find(c, cl, args[0])
			if err != nil {
				return err
			}
			var how struct {
				Threshold json.Number      `json:"threshold"`
				Component int              `json:"component"`
				Cut       json.Number      `json:"cut"`
				Steps     []howStep        `json:"steps"`
				Events    []changes.Change `json:"events"`
				Since     time.Time        `json:"since"`
			}
			raw, err := cl.get(c.Context(), "/v1/entities/"+e.ID.String()+"/how", nil, &how)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			fmt.Fprintf(a.stdout, "entity %s   %s of %d connected   %s\n", e.ID, plural(e.Records, "record"), how.Component,
				term.Escape(winner(e.View, "name")))
			if how.Cut != how.Threshold {
				fmt.Fprintf(a.stdout, "too many records are connected: a match needs %s bits here\n", how.Cut)
			}
			if len(how.Steps) == 0 {
				fmt.Fprintln(a.stdout, "a single record: nothing was joined")
			}
			for i := range how.Steps {
				if err := a.howStep(i+1, &how.Steps[i], how.Threshold); err != nil {
					return err
				}
			}
			fmt.Fprintln(a.stdout)
			return a.events(how.Events, how.Since)
		}),
	})
}

func (a *app) howStep(n int, st *howStep, threshold json.Number) error {
	became := "become one"
	if !st.Joined {
		became = "stay apart"
	}
	fmt.Fprintf(a.stdout, "\n%d. %s   and   %s   %s", n, term.Clip(joined(st.A), 60), term.Clip(joined(st.B), 60), became)
	switch {
	case !st.Joined:
		fmt.Fprintf(a.stdout, ": %s\n", term.Escape(st.Against))
	case st.Decided != nil:
		fmt.Fprintf(a.stdout, ": %s\n", says(st.Decided))
	default:
		fmt.Fprintf(a.stdout, ": %s bits together\n", st.Sum)
	}
	fmt.Fprintf(a.stdout, "   %s and %s\n", term.Escape(st.Pair.A.String()), term.Escape(st.Pair.B.String()))
	return a.waterfall(a.stdout, &st.Pair.Explanation, threshold)
}

func says(d *entity.Decision) string {
	text := "decided by an unknown author"
	if d.Author != "" {
		text = term.Escape(d.Author) + " said so"
	}
	if d.Reason != "" {
		text += ", " + term.Escape(d.Reason)
	}
	return text
}

func (a *app) entityHistory() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "history ADDRESS",
		Short: "Show the changes of an entity and its records that are still in the logs",
		Example: "  locus entity history vendor:88231\n" +
			"  locus entity history vendor:88231 --json",
		Args: arguments("ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			e, _, err := a.find(c, cl, args[0])
			if err != nil {
				return err
			}
			var h httpapi.History
			raw, err := cl.get(c.Context(), "/v1/entities/"+e.ID.String()+"/history", nil, &h)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			return a.events(h.Events, h.Since)
		}),
	})
}

// events prints changes, the oldest first.
func (a *app) events(events []changes.Change, since time.Time) error {
	if !since.IsZero() {
		a.say("the logs were searched back to %s", since.UTC().Format(timeMilli))
	}
	t := &term.Table{Header: []string{"time", "kind", "entity", "what"}}
	for _, e := range events {
		t.Add(e.Time.UTC().Format(timeMilli), string(e.Kind), e.Entity.String(), what(&e.Change))
	}
	return a.printTable(t)
}

func (a *app) entityRelations() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "relations ADDRESS",
		Short: "Show the entities that contain an entity, are part of it, or share its location",
		Example: "  locus entity relations vendor:88231\n" +
			"  locus entity relations vendor:88231 --json",
		Args: arguments("ADDRESS"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			e, _, err := a.find(c, cl, args[0])
			if err != nil {
				return err
			}
			var list struct {
				Relations []struct {
					Relation string        `json:"relation"`
					Entity   string        `json:"entity"`
					Name     string        `json:"name"`
					Via      [2]entity.Ref `json:"via"`
					Weight   json.Number   `json:"match_weight"`
				} `json:"relations"`
			}
			raw, err := cl.get(c.Context(), "/v1/entities/"+e.ID.String()+"/relations", nil, &list)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			t := &term.Table{Header: []string{"relation", "entity", "name", "weight", "seen by", "and"},
				Right: map[int]bool{3: true}}
			for _, r := range list.Relations {
				t.Add(strings.ReplaceAll(r.Relation, "_", " "), r.Entity, r.Name, r.Weight.String(), r.Via[0].String(),
					r.Via[1].String())
			}
			return a.printTable(t)
		}),
	})
}

// scenario holds the flags of what-if.
type scenario struct {
	delete, same, different, bits []string
	threshold                     float64
}

func (a *app) entityWhatIf() *cobra.Command {
	var f scenario
	c := &cobra.Command{
		Use:   "what-if ADDRESS",
		Short: "Show the entities under other records, decisions or match weights, without changing anything",
		Long: "Considers all records connected with ADDRESS and applies all parts of the scenario together. Levels have the names\n" +
			"that explanations show: field, colon, agreement.",
		Example: "  locus entity what-if vendor:88231 --delete crm:17\n" +
			"  locus entity what-if vendor:88231 --different crm:17 --threshold 7.5",
		Args: arguments("ADDRESS"),
		RunE: func(c *cobra.Command, args []string) error {
			request, err := f.request(args[0])
			if err != nil {
				return err
			}
			return a.connected(func(c *cobra.Command, cl *client, _ []string) error { return a.whatIf(c, cl, request) })(c, args)
		},
	}
	c.Flags().StringArrayVar(&f.delete, "delete", nil,
		"assume that the record at this address does not exist; may be repeated")
	c.Flags().StringArrayVar(&f.same, "same", nil,
		"assume a decision that this address and ADDRESS are the same thing; may be repeated")
	c.Flags().StringArrayVar(&f.different, "different", nil,
		"assume a decision that this address and ADDRESS are different things; may be repeated")
	c.Flags().StringArrayVar(&f.bits, "weight", nil,
		"match weight of a level, such as \"phone: equal=4.5\"; may be repeated")
	c.Flags().Float64Var(&f.threshold, "threshold", 0, "match weight from which two records are a match")
	return a.connection(c)
}

func (f *scenario) request(of string) (*httpapi.WhatIfRequest, error) {
	r := &httpapi.WhatIfRequest{Of: of, Delete: f.delete, Threshold: f.threshold}
	for verdict, addresses := range map[entity.Verdict][]string{entity.VerdictSame: f.same, entity.VerdictDifferent: f.different} {
		for _, b := range addresses {
			r.Decide = append(r.Decide, httpapi.DecisionInput{Verdict: verdict, A: of, B: b})
		}
	}
	slices.SortStableFunc(r.Decide, func(x, y httpapi.DecisionInput) int {
		return strings.Compare(string(x.Verdict), string(y.Verdict))
	})
	for _, text := range f.bits {
		at := strings.LastIndexByte(text, '=')
		bits, err := strconv.ParseFloat(text[at+1:], 64)
		if at < 0 || err != nil {
			return nil, usage("--weight \"phone: equal=4.5\"", "--weight %.80q is not a level with a match weight", text)
		}
		if r.Weights == nil {
			r.Weights = map[string]float64{}
		}
		r.Weights[text[:at]] = bits
	}
	return r, nil
}

func (a *app) whatIf(c *cobra.Command, cl *client, request *httpapi.WhatIfRequest) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("write the question: %w", err)
	}
	var answer httpapi.Scenario
	raw, err := cl.do(c.Context(), http.MethodPost, "/v1/what-if", nil, body, &answer)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(raw)
	}
	if len(answer.Before)+len(answer.After) == 0 {
		a.say("nothing would change")
	}
	t := &term.Table{Header: []string{"when", "entity", "records", "name", "members"}, Right: map[int]bool{2: true}}
	for when, list := range [][]httpapi.ScenarioEntity{answer.Before, answer.After} {
		for _, e := range list {
			t.Add([]string{"is", "would be"}[when], e.ID.String(), strconv.Itoa(len(e.Records)), winner(e.View, "name"),
				joined(e.Records))
		}
	}
	return a.printTable(t)
}
