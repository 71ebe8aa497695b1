// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/locus-db/locus/match"
)

// Report holds the measurements on one set.
type Report struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Protocol string `json:"protocol"` // pairs, tables, clusters or labelled
	Note     string `json:"note,omitempty"`
	// Learned is the outcome of learning weights from the set, "taken" or the reasons of a refusal; "" if none were
	// learned.
	Learned string `json:"learned,omitempty"`
	// Asked is the number of answers that the weights were learned from, 0 if from none.
	Asked int `json:"asked,omitempty"`
	// WithLearned are the figures with learned weights, nil if there are none.
	WithLearned *Learned `json:"with_learned,omitempty"`
	// WithJudge are the figures with a judge, nil if there are none.
	WithJudge *Judged `json:"with_judge,omitempty"`
	// WithAnswers are the figures with weights learned from answers.
	WithAnswers  []Answered `json:"with_answers,omitempty"`
	Records      int        `json:"records"`   // of both sides
	Positives    int        `json:"positives"` // pairs that are the same thing according to the truth
	Compared     int        `json:"compared"`  // compared pairs
	Counts       Counts     `json:"counts"`
	Precision    Figure     `json:"precision"`
	Recall       Figure     `json:"recall"`
	F1           Figure     `json:"f1"`
	BCubed       *BCubed    `json:"b_cubed,omitempty"` // of clusters
	Average      float64    `json:"average_precision,omitempty"`
	AtRecall     float64    `json:"precision_at_recall_80,omitempty"` // best precision at a recall of .80 or more
	Blocking     float64    `json:"blocking_recall"`                  // share of the positives that share a blocking key
	Candidates   float64    `json:"candidates_per_record"`            // compared pairs per record
	BlockingKeys float64    `json:"blocking_keys_per_record"`
	Outcomes     struct {
		Same            int `json:"same"`
		PossibleMatches int `json:"possible"`
		Related         int `json:"related"` // part of each other, or two things in one place
		Different       int `json:"different"`
	} `json:"outcomes"`
	Clusters int     `json:"clusters,omitempty"`
	Largest  int     `json:"largest_cluster,omitempty"`
	Curve    []Point `json:"curve,omitempty"`
	Errors   []Error `json:"errors"` // the worst, at most 20
	// Normalise and Compare are mean times per record and per pair.
	Normalise time.Duration `json:"normalise_ns"`
	Compare   time.Duration `json:"compare_ns"`
}

// Learned are figures with weights that were learned from a set, without its labels.
type Learned struct {
	Outcome   string `json:"outcome"` // as Report.Learned
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
	F1        Figure `json:"f1"`
}

// Error is a wrongly decided pair.
type Error struct {
	Kind        string            `json:"kind"` // false positive or false negative
	Met         bool              `json:"met"`  // the two share a blocking key
	Explanation match.Explanation `json:"explanation"`
}

// WriteText writes the report for humans.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "%s (%s)\n", r.Name, r.Protocol)
	if r.Note != "" {
		fmt.Fprintf(t, "%s\n", r.Note)
	}
	for _, f := range []struct {
		name string
		Figure
	}{{"F1", r.F1}, {"precision", r.Precision}, {"recall", r.Recall}} {
		fmt.Fprintf(t, "  %s\t%.4f\t95 %% interval %.4f to %.4f\n", f.name, f.Value, f.Low, f.High)
	}
	if b := r.BCubed; b != nil {
		fmt.Fprintf(t, "  B-cubed F1\t%.4f\t95 %% interval %.4f to %.4f; precision %.4f, recall %.4f\n", b.F1.Value, b.F1.Low,
			b.F1.High, b.Precision.Value, b.Recall.Value)
	}
	if r.Average > 0 {
		fmt.Fprintf(t, "  average precision\t%.4f\tprecision %.4f at a recall of .80\n", r.Average, r.AtRecall)
	}
	if r.Learned != "" {
		fmt.Fprintf(t, "  learned weights\t%s\n", r.Learned)
	}
	if j := r.WithJudge; j != nil {
		fmt.Fprintf(t, "  F1 with a judge\t%.4f\t95 %% interval %.4f to %.4f; %.4f without, %d questions\n", j.F1.Value,
			j.F1.Low, j.F1.High, j.Before.Value, j.Questions)
	}
	fmt.Fprintf(t, "  pairs\t%d true, %d found, %d wrong, %d missed\n", r.Positives, r.Counts.TruePositive,
		r.Counts.FalsePositive, r.Counts.FalseNegative)
	fmt.Fprintf(t, "  outcomes\t%d same, %d possible, %d related, %d different\n", r.Outcomes.Same,
		r.Outcomes.PossibleMatches, r.Outcomes.Related, r.Outcomes.Different)
	fmt.Fprintf(t, "  blocking recall\t%.4f\t%.1f candidates and %.1f blocking keys a record, %d records\n", r.Blocking,
		r.Candidates, r.BlockingKeys, r.Records)
	if r.Clusters > 0 {
		fmt.Fprintf(t, "  clusters\t%d\tlargest %d\n", r.Clusters, r.Largest)
	}
	fmt.Fprintf(t, "  time\t%v a record to normalise, %v a pair to compare\n", r.Normalise, r.Compare)
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Curve) > 0 {
		fmt.Fprintln(w, "\n  threshold  precision  recall  F1")
		for _, p := range r.Curve {
			fmt.Fprintf(w, "  %9s  %9.4f  %6.4f  %6.4f\n", p.Threshold, p.Precision, p.Recall, p.F1)
		}
	}
	for i := range r.Errors {
		if err := r.Errors[i].writeText(w); err != nil {
			return err
		}
	}
	return nil
}

// writeText writes the waterfall of one error.
func (e *Error) writeText(w io.Writer) error {
	fmt.Fprintf(w, "\n  %s, %s bits", e.Kind, e.Explanation.Weight)
	if !e.Met {
		fmt.Fprint(w, ", no common blocking key")
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, l := range e.Explanation.Lines {
		fmt.Fprintf(t, "    %s\t%s\t%s\t%s\t%s\n", l.Weight, l.Attribute, l.Level, oneLine(l.A), oneLine(l.B))
	}
	return t.Flush()
}

func oneLine(values []string) string {
	const limit = 60
	s := strings.Join(strings.Fields(strings.Join(values, " | ")), " ")
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit-1]) + "…"
	}
	return s
}
