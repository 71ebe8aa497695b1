// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/review"
)

// Review is the content of the review page: the queue, and one pair in full.
type Review struct {
	// Pairs is the queue as far as it is counted; More reports that there are more pairs than that.
	Pairs []review.Pair
	More  bool
	// Order is the order of the pairs; "" for review.Best.
	Order review.Order
	// Filter selects the pairs to answer, and Skip names the pairs to leave for later.
	Filter review.Filter
	Skip   []string
	// Pair is the pair to decide; nil if there is none.
	Pair *Pair
	// Author is the last author, so that a name is typed only once.
	Author string
	// Answer is the decision that was just made, nil if there is none.
	Answer *decisions.Decided
	// Problem says why a requested pair is not shown.
	Problem string
}

// Pair is two records with everything needed to decide whether they are the same thing.
type Pair struct {
	WhyNot           *explain.Comparison
	A, B             *entity.Record
	EntityA, EntityB *entity.Entity // equal if the pair is decided
	Schema           *match.Schema
}

// reviewList is how many pairs the page lists.
const reviewList = 50

// Review writes the review page.
func (c *Console) Review(w io.Writer, r Review) error {
	left := r.left()
	p := reviewPage{
		Waiting: waiting(len(r.Pairs), r.More), None: len(left) == 0, Signs: signs{r.Author, c.viewer.Name != ""},
		Problem: r.Problem,
		First:   r.address(entity.Ref{}, entity.Ref{}, nil), Fields: append(fields(&r.Filter, r.Pairs), orderField(r.Order)),
		Command: command("locus", "review", "list"),
	}
	if r.filtered() || len(left) < len(r.Pairs) {
		p.Filtered, p.All = count(int64(len(left)))+" of them "+pick(len(left), "is", "are")+" selected", (&Review{Order: r.Order, Filter: review.Filter{Assigned: review.ToAll}}).address(entity.Ref{}, entity.Ref{}, r.Skip)
	}
	at := -1
	if r.Pair != nil {
		shown := newReviewed(r.Pair)
		p.Pair = &shown
		at = slices.IndexFunc(left, func(q review.Pair) bool { return q.A == r.Pair.A.Ref && q.B == r.Pair.B.Ref })
	}
	if p.Bulk = cmp.Or(r.Order, review.Best) == review.Best && len(left) > 0; p.Bulk {
		p.Chosen, p.Count = hidden(&r.Filter), count(int64(len(left)))
	}
	p.list(&r, left, at)
	p.ways(&r, left, at)
	if r.Answer != nil {
		line := newDecision(*r.Answer, r.address(r.Answer.RefA, r.Answer.RefB, r.Skip))
		line.Press = "u"
		p.Answer = &line
	}
	return c.render(w, "review", "", p)
}

// list fills the part of the queue that has the pair shown.
func (p *reviewPage) list(r *Review, left []review.Pair, at int) {
	from := max(0, at) / reviewList * reviewList
	to := min(len(left), from+reviewList)
	for i, q := range left[from:to] {
		p.Pairs = append(p.Pairs, reviewLine{
			A: q.A.String(), B: q.B.String(), Names: named(q.Explanation), Weight: q.Explanation.Weight.String(),
			Merges:  count(int64(q.Merges)),
			Teaches: strconv.FormatFloat(q.Teaches, 'f', 2, 64), Link: r.address(q.A, q.B, r.Skip), Shown: from+i == at,
			Skipped: r.skipped(q), Mark: PairMark(q.A, q.B), To: person(q.Assigned),
		})
	}
	if len(left) > reviewList {
		p.Part = fmt.Sprintf("%s to %s of %s", count(int64(from+1)), count(int64(to)), count(int64(len(left))))
	}
	if from > 0 {
		p.Earlier = r.address(left[from-1].A, left[from-1].B, r.Skip)
	}
	if to < len(left) {
		p.Later = r.address(left[to].A, left[to].B, r.Skip)
	}
}

