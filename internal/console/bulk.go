// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/review"
)

// Bulk is the page that shows which pairs are chosen and what one verdict about them would do, before anything is
// decided.
type Bulk struct {
	Effect  *review.Effect // nil with a Problem
	Verdict entity.Verdict
	Filter  review.Filter
	Marks   []string // of the pairs that were chosen one by one, as PairMark has them; nil for a filter
	Author  string
	Problem string
}

// bulkShown is how many of the pairs are listed.
const bulkShown = 50

// Bulk writes the page.
func (c *Console) Bulk(w io.Writer, b Bulk) error {
	p := bulkPage{Verdict: string(b.Verdict), Same: b.Verdict == entity.VerdictSame,
		Signs: signs{b.Author, c.viewer.Name != ""}, Problem: b.Problem, Fields: hidden(&b.Filter)}
	if len(b.Marks) > 0 {
		p.Fields = map[string]string{"pair": strings.Join(b.Marks, " ")}
	}
	p.Back = "/review"
	if q := query(&b.Filter); len(q) > 0 {
		p.Back += "?" + q.Encode()
	}
	args := []string{"locus", "decision", "bulk", string(b.Verdict)}
	for _, name := range []string{"source", "kind", "attribute", "bits", "assigned"} {
		if value := p.Fields[name]; value != "" {
			args = append(args, "--"+name, value)
		}
	}
	if p.Command = command(args...); len(b.Marks) > 0 {
		p.Command = ""
	}
	if e := b.Effect; e != nil {
		p.Stamp, p.Pairs, p.More = e.Stamp, counted(int64(len(e.Pairs)), "pair"), e.More
		p.None = len(e.Pairs) == 0
		p.Does = does(e)
		for _, q := range e.Pairs[:min(len(e.Pairs), bulkShown)] {
			p.Lines = append(p.Lines, reviewLine{A: q.A.String(), B: q.B.String(), Names: named(q.Explanation),
				Weight: q.Explanation.Weight.String(), Merges: count(int64(q.Merges)), To: person(q.Assigned)})
		}
		if n := len(e.Pairs) - bulkShown; n > 0 {
			p.Rest = count(int64(n))
		}
		if e.Largest != nil {
			p.Largest, p.LargestID = counted(int64(e.Largest.Records), "record"), ""
			if len(e.Largest.Of) > 0 {
				p.LargestID = e.Largest.Of[0].String()
			}
		}
	}
	return c.render(w, "bulk", "", p)
}

type bulkPage struct {
	Verdict, Stamp, Pairs, Does string
	Same, None, More            bool
	Largest, LargestID          string
	Lines                       []reviewLine
	Rest                        string // how many pairs are not listed
	Fields                      map[string]string
	Signs                       signs
	Back, Problem, Command      string
}

// does returns the text of an effect.
func does(e *review.Effect) string {
	merged, split := entitiesText(e.Merged)+" would be merged", entitiesText(e.Split)+" would be split"
	switch {
	case e.Merged == 0 && e.Split == 0:
		return "No entity changes: the pairs stay separate."
	case e.Split == 0:
		return merged + "."
	case e.Merged == 0:
		return split + "."
	default:
		return merged + ", and " + split + "."
	}
}

func entitiesText(n int) string { return count(int64(n)) + pick(n, " entity", " entities") }

// hidden are the fields of a form that has a filter.
func hidden(f *review.Filter) map[string]string {
	fields := map[string]string{}
	for name, values := range query(f) {
		fields[name] = values[0]
	}
	return fields
}

// PairMark names a pair in a form, and ParseMark reads it.
func PairMark(a, b entity.Ref) string {
	return url.QueryEscape(a.String()) + "/" + url.QueryEscape(b.String())
}

// ParseMark returns the pair of a PairMark.
func ParseMark(mark string) (c review.Chosen, known bool) {
	x, y, _ := strings.Cut(mark, "/")
	a, errA := url.QueryUnescape(x)
	b, errB := url.QueryUnescape(y)
	return review.Chosen{A: a, B: b}, errA == nil && errB == nil && a != "" && b != ""
}

// person returns the name of an assignment, "" for none.
func person(a *review.Assignment) string {
	if a == nil {
		return ""
	}
	return a.To
}
