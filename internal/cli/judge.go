// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/judge"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/review"
)

// judging holds the flags of locus judge.
type judging struct {
	name, model, modelURL, keyFile, order string
	withhold                              []string
	budget                                int
	wait                                  time.Duration
	dryRun                                bool
	program                               []string
}

func (a *app) judgeCommand() *cobra.Command {
	var f judging
	c := &cobra.Command{
		Use:   "judge [PROGRAM [ARG...]]",
		Short: "Let a program or a language model of your own decide about pairs of the review queue",
		Long: "Asks about the pairs of the review queue, the most informative first, until --budget questions are asked. The judge gets\n" +
			"the attributes of both records, without sources and keys, and answers same, different or unsure, with a reason. An\n" +
			"answer becomes a decision by agent:NAME; locus decision withdraw --author agent:NAME withdraws all of them. Answers of a\n" +
			"judge do not count for locus quality and locus kind learn, and people are still asked about these pairs by locus review\n" +
			"--order chance.\n\n" +
			"PROGRAM reads a question as a line of JSON, {\"id\":1,\"kind\":\"place\",\"a\":{...},\"b\":{...}}, and writes a line\n" +
			"{\"id\":1,\"answer\":\"same\",\"reason\":\"...\"}. --model-url asks a server with the chat completions API of OpenAI instead.\n" +
			"Attributes of --withhold, and those that the token may not see, are not sent.",
		Example: "  locus judge ./judge.py --budget 50\n" +
			"  locus judge --model-url https://models.example/v1 --model small --model-key-file model.key --withhold phones",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			f.program = args
			if err := f.check(); err != nil {
				return err
			}
			return a.connectedTo(unless(f.dryRun, writes), func(c *cobra.Command, cl *client, _ []string) error {
				return a.judge(c, cl, &f)
			})(c, args)
		},
	}
	c.Flags().StringVar(&f.name, "name", "judge", "name of the judge in authors; with a token it is the name of the token")
	c.Flags().StringVar(&f.modelURL, "model-url", "", "URL of a language model, such as https://models.example/v1")
	c.Flags().StringVar(&f.model, "model", "", "name of the language model at that URL")
	c.Flags().StringVar(&f.keyFile, "model-key-file", "", "file with the API key for that URL")
	c.Flags().StringSliceVar(&f.withhold, "withhold", nil, "attributes that are not sent to the judge")
	c.Flags().IntVar(&f.budget, "budget", 100, "number of questions, at most")
	c.Flags().DurationVar(&f.wait, "wait", time.Minute, "how long an answer may take")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the questions without asking or deciding")
	c.Flags().StringVar(&f.order, "order", "teaches", "order of the pairs: teaches, best or chance")
	return a.connection(c)
}

func (f *judging) check() error {
	switch {
	case len(f.program) > 0 && f.modelURL != "":
		return usage("give one of them", "locus judge: a program and --model-url are two judges")
	case len(f.program) == 0 && f.modelURL == "":
		return usage("locus judge ./judge.py, or --model-url URL --model NAME", "locus judge: the judge is missing")
	case f.modelURL != "" && f.model == "":
		return usage("--model NAME", "locus judge: --model is missing")
	case f.modelURL == "" && (f.model != "" || f.keyFile != ""):
		return usage("--model-url URL", "locus judge: --model-url is missing")
	case f.budget < 1:
		return usage("--budget 100", "--budget %d: want at least 1", f.budget)
	case f.wait <= 0:
		return usage("--wait 1m", "--wait %v: want more than 0", f.wait)
	}
	return nil
}

// open starts the judge.
func (f *judging) open(ctx context.Context, a *app) (judge.Judge, error) {
	if f.modelURL == "" {
		return judge.Start(ctx, f.program[0], f.program[1:], f.wait, a.stderr)
	}
	var key []byte
	if f.keyFile != "" {
		var err error
		if key, err = os.ReadFile(f.keyFile); err != nil {
			return nil, fmt.Errorf("read the key of the model: %w", err)
		}
	}
	return judge.Connect(f.modelURL, f.model, strings.TrimSpace(string(key)), f.wait)
}

// hearing is a run of locus judge.
type hearing struct {
	*app
	c      *cobra.Command
	client *client
	flags  *judging
	judge  judge.Judge // nil without asking
	author string

	met                        map[[2]entity.Ref]bool
	said                       map[judge.Verdict]int
	questions, unread, decided int
}

