// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Result holds the figures of a report that do not depend on the machine.
type Result struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Protocol   string   `json:"protocol"`
	Note       string   `json:"tuned_on"`
	Records    int      `json:"records"`
	Positives  int      `json:"positives"`
	Precision  Figure   `json:"precision"`
	Recall     Figure   `json:"recall"`
	F1         Figure   `json:"f1"`
	AtRecall   float64  `json:"precision_at_recall_80,omitempty"`
	BCubed     *BCubed  `json:"b_cubed,omitempty"`
	Blocking   float64  `json:"blocking_recall"`
	Candidates float64  `json:"candidates_per_record"`
	Learned    *Learned `json:"with_learned,omitempty"`
	Judged     *Judged  `json:"with_judge,omitempty"`

	Answered []Answered `json:"with_answers,omitempty"`
}

// Results holds the results of all sets.
type Results struct {
	Sets         []Result      `json:"sets"`
	Survivorship *Survivorship `json:"survivorship,omitempty"`
}

// ResultsOf extracts the results from reports.
func ResultsOf(reports []*Report, survivorship *Survivorship) *Results {
	results := &Results{Survivorship: survivorship}
	for _, r := range reports {
		results.Sets = append(results.Sets, Result{
			r.Name, r.Kind, r.Protocol, r.Note, r.Records, r.Positives, r.Precision, r.Recall, r.F1, r.AtRecall, r.BCubed, r.Blocking, r.Candidates, r.WithLearned, r.WithJudge, r.WithAnswers,
		})
	}
	return results
}

// Write writes the results as JSON.
func (r *Results) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// standard is the goal for the F1 of a set, and published figures.
type standard struct {
	goal      float64
	published string
}

// text returns the goal with two digits, or three if it has them.
func (s standard) text() string {
	if text := strconv.FormatFloat(s.goal, 'f', -1, 64); len(text) > 4 {
		return text
	}
	return fmt.Sprintf("%.2f", s.goal)
}

// reached describes whether a value reaches the goal, "" without a goal.
func (s standard) reached(value float64) string {
	switch {
	case s.goal == 0:
		return ""
	case value >= s.goal:
		return s.text() + ", reached"
	}
	return s.text() + ", **missed**"
}

// standards by set. The published figures are quoted, not measured here.
var standards = map[string]standard{
	"fodors-zagats tables":      {.99, "ZeroER 1.00 (its paper, from memory)"},
	"fodors-zagats one-to-one":  {.99, "ZeroER 1.00 (its paper, from memory)"},
	"fodors-zagats split, test": {1, "1.00 supervised; 94.5 by transfer; 87.2 by a large language model without examples"},
	"overture train":            {.92, ""},
	"overture validation":       {.92, "on the closed test rows: MiniLM, fine-tuned, .870 (.843 to .895); ELECTRA .855; DeBERTa .837"},
	"chicago childcare":         {.93, "none"},
	"febrl 1":                   {.995, "none"},
	"febrl 2":                   {.995, "none"},
	"abt-buy":                   {.85, ""},
	"dblp-acm":                  {.985, ""},
	"historical 50k":            {.88, ""},
}

// automatic is the target for the precision of automatic merges at a recall of .80.
const automatic = 0.97

const pageHead = `# Quality

How well Locus tells things apart, on public sets that people labelled, with one fixed table of bits and no
training, with weights learned without labels, with weights learned from answers, and with a judge. This page is printed by ` + "`make eval`" + `; a test holds it against the results in
[eval/results.json](../eval/results.json), and ` + "`make eval`" + ` fails where a set loses more than half a point of F1
against [eval/baseline.json](../eval/baseline.json).

`

const pageTail = `
**Protocols.** *pairs*: each given pair is compared and is one thing from 5 bits on. *tables*: the pairs across two
tables that share a blocking key are compared. *clusters*: one table is resolved as a resolver does it; F1 is over the pairs of
rows that lie in one cluster, B-cubed is the mean of all rows. *labelled*: the same, judged by labelled pairs alone.
Intervals are 95 %, by bootstrap over entities (over pairs, where the pairs are given): 2,000 draws, a fixed seed.

**What never enters.** Ids of any kind, gold, classes, the names of sources, confidence, the order of rows: the loaders refuse
such columns, and a test shuffles them and expects the same answer. How rare a word is comes from the set itself, without labels.
The social security number of Febrl is an id and is left out too.

**What the figures are not.** *Tuned on* says what people saw of a set while bits and rules were made; where errors were read the
figure is no promise for other data. Febrl and fake 1000 are made by programs, which replace names more often than people do.
Published figures are quoted from their sources; where rows or protocols differ they are no comparison.
`

