// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

// previewRefused prints the rows of the sample that would be refused, grouped by reason.
func (a *app) previewRefused(p *bulk.Plan, refused []*bulk.RowError) {
	rows := map[string]int{}
	why := func(r *bulk.RowError) string { return r.Pointer + " " + r.Reason }
	for _, r := range refused {
		rows[why(r)]++
	}
	printed := 0
	for _, r := range refused {
		n := rows[why(r)]
		if n == 0 {
			continue
		}
		if printed++; printed > 10 {
			fmt.Fprintf(a.stdout, "refused for other reasons: see --preview --json\n")
			return
		}
		delete(rows, why(r))
		others := ""
		if n > 1 {
			others = fmt.Sprintf(" (and %s)", counted(int64(n-1), "other row", "other rows"))
		}
		fmt.Fprintf(a.stdout, "refused: %s%s\n", term.Escape(r.In(p.Format)), others)
	}
}

// previewQuestions prints the questions about a file. Questions about columns without a meaning are printed as one,
// because the table names them.
func (a *app) previewQuestions(p *bulk.Plan) {
	var columns, hints []string
	for _, q := range p.Questions {
		if q.Column == "" {
			fmt.Fprintf(a.stdout, "question: %s: %s\n", term.Escape(q.Text), term.Escape(q.Hint))
			continue
		}
		columns, hints = append(columns, q.Text), append(hints, q.Hint)
	}
	if n := len(columns) - 1; n > 0 {
		columns[0] = counted(int64(n+1), "column means", "columns mean") + " nothing, see the table"
		hints[0] = "--set ATTRIBUTE=COLUMN gives one a meaning, or --ignore-unknown leaves them out"
	}
	if len(columns) > 0 {
		fmt.Fprintf(a.stdout, "question: %s: %s\n", term.Escape(columns[0]), term.Escape(hints[0]))
	}
}

// previewRows is how many rows of a file its preview shows.
const previewRows = 3

// previews prints plans, three rows of each as records, and the rows that would be refused.
func (a *app) previews(plans []*bulk.Plan, kinds []*match.Schema) error {
	for _, p := range plans {
		refused, taken := slices.Clone(p.Refused), []*bulk.Row{}
		im := &importer{app: a, kinds: kinds, flags: &ingesting{reading: reading{kind: p.Kind}}, now: nil}
		for _, row := range p.Sample {
			if reject := im.checkAt(row, endOfTime); reject != nil {
				refused = append(refused, reject)
			} else if len(taken) < previewRows {
				taken = append(taken, row)
			}
		}
		slices.SortStableFunc(refused, func(x, y *bulk.RowError) int { return cmp.Compare(x.Line, y.Line) })
		if a.json {
			if err := a.previewJSON(p, taken, refused); err != nil {
				return err
			}
			continue
		}
		if err := a.showPlan(a.stdout, p); err != nil {
			return err
		}
		if p.IsEmpty() {
			fmt.Fprintf(a.stdout, "%s has no rows\n", term.Escape(p.Name))
		} else if len(p.Sample)+len(p.Refused) == 0 {
			fmt.Fprintf(a.stdout, "%s has a first row that is too long to be recognised\n", term.Escape(p.Name))
		}
		for _, row := range taken {
			fmt.Fprintf(a.stdout, "%s %d: %s\n", p.Format.Unit(), row.Line, term.Escape(string(row.Flat())))
		}
		a.previewRefused(p, refused)
		a.sayFooter(a.stdout, p.Name, p.Format, p.Footer)
		a.sayTotal(a.stdout, p)
		a.previewQuestions(p)
		fmt.Fprintln(a.stdout, term.Escape(command(p)))
	}
	return nil
}

// totalLine returns the line number of the row that looks like a total, 0 if there is none.
func totalLine(p *bulk.Plan) int64 {
	if row := p.Total(); row != nil {
		return row.Line
	}
	return 0
}

func (a *app) previewJSON(p *bulk.Plan, taken []*bulk.Row, refused []*bulk.RowError) error {
	type column struct {
		Name    string   `json:"name"`
		To      []string `json:"to"`
		Guessed bool     `json:"guessed"`
		Reason  string   `json:"reason,omitempty"`
		Values  []string `json:"values"`
	}
	columns := []column{}
	for _, c := range p.Columns {
		columns = append(columns, column{c.Name, append([]string{}, c.To...), c.Guessed, c.Reason,
			append([]string{}, c.Values...)})
	}
	rows, questions, rejects := []json.RawMessage{}, []string{}, []bulk.Reject{}
	for _, row := range taken {
		rows = append(rows, row.Flat())
	}
	for _, q := range p.Questions {
		questions = append(questions, q.Text)
	}
	for _, r := range refused {
		rejects = append(rejects, r.Reject())
	}
	return a.printJSON(map[string]any{
		"type": "preview", "file": p.Name, "format": p.Layout(), "source": p.Source, "kind": p.Kind, "guessed": p.Guessed(),
		"columns": columns, "rows": rows, "total": totalLine(p), "footer": len(p.Footer), "questions": questions, "refused": rejects,
		"command": command(p),
	})
}