// judge asks about pairs until the budget is spent or no pair is left.
func (a *app) judge(c *cobra.Command, cl *client, f *judging) (err error) {
	h := &hearing{app: a, c: c, client: cl, flags: f, met: map[[2]entity.Ref]bool{}, said: map[judge.Verdict]int{}}
	if h.author, err = f.author(c, cl); err != nil {
		return err
	}
	if !f.dryRun {
		if h.judge, err = f.open(c.Context(), a); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, h.judge.Close()) }()
		defer h.summary()
	}
	for cursor, before := "", 0; h.questions < f.budget; {
		q := orderQuery(f.order)
		q.Set("limit", fmt.Sprint(min(20, f.budget-h.questions)))
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		var page httpapi.ReviewList
		if _, err := cl.get(c.Context(), "/v1/review", q, &page); err != nil {
			return err
		}
		for i := range page.Pairs {
			if err := h.hear(&page.Pairs[i]); err != nil {
				return err
			}
		}
		if cursor = page.Cursor; cursor == "" {
			if h.decided == before {
				return nil
			}
			before = h.decided // answers lead to other questions
		}
	}
	return nil
}

func (h *hearing) summary() {
	h.say("asked about %s: %d same, %d different, %d unsure, %d invalid answers; locus decision withdraw --author %s withdraws them",
		plural(h.questions, "pair"), h.said[judge.Same], h.said[judge.Different], h.said[judge.Unsure], h.unread, term.Escape(h.author))
}

// hear asks about a pair, unless it was asked about before, and decides as the judge answers.
func (h *hearing) hear(p *review.Pair) error {
	if h.met[[2]entity.Ref{p.A, p.B}] {
		return nil
	}
	h.met[[2]entity.Ref{p.A, p.B}] = true
	question, err := h.flags.question(h.c, h.client, h.questions+1, p.Kind, p.A, p.B)
	switch {
	case err != nil:
		return err
	case len(question.A) == 0 || len(question.B) == 0: // deleted, or nothing is left that may be sent
		return nil
	}
	h.questions++
	if h.judge == nil {
		return h.printJSON(question)
	}
	answer, err := h.judge.Ask(h.c.Context(), question)
	switch {
	case errors.Is(err, judge.ErrAnswer):
		h.unread++
		h.say("%s and %s: %s", term.Escape(p.A.String()), term.Escape(p.B.String()), term.Escape(err.Error()))
		return nil
	case err != nil:
		return &failure{Code: "judge_failed", Message: err.Error(), Exit: exitFailed,
			Hint: "earlier answers are decided; repeat the command for the rest"}
	}
	h.said[answer.Verdict]++
	if answer.Verdict == judge.Unsure {
		return nil
	}
	d := verdictOn(p.A.String(), p.B.String(), answer.Verdict == judge.Same)
	d.Author, d.Reason = h.author, answer.Reason
	if err := h.decide(h.c, h.client, d); err != nil {
		return err
	}
	h.decided++
	return nil
}

// author returns the author of the decisions: agent:, and the name of the token.
func (f *judging) author(c *cobra.Command, cl *client) (string, error) {
	var who httpapi.Whoami
	if _, err := cl.get(c.Context(), "/v1/whoami", nil, &who); err != nil {
		return "", err
	}
	switch {
	case who.ID == "":
		return entity.AgentPrefix + f.name, nil
	case who.Author != "":
		return entity.AgentPrefix + who.Author, nil
	}
	return entity.AgentPrefix + who.Name, nil
}

// question reads the facts about a pair that the judge gets: the attributes that the token may see, without those
// withheld.
func (f *judging) question(c *cobra.Command, cl *client, id int, kind string, a, b entity.Ref) (judge.Question, error) {
	q := judge.Question{ID: id, Kind: kind}
	for ref, to := range map[entity.Ref]*entity.Attributes{a: &q.A, b: &q.B} {
		var rec httpapi.Record
		if _, err := cl.get(c.Context(), httpapi.RecordPath(ref.Source, ref.Key), nil, &rec); err != nil {
			if _, deleted := gone(err); deleted {
				continue
			}
			return q, err
		}
		*to = entity.Attributes{}
		for name, values := range rec.Attributes {
			if !slices.Contains(f.withhold, name) {
				(*to)[name] = values
			}
		}
	}
	return q, nil
}