// learned returns the section of the figures with learned weights, "" without such figures.
func (r *Results) learned() string {
	lines := ""
	for _, set := range r.Sets {
		l := set.Learned
		if l == nil {
			continue
		}
		lines += fmt.Sprintf("| %s | %.3f | **%.3f** (%.3f to %.3f) | %.3f | %.3f | %s | %s |\n",
			set.Name, set.F1.Value, l.F1.Value, l.F1.Low, l.F1.High, l.Precision.Value, l.Recall.Value, standards[set.Name].reached(l.F1.Value), l.Outcome)
	}
	if lines == "" {
		return ""
	}
	return "\n## Learned without labels\n\nThe same sets with the prior and the weights that `locus kind learn` fits to each, and `locus dedupe` uses; neither sees a label. Where it refuses\n" +
		"its draft, the weights stay as they are. [How it learns](concepts/kinds.md#weights-from-your-own-data).\n\n" +
		"| set | F1 built in | F1 (95 % interval) | precision | recall | goal | draft |\n|---|---|---|---|---|---|---|\n" + lines
}

// answered returns the section of the figures with weights learned from answers, "" without such figures.
func (r *Results) answered() string {
	lines := ""
	for _, set := range r.Sets {
		for _, l := range set.Answered {
			lines += fmt.Sprintf("| %s | %d of %d | %.3f | **%.3f** (%.3f to %.3f) | %.3f | %.3f | %s | **%.3f** (%.3f to %.3f) | %s |\n",
				set.Name, l.Asked, l.Wanted, set.F1.Value, l.F1.Value, l.F1.Low, l.F1.High, l.Precision.Value, l.Recall.Value, l.Outcome,
				l.Erring.F1.Value, l.Erring.F1.Low, l.Erring.F1.High, l.Erring.Outcome)
		}
	}
	if lines == "" {
		return ""
	}
	return "\n## Learned from answers\n\nThe same sets with the weights that `locus kind learn --decisions` fits to answers about the pairs that teach most\n" +
		"(`--order teaches`), once if every answer is right, and once if one of ten is wrong, as people err. Only pairs within one half of the records are\n" +
		"asked about, so three quarters of the pairs that are measured have a record that no answer names. [How it learns](concepts/kinds.md#weights-from-decisions).\n\n" +
		"| set | answers | F1 built in | F1, all right (95 % interval) | precision | recall | draft | F1, one of ten wrong (95 % interval) | draft |\n" +
		"|---|---|---|---|---|---|---|---|---|\n" + lines
}

// judged returns the section of the figures with a judge, "" without such figures.
func (r *Results) judged() string {
	lines := ""
	for _, set := range r.Sets {
		j := set.Judged
		if j == nil {
			continue
		}
		at := ""
		if j.AtRecall > 0 {
			at = fmt.Sprintf("%.3f, %.3f before", j.AtRecall, set.AtRecall)
		}
		lines += fmt.Sprintf("| %s | %d, %.1f %% | %.3f | **%.3f** (%.3f to %.3f) | %.3f | %.3f | %s | %s |\n", set.Name, j.Questions, 100*float64(j.Questions)/float64(set.Records),
			j.Before.Value, j.F1.Value, j.F1.Low, j.F1.High, j.Precision.Value, j.Recall.Value, at, standards[set.Name].reached(j.F1.Value))
	}
	if lines == "" {
		return ""
	}
	return "\n## With a judge\n\nThe same sets after a [judge](review.md#a-judge-of-your-own) that is right nine times of ten was asked all that is unsure, as `locus judge` does: the\n" +
		"possible matches between two entities, from 0 bits, and the weakest pair that joins an entity, below 9 bits, until no question is left. Answers are decisions,\n" +
		"and the records are resolved with them, by the built-in weights. Which answers are wrong depends on a hash of the pair. A wrong answer overrules the weights:\n" +
		"such a judge does harm where they are right more often than nine times of ten. Given pairs have an order, too: an answer is evidence of 3.17 bits beside the\n" +
		"weight, log2(9), for or against. The precision where 80 % of the pairs are found follows it. Most that is wrong there has more than 9 bits, and is not asked.\n\n" +
		"| set | questions, of the records | F1 before | F1 with the judge (95 % interval) | precision | recall | precision at 80 % found | goal of F1 |\n|---|---|---|---|---|---|---|---|\n" + lines
}