// ways fills where the buttons lead: to the next pair that is not skipped, to it with the shown one skipped, and back
// to the one skipped last.
func (p *reviewPage) ways(r *Review, left []review.Pair, at int) {
	skip := slices.Clone(r.Skip)
	if at >= 0 {
		mark := skipMark(left[at].A, left[at].B)
		skip = append(slices.DeleteFunc(skip, func(m string) bool { return m == mark }), mark)
		skip = skip[max(0, len(skip)-maxSkipped):]
	}
	p.Next, p.Skip = r.address(entity.Ref{}, entity.Ref{}, r.Skip), r.address(entity.Ref{}, entity.Ref{}, skip)
	for i := 1; i < len(left); i++ {
		q := left[(at+i)%len(left)] // after the last one, the first
		if at >= 0 && !r.skipped(q) {
			p.Next, p.Skip = r.address(q.A, q.B, r.Skip), r.address(q.A, q.B, skip)
			break
		}
	}
	for i, mark := range slices.Backward(r.Skip) {
		n := slices.IndexFunc(left, func(q review.Pair) bool { return skipMark(q.A, q.B) == mark })
		if n < 0 || n == at {
			continue
		}
		if p.Left++; p.Return == "" {
			p.Return = r.address(left[n].A, left[n].B, slices.Delete(slices.Clone(r.Skip), i, i+1))
		}
	}
}

func pick(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

type reviewPage struct {
	Waiting        string
	Filtered, All  string // how many pairs are selected, and the URL of all; "" without a filter
	Fields         []filterField
	None           bool // no pair is selected
	Pairs          []reviewLine
	Part           string // which part of the queue is listed; "" for all of it
	Earlier, Later string // URLs of other parts
	Pair           *reviewed
	Next, Skip     string // URLs of the next pair
	Return         string // URL of the pair skipped last; "" if there is none
	Left           int    // how many skipped pairs remain
	First          string
	Signs          signs
	Answer         *decision
	Problem        string
	Command        string
	// Bulk reports that pairs can be marked; Chosen are the fields of the filter, Count is how many it selects.
	Bulk   bool
	Chosen map[string]string
	Count  string
}

// reviewLine is one pair of the list.
type reviewLine struct {
	A, B    string
	Names   [2]string
	Weight  string
	Teaches string // bits
	Merges  string // number of records of the merged entity
	Link    string
	Shown   bool
	// Skipped reports that it is left for later.
	Skipped bool
	Mark    string
	To      string // the person it is assigned to
}

// reviewed is the pair shown.
type reviewed struct {
	A, B      side
	Rows      []pairRow
	Fall      waterfall
	Decided   bool   // they are in one entity
	Together  string // number of records of the merged entity
	Same      string // the command that merges them
	Different string
}

// side is one record of a pair, and its entity.
type side struct {
	Ref, Source, Key string
	Seen             stamp
	Entity, Name     string
	Made             string
}

func newReviewed(p *Pair) reviewed {
	refA, refB := p.A.Ref.String(), p.B.Ref.String()
	r := reviewed{
		A: newSide(p.A, p.EntityA), B: newSide(p.B, p.EntityB),
		Rows: pairRows(p.Schema, p.A, p.B), Fall: newWaterfall(p.WhyNot.Explanation, p.WhyNot.Threshold),
		Decided:   p.EntityA.ID == p.EntityB.ID,
		Same:      command("locus", "review", "answer", refA, refB, "--same"),
		Different: command("locus", "review", "answer", refA, refB, "--different"),
	}
	r.Fall.A, r.Fall.B, r.Fall.RefA, r.Fall.RefB = 1, 2, refA, refB
	r.Fall.Command = command("locus", "entity", "why-not", refA, refB)
	records := len(p.EntityA.Members)
	if !r.Decided {
		records += len(p.EntityB.Members)
	}
	r.Together = counted(int64(records), "record")
	return r
}

func newSide(rec *entity.Record, e *entity.Entity) side {
	return side{
		Ref: rec.Ref.String(), Source: rec.Source, Key: rec.Key, Seen: stamp(rec.Observed),
		Entity: e.ID.String(), Name: nameOf(e.View), Made: counted(int64(len(e.Members)), "record"),
	}
}

// named returns the names of two records from their explanation, if it has them.
func named(e match.Explanation) (names [2]string) {
	for _, l := range e.Lines {
		if len(l.A) > 0 && len(l.B) > 0 {
			return [2]string{l.A[0], l.B[0]}
		}
	}
	return names
}

// waiting returns the number of pairs that are left, as text.
func waiting(left int, more bool) string {
	switch {
	case left == 0:
		return "nothing to review"
	case more:
		return count(int64(left)) + "+ pairs to review"
	default:
		return counted(int64(left), "pair") + " to review"
	}
}
