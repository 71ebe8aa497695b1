// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

func (a *app) kindLearn() *cobra.Command {
	var o oneShot
	var anyway, decided bool
	c := &cobra.Command{
		Use:   "learn [FILE...]",
		Short: "Fit the match weights of a kind to the rows of files, without labels, or to decisions",
		Long: "Prints a draft of the kind as YAML, with a prior and weights that fit the files, for locus kind diff, kind migrate,\n" +
			"dedupe --kind and eval --kind. Changes nothing else. The quality of the draft and of the current weights is estimated\n" +
			"without labels. If the draft is not clearly better, or two halves of the pairs lead to different drafts, the command\n" +
			"prints the reasons instead, with exit status 1; --anyway prints the draft regardless. The prior is valid for about as\n" +
			"many records as the files have. Files are recognised as by locus dedupe. Rows and pairs are kept in memory.\n\n" +
			"With --decisions the weights are fitted to the decisions of an installation, and tested on decisions that were held\n" +
			"out.",
		Example: "  locus kind learn people.csv -o person.yaml\n" +
			"  locus kind learn --decisions --kind person -o person.yaml",
		RunE: func(c *cobra.Command, args []string) (failed error) {
			if err := learnFrom(decided, args); err != nil {
				return err
			}
			if decided {
				return a.connected(func(c *cobra.Command, cl *client, _ []string) error {
					return a.learnDecisions(c, cl, o.kind, o.out, anyway)
				})(c, nil)
			}
			gone, err := o.take(c.Context(), a, args)
			if err != nil {
				return err
			}
			defer func() { failed = errors.Join(failed, gone()) }()
			if err := o.look(a); err != nil {
				return err
			}
			if _, err := o.count(c.Context(), a); err != nil {
				return err
			}
			sources := o.schema.Sources
			if err := o.lookOnce(c.Context(), a, ""); err != nil {
				return err
			}
			return a.learn(c.Context(), &o, sources, anyway)
		},
	}
	o.flags(c)
	c.Flags().Lookup("output").Usage = "file to write the kind to; by default the standard output"
	c.Flags().Lookup("key").Usage = "column with the key of a row, which is not compared"
	c.Flags().BoolVar(&anyway, "anyway", false, "print the draft even if it is worse than the current weights")
	c.Flags().BoolVar(&decided, "decisions", false, "learn from the decisions of an installation")
	return a.connection(c)
}

// learned is a draft as JSON.
type learned struct {
	Type    string   `json:"type"`
	Records int      `json:"records"`
	Schema  string   `json:"schema"`
	Refused []string `json:"refused,omitempty"`
	*learn.Draft
}

// learn prints a draft that fits the files. Its sources are those of the kind: what the files list is no property of it.
func (a *app) learn(ctx context.Context, o *oneShot, sources map[string]match.Source, anyway bool) error {
	d, records, err := o.drafted(ctx, func(file int, e *bulk.RowError) {
		o.refused++
		a.say("%s %s %d: %s", term.Escape(o.files[file]), o.plans[file].Format.Unit(), e.Line, term.Escape(e.Reason))
	})
	if err != nil {
		return err
	}
	d.Schema.Sources = sources
	refused := d.Refused()
	if err := a.printDraft(d, records); err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(learned{"draft", records, string(d.Schema.YAML()), refused, d}); err != nil {
			return err
		}
	}
	if len(refused) > 0 && !anyway {
		return &failure{
			Code: "not_better", Exit: exitFailed, Message: "the current weights stay: " + strings.Join(refused, "; "),
			Hint: "measure with labelled pairs: locus eval; --anyway prints the draft",
		}
	}
	if err = a.writeKind(d.Schema, o.out); err == nil && o.refused > 0 {
		all := tally{rows: int64(records), refused: int64(o.refused)}
		err = &failure{Code: "partly_refused", Exit: exitPartly, Message: all.became("compared"),
			Hint: "correct the rows above"}
	}
	return err
}

// writeKind writes a kind to a file, or without one to the standard output, where JSON has it already.
func (a *app) writeKind(kind *match.Schema, out string) (err error) {
	switch {
	case out != "":
		err = os.WriteFile(out, kind.YAML(), 0o666)
	case !a.json:
		_, err = a.stdout.Write(kind.YAML())
	}
	return err
}

// drafted learns from the rows of all files. It returns the number of records, too, and calls refuse for the others.
func (o *oneShot) drafted(ctx context.Context, refuse func(file int, e *bulk.RowError)) (*learn.Draft, int, error) {
	m, records, err := o.normalised(ctx, refuse)
	if err != nil {
		return nil, 0, err
	}
	return learn.Weights(m, records), len(records), nil
}

// normalised returns the rows of all files as records, and a matcher that counts how many records share a phone.
func (o *oneShot) normalised(ctx context.Context, refuse func(file int, e *bulk.RowError)) (*match.Matcher, []*match.Record, error) {
	m := match.New(o.schema, o.terms)
	var records []*match.Record
	err := eachRow(ctx, o.plans, refuse, func(file, number int, row *bulk.Row) bool {
		records = append(records, m.Normalise(o.sources[file], fmt.Sprintf("%s %d", row.Key, number), row.Attributes))
		return true
	})
	return m.Among(match.CountNames(records)), records, err
}

// printDraft prints the learned weights to standard error, because the YAML goes to standard output.
func (a *app) printDraft(d *learn.Draft, records int) error {
	a.say("%s, %s compared, %s match", counted(int64(records), "record", "records"),
		counted(int64(d.Pairs), "pair", "pairs"), term.Count(int64(d.Matches)))
	t := &term.Table{Header: []string{"field", "level", "today", "learned", "of matches", "of random pairs"},
		Right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	t.Add("prior", "any two records", d.Prior.String(), d.Schema.Prior.String(), "", "")
	for _, l := range d.Levels {
		t.Add(l.Field, l.Text, l.Before.String(), l.After.String(), fmt.Sprintf("%.2f %%", 100*l.Match),
			fmt.Sprintf("%.4f %%", 100*l.Random))
	}
	if err := t.Write(a.stderr, a.talk); err != nil {
		return err
	}
	a.say("F1 about %.3f, with the current weights about %.3f, standard error of the difference %.4f", d.Learned.F1,
		d.Today.F1, d.Error)
	a.say("likely matches that the current weights call different: %.1f %%; matches that halves of the pairs agree on: %.1f %%", 100*d.Contradicted, 100*d.Stable)
	return nil
}
