// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/locus-db/locus/match"
)

// ErrNoData means that the folder of the labelled sets is missing.
var ErrNoData = errors.New("eval: no labelled sets")

// AllOptions configures All.
type AllOptions struct {
	Data     string // folder of the labelled sets
	Baseline string // file of frozen figures; empty: no comparison
	// Terms are the term frequencies of names. Defaults to the frequencies in each set, see match.TermsOf. A resolver
	// without data uses match.DefaultTermFrequencies().
	Terms *match.TermFrequencies
	// Judge also measures the entities after a judge that is right nine times of ten has decided the possible matches.
	Judge bool
	// Learn measures the sets once more with weights learned from each set without its labels. Given pairs are no data
	// to learn from.
	Learn bool
	// Answers measures the sets twice more for each number of answers, with weights learned from so many that are
	// right, and from answers of which one in ten is wrong.
	Answers []int
	// Small leaves out sets of more than 10,000 records.
	Small bool
}

// All measures every place set of the folder with its frozen columns and protocol. If a set is worse than the baseline,
// the reports come with an error that wraps ErrWorse and names the sets.
func All(ctx context.Context, o AllOptions) ([]*Report, error) {
	if _, err := os.Stat(o.Data); err != nil {
		return nil, fmt.Errorf("%w: look for %q: %w: name the folder that holds fodors_zagats, overture_pairs and chicago_childcare", ErrNoData, o.Data, err)
	}
	var reports []*Report
	for _, s := range sets {
		if o.Small && s.large {
			continue
		}
		r, err := s.run(ctx, o.Data, s.name, Configuration{Terms: o.Terms, Judge: o.Judge})
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", s.name, err)
		}
		r.Note = s.note
		if o.Learn && r.Protocol != "pairs" {
			l, err := s.run(ctx, o.Data, s.name, Configuration{Terms: o.Terms, Learn: true})
			if err != nil {
				return nil, fmt.Errorf("learn from %s: %w", s.name, err)
			}
			r.WithLearned = &Learned{l.Learned, l.Precision, l.Recall, l.F1}
		}
		for _, n := range o.Answers {
			if r.Protocol == "pairs" || r.Protocol == "labelled" {
				break
			}
			answered := Answered{Wanted: n}
			for erring, to := range map[bool]*Learned{false: &answered.Learned, true: &answered.Erring} {
				l, err := s.run(ctx, o.Data, s.name, Configuration{Terms: o.Terms, Answers: n, Erring: erring})
				if err != nil {
					return nil, fmt.Errorf("learn from answers about %s: %w", s.name, err)
				}
				answered.Asked, *to = l.Asked, Learned{l.Learned, l.Precision, l.Recall, l.F1}
			}
			r.WithAnswers = append(r.WithAnswers, answered)
		}
		reports = append(reports, r)
	}
	if o.Baseline == "" {
		return reports, nil
	}
	b, err := ReadBaseline(o.Baseline)
	if err != nil {
		return reports, err
	}
	for _, s := range sets {
		if o.Small && s.large {
			delete(b, s.name)
		}
	}
	return reports, b.Compare(reports)
}

// WriteMarkdown writes one table with a line per report.
func WriteMarkdown(w io.Writer, reports []*Report) error {
	if _, err := fmt.Fprint(w, "| set | protocol | F1 (95 % interval) | precision | recall | blocking recall | candidates a record | tuned on |\n",
		"|---|---|---|---|---|---|---|---|\n"); err != nil {
		return err
	}
	for _, r := range reports {
		if _, err := fmt.Fprintf(w, "| %s | %s | **%.3f** (%.3f to %.3f) | %.3f | %.3f | %.3f | %.1f | %s |\n", r.Name, r.Protocol,
			r.F1.Value, r.F1.Low, r.F1.High, r.Precision.Value, r.Recall.Value, r.Blocking, r.Candidates, r.Note); err != nil {
			return err
		}
	}
	return nil
}
