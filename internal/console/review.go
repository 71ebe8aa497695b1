// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"io"
	"net/url"
	"slices"
	"strconv"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/match"
)

// Review is the content of the review page: the queue, and one pair in full.
type Review struct {
	// Pairs are the first pairs of the queue.
	Pairs []decisions.ReviewPair
	// Order is that of the queue.
	Order decisions.Order
	// Left is how many pairs there are; More reports that there are more than that.
	Left int
	More bool
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

// Review writes the review page.
func (c *Console) Review(w io.Writer, r Review) error {
	p := reviewPage{
		Waiting: waiting(r.Left, r.More), None: r.Left == 0, Signs: signs{r.Author, c.viewer.Name != ""}, Problem: r.Problem,
		First: reviewAddress(r.Order, entity.Ref{}, entity.Ref{}), Command: command("locus", "review", "list"),
	}
	at := -1
	if r.Pair != nil {
		shown := newReviewed(r.Pair)
		p.Pair = &shown
		at = slices.IndexFunc(r.Pairs, func(q decisions.ReviewPair) bool { return q.A == r.Pair.A.Ref && q.B == r.Pair.B.Ref })
	}
	for i, q := range r.Pairs {
		p.Pairs = append(p.Pairs, reviewLine{
			Teaches: strconv.FormatFloat(q.Teaches, 'f', 2, 64), Joined: q.Joined,
			A: q.A.String(), B: q.B.String(), Names: named(q.Explanation), Weight: q.Explanation.Weight.String(), Merges: count(int64(q.Merges)),
			Link: reviewAddress(r.Order, q.A, q.B), Shown: i == at,
		})
	}
	// The next pair follows the one shown; after the last one it is the first.
	if next := at + 1; next < len(p.Pairs) {
		q := r.Pairs[next]
		p.Next, p.NextA, p.NextB = p.Pairs[next].Link, q.A.String(), q.B.String()
	} else {
		p.Next = p.First
	}
	for _, o := range decisions.Orders() {
		p.Orders = append(p.Orders, reviewOrder{orderNames[o], reviewAddress(o, entity.Ref{}, entity.Ref{}), o == cmp.Or(r.Order, decisions.Best)})
	}
	if r.Answer != nil {
		line := newDecision(*r.Answer, reviewAddress(r.Order, r.Answer.RefA, r.Answer.RefB))
		p.Answer = &line
	}
	return c.render(w, "review", "", p)
}

// orderNames are the orders in words.
var orderNames = map[decisions.Order]string{decisions.Best: "best first", decisions.Teaches: "what teaches most first", decisions.Chance: "by chance, to estimate the quality"}

type reviewPage struct {
	Waiting      string
	None         bool
	Pairs        []reviewLine
	Pair         *reviewed
	Next         string // URL of the next pair
	NextA, NextB string
	First        string
	Signs        signs
	Answer       *decision
	Problem      string
	Command      string
	Orders       []reviewOrder
}

// reviewOrder is an order of the queue that can be chosen.
type reviewOrder struct {
	Name, Link string
	Shown      bool
}

// reviewLine is one pair of the list.
type reviewLine struct {
	A, B    string
	Names   [2]string
	Weight  string
	Teaches string // bits
	Joined  bool   // in one entity already
	Merges  string // number of records of the merged entity
	Link    string
	Shown   bool
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
		Decided: p.EntityA.ID == p.EntityB.ID,
		Same:    command("locus", "review", "answer", refA, refB, "--same"), Different: command("locus", "review", "answer", refA, refB, "--different"),
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

// reviewAddress returns the URL of a pair, or of the first of the queue.
func reviewAddress(order decisions.Order, a, b entity.Ref) string {
	q := url.Values{}
	if order != decisions.Best && order != "" {
		q.Set("order", string(order))
	}
	if a.Source != "" {
		q.Set("a", a.String())
		q.Set("b", b.String())
	}
	if len(q) == 0 {
		return "/review"
	}
	return "/review?" + q.Encode()
}

// waiting says how many pairs are left.
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