// best returns a figure: of the built-in weights, of weights learned without labels, or with a judge. It is the first
// that reaches the goal, or else the figure of the built-in weights.
func (r *Result) best(goal float64) (figure string, reached bool) {
	figure = fmt.Sprintf("%.4f", r.F1.Value)
	switch {
	case r.F1.Value >= goal:
		return figure, true
	case r.Learned != nil && r.Learned.F1.Value >= goal:
		return fmt.Sprintf("%s, %.4f with weights learned without labels", figure, r.Learned.F1.Value), true
	case r.Judged != nil && r.Judged.F1.Value >= goal:
		return fmt.Sprintf("%s, %.4f with a judge that is right nine times of ten", figure, r.Judged.F1.Value), true
	}
	return figure, false
}

// atRecall returns the precision where 80 % of the pairs are found, and that with a judge if the first misses the goal.
func (r *Result) atRecall() (figure string, reached bool) {
	figure = fmt.Sprintf("%.3f", r.AtRecall)
	if r.AtRecall >= automatic || r.Judged == nil {
		return figure, r.AtRecall >= automatic
	}
	return fmt.Sprintf("%s, %.3f with a judge that is right nine times of ten", figure, r.Judged.AtRecall), r.Judged.AtRecall >= automatic
}

// WritePage writes the page of the documentation: every set with its goal and published figures.
func (r *Results) WritePage(w io.Writer) error {
	reached, missed := "", ""
	table := "| set | kind, protocol | F1 (95 % interval) | precision | recall | B-cubed F1 | goal | published by others | tuned on |\n|---|---|---|---|---|---|---|---|---|\n"
	for _, r := range r.Sets {
		s := standards[r.Name]
		bCubed := ""
		if s.goal > 0 {
			if figure, ok := r.best(s.goal); ok {
				reached += fmt.Sprintf("- %s: %s, the goal is %s\n", r.Name, figure, s.text())
			} else {
				missed += fmt.Sprintf("- %s: %s, the goal is %s\n", r.Name, figure, s.text())
			}
		}
		if r.BCubed != nil {
			bCubed = fmt.Sprintf("%.3f", r.BCubed.F1.Value)
		}
		table += fmt.Sprintf("| %s | %s, %s | **%.3f** (%.3f to %.3f) | %.3f | %.3f | %s | %s | %s | %s |\n", r.Name, r.Kind, r.Protocol,
			r.F1.Value, r.F1.Low, r.F1.High, r.Precision.Value, r.Recall.Value, bCubed, s.reached(r.F1.Value), s.published, r.Note)
	}
	for _, set := range r.Sets {
		if set.Name != "overture train" && set.Name != "overture validation" {
			continue
		}
		figure, ok := set.atRecall()
		line := fmt.Sprintf("- %s, precision where 80 %% of the pairs are found: %s, the goal is %.2f\n", set.Name, figure, automatic)
		if ok {
			reached += line
		} else {
			missed += line
		}
	}
	learned := r.learned() + r.answered() + r.judged()
	survivorship := ""
	if s := r.Survivorship; s != nil {
		survivorship = fmt.Sprintf("\n## Survivorship\n\nWhich of two sides' values is right, over %d pairs of Overture: the share of right answers.\n\n", s.Rows) +
			"| attribute | right (95 % interval) | the commonest answer alone | goal |\n|---|---|---|---|\n"
		for _, a := range s.Attributes {
			word := "**missed**"
			if a.Accuracy.Value >= a.Goal {
				word = "reached"
			}
			survivorship += fmt.Sprintf("| %s | **%.3f** (%.3f to %.3f) | %.3f | %.3f, %s |\n", a.Attribute, a.Accuracy.Value, a.Accuracy.Low, a.Accuracy.High, a.Majority, a.Goal, word)
		}
	}
	_, err := fmt.Fprint(w, pageHead, table, learned, survivorship, "\n## Goals reached\n\n", reached, "\n## Goals missed\n\n", missed, pageTail)
	return err
}
