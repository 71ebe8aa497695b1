// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// fitted is a kind with weights learned from decisions, as JSON.
type fitted struct {
	Type    string   `json:"type"`
	Schema  string   `json:"schema"`
	Refused []string `json:"refused,omitempty"`
	*learn.Fitted
}

// learnDecisions fits the weights of a kind to the decisions of an installation.
func (a *app) learnDecisions(c *cobra.Command, cl *client, kind, out string, anyway bool) error {
	ctx := c.Context()
	if kind == "" {
		kind = "place"
	}
	var k httpapi.Kind
	if _, err := cl.get(ctx, kindPath(kind), nil, &k); err != nil {
		return err
	}
	schema, err := match.ParseSchema([]byte(k.Schema))
	if err != nil {
		return fmt.Errorf("read kind %s: %w", kind, err)
	}
	answers, err := a.answers(ctx, cl, kind)
	if err != nil {
		return err
	}
	f := learn.Answers(schema, answers)
	refused := f.Refused()
	if err := a.printFitted(f); err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(fitted{"draft", string(f.Schema.YAML()), refused, f}); err != nil {
			return err
		}
	}
	if len(refused) > 0 && !anyway {
		return &failure{
			Code: "not_better", Exit: exitFailed, Message: "the current weights stay: " + strings.Join(refused, "; "),
			Hint: "decide about more pairs: locus review; --anyway prints the draft",
		}
	}
	return a.writeKind(f.Schema, out)
}

// answers reads the decisions of people in force about pairs of records of a kind, each with how the pair compares.
func (a *app) answers(ctx context.Context, cl *client, kind string) (answers []learn.Answer, err error) {
	var pairs []decisions.Decided
	pages := paging{all: true, limit: locus.MaxLimit}
	if _, err := pages.read(ctx, a, cl, "/v1/decisions", "decisions", url.Values{}, func(raw json.RawMessage) error {
		var d decisions.Decided
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("read a decision: %w", err)
		}
		if d.Pair() && !d.ByAgent() && d.RefA != (entity.Ref{}) && d.RefB != (entity.Ref{}) {
			pairs = append(pairs, d)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	progress := term.NewProgress(a.stderr, a.talk.Terminal && !a.json, nil)
	defer progress.Close()
	for i, d := range pairs {
		progress.Update(func() string { return fmt.Sprintf("%d of %d decisions", i, len(pairs)) })
		var said struct {
			Kind        string            `json:"kind"`
			Explanation match.Explanation `json:"explanation"`
		}
		if _, err := cl.get(ctx, "/v1/why-not", url.Values{"a": {d.RefA.String()}, "b": {d.RefB.String()}}, &said); err != nil {
			if _, deleted := gone(err); deleted {
				continue
			}
			return nil, err
		}
		if said.Kind != kind {
			continue
		}
		answers = append(answers, learn.Answer{Lines: said.Explanation.Lines, Same: d.Verdict == entity.VerdictSame})
	}
	return answers, ctx.Err()
}

// printFitted prints the learned weights to standard error, because the YAML goes to standard output.
func (a *app) printFitted(f *learn.Fitted) error {
	a.say("%s, %s say same", counted(int64(f.Answers), "decision", "decisions"), term.Count(int64(f.Same)))
	t := &term.Table{Header: []string{"field", "level", "today", "learned", "same", "different"},
		Right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	for _, l := range f.Levels {
		t.Add(l.Field, l.Text, l.Before.String(), l.After.String(), fmt.Sprint(l.Same), fmt.Sprint(l.Different))
	}
	style := a.talk
	style.Terminal = true // a table for people is always aligned
	if err := t.Write(a.stderr, style); err != nil {
		return err
	}
	a.say("wrong about %d held-out decisions, the current weights about %d; surprise %.2f and %.2f bits per decision",
		f.Learned.Wrong, f.Today.Wrong, f.Learned.Loss, f.Today.Loss)
	return nil
}

// learnFrom checks the input of kind learn.
func learnFrom(decided bool, files []string) error {
	switch {
	case decided && len(files) > 0:
		return usage("locus kind learn --decisions, or locus kind learn FILE...",
			"--decisions learns from an installation and not from files")
	case !decided && len(files) == 0:
		return usage("locus kind learn people.csv, or --decisions", "FILE is missing")
	}
	return nil
}
