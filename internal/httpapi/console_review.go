// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/review"
)

// reviewPage shows the requested pair, or the first of the queue that is left by the filter.
func (p *site) reviewPage(c *call, body *bytes.Buffer) error {
	a, b := c.query["a"], c.query["b"]
	late := time.Duration(0)
	if a != "" || c.query["said"] != "" {
		late = queueLate
	}
	order := review.Order(c.query["order"])
	if order != review.Second && !slices.Contains(review.Orders(), order) {
		order = review.Best
	}
	queue, err := p.ownQueue(c, order, late)
	if err != nil {
		return err
	}
	pairs, err := p.svc.Review().Assigned(c, queue.Pairs, &review.Filter{})
	if err != nil {
		return err
	}
	shown := console.Review{
		Order: order,
		Pairs: pairs, More: queue.Next != "", Author: c.author(),
		Filter: c.reviewFilter(),
		Skip:   console.ParseSkip(c.query["skip"]),
	}
	if first, some := shown.First(); some && a == "" && b == "" {
		a, b = first.A.String(), first.B.String()
	}
	if a != "" || b != "" {
		if shown.Pair, err = p.pair(c, a, b); err != nil {
			f := toFault(err, "")
			if codes[f.Code].status >= http.StatusInternalServerError {
				return err
			}
			shown.Problem = f.Detail
		}
	}
	if shown.Answer, err = p.said(c); err != nil {
		return err
	}
	return p.shown(c.r).Review(body, shown)
}

// pair reads everything about a pair of records.
func (p *site) pair(c *call, a, b string) (*console.Pair, error) {
	if err := p.seen(c, a, b); err != nil {
		return nil, err
	}
	why, err := p.svc.Explain().WhyNot(c, a, b)
	if why, err = narrowed(p.Server, c, why, err); err != nil {
		return nil, err
	}
	recA, err := p.svc.Records().Get(c, why.A)
	if err != nil {
		return nil, err
	}
	recB, err := p.svc.Records().Get(c, why.B)
	if err != nil {
		return nil, err
	}
	entityA, err := p.svc.Entities().Get(c, recA.Entity)
	if err != nil {
		return nil, err
	}
	entityB, err := p.svc.Entities().Get(c, recB.Entity)
	if err != nil {
		return nil, err
	}
	shown := &console.Pair{WhyNot: why, Schema: p.svc.Kinds().Schema(recA.Kind)}
	for to, whole := range map[**entity.Record]*entity.Record{&shown.A: recA.Record, &shown.B: recB.Record} {
		if *to, err = narrowed(p.Server, c, whole, nil); err != nil {
			return nil, err
		}
	}
	for to, whole := range map[**entity.Entity]*entity.Entity{&shown.EntityA: entityA.Entity, &shown.EntityB: entityB.Entity} {
		if *to, err = narrowed(p.Server, c, whole, nil); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// said returns the decision that the query names as just made; nil if there is none. It is read from the store, so the
// page only confirms decisions that were made.
func (p *site) said(c *call) (*decisions.Decided, error) {
	if c.query["said"] == "" {
		return nil, nil
	}
	page, err := p.svc.Decisions().List(c, decisions.Query{Of: c.query["said"], Withdrawn: true, Limit: locus.MaxLimit})
	if err != nil {
		if codes[toFault(err, "").Code].status >= http.StatusInternalServerError {
			return nil, err
		}
		return nil, nil
	}
	made, err := narrowed(p.Server, c, page.Decisions, nil)
	if err != nil {
		return nil, err
	}
	for i, d := range made {
		a, b := d.RefA.String(), d.RefB.String()
		if d.Pair() && (a == c.query["said"] && b == c.query["of"] || b == c.query["said"] && a == c.query["of"]) {
			return &made[i], nil
		}
	}
	return nil, nil
}

// whatIfPage shows a what-if scenario, and the form that applies it.
func (p *site) whatIfPage(c *call, body *bytes.Buffer) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	e, err := p.svc.Entities().Get(c, id)
	if e, err = narrowed(p.Server, c, e, err); err != nil {
		return err
	}
	shown := console.WhatIf{Entity: e.Entity, Author: c.author()}
	ask := explain.Scenario{Of: e.ID.String()}
	switch {
	case c.query["without"] != "":
		shown.Question, shown.Address = console.Without, c.query["without"]
		ask.Delete = []string{shown.Address}
	case c.query["apart"] != "":
		shown.Question, shown.Address = console.Apart, c.query["apart"]
		ask.Decide = apart(e, shown.Address)
	case c.query["merge"] != "":
		shown.Question, shown.Address = console.Merge, c.query["merge"]
		ask.Decide = []decisions.Input{{Verdict: "same", A: ask.Of, B: shown.Address}}
	case c.query["pin"] != "":
		shown.Question, shown.Attribute, shown.Address = console.Pin, c.query["pin"], c.query["value"]
		ask.Decide = []decisions.Input{{Verdict: entity.VerdictValue, A: ask.Of, Attribute: shown.Attribute,
			Value: shown.Address}}
	case c.query["anchor"] != "":
		shown.Question, shown.Address = console.Anchor, c.query["anchor"]
		ask.Decide = []decisions.Input{{Verdict: entity.VerdictAnchor, A: shown.Address}}
	default:
		http.Redirect(c.w, c.r, "/entities/"+e.ID.String(), http.StatusSeeOther)
		return nil
	}
	if err = p.maySuppose(c, &ask); err == nil {
		shown.Scenario, err = p.svc.Explain().WhatIf(c, ask)
		shown.Scenario, err = narrowed(p.Server, c, shown.Scenario, err)
	}
	if err != nil {
		f := toFault(err, "")
		if codes[f.Code].status >= http.StatusInternalServerError {
			return err
		}
		shown.Problem = f.Detail
	}
	return p.shown(c.r).WhatIf(body, shown)
}

// apart returns the decisions that separate a record from all others of its entity.
func apart(e *entities.Entity, record string) []decisions.Input {
	var list []decisions.Input
	for _, m := range e.Members {
		if record != m.Ref.String() && record != m.PUID.String() {
			list = append(list, decisions.Input{Verdict: "different", A: record, B: m.Ref.String()})
		}
	}
	return list
}

// around reads the decisions about an entity and its relations; nil on error, since the page of the entity works
// without them.
func (p *site) around(c *call, id locality.ID) *console.Standing {
	decided, err := p.svc.Decisions().List(c, decisions.Query{Of: id.String(), Withdrawn: true})
	if err != nil {
		return nil
	}
	relations, err := p.svc.Entities().Relations(c, id)
	if relations, err = narrowed(p.Server, c, relations, err); err != nil {
		return nil
	}
	made, err := narrowed(p.Server, c, decided.Decisions, nil)
	if err != nil {
		return nil
	}
	return &console.Standing{Decisions: made, Relations: relations}
}
