// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/locality"
)

// searchPage shows the results of a search. The text may also be an address.
func (p *site) searchPage(c *call, body *bytes.Buffer) error {
	c.query.unfilled()
	if c.query["value"] == "" {
		delete(c.query, "attribute")
		if found, err := p.jump(c); found || err != nil {
			return err
		}
	}
	who := &access.From(c).Restriction
	if c.query["kind"] == "" && who.Kinds != nil {
		if c.query == nil {
			c.query = values{}
		}
		c.query["kind"] = who.Kinds[0]
	}
	kinds, err := narrowed(p.Server, c, p.svc.Kinds().Schemas(), nil)
	if err != nil {
		return err
	}
	if len(kinds) == 0 {
		return fault(CodeForbidden, "", "you may not see any kind of this installation")
	}
	shown := console.Search{
		Name: c.query["q"], Attribute: c.query["attribute"], Value: c.query["value"],
		Filters: c.query.list("filter"), Has: c.query.list("has"), Without: c.query.list("without"), Order: c.query["order"],
		Typos: c.query["typos"],
		Kind:  c.query["kind"], Kinds: kinds, Schema: p.svc.Kinds().Schema(c.query["kind"]), Further: c.query["cursor"] != "",
		Listed: who.Hide != nil,
	}
	if shown.Listed && shown.Order == "" {
		shown.Order = string(entities.OrderID)
	}
	if shown.Schema == nil || !who.Sees(shown.Schema.Kind) {
		shown.Schema, shown.Kind, shown.Problem = kinds[0], "", fmt.Sprintf("No such kind: %.64q.", shown.Kind)
		return p.shown(c.r).Search(body, shown)
	}
	if c.query["value"] != "" { // becomes a filter, as in the cursor of the next page
		c.query["filter"] = strings.Join(append(slices.Clone(shown.Filters), shown.Attribute+":"+shown.Value), "\n")
		delete(c.query, "attribute")
		delete(c.query, "value")
	}
	after, err := p.afterPlace(c)
	if err != nil {
		return err
	}
	q, err := c.query.entities()
	var next entity.Place
	switch {
	case len(shown.Name) > entities.MaxText:
		err, shown.Problem = nil, "The search text is longer than 256 bytes."
	case err == nil:
		q.After, q.Limit = after, pageLimit
		if q.Order == "" && who.Hide == nil { // best is the default here, also without conditions
			q.Order = entities.OrderBest
		}
		if err = narrowQuery(who, &q); err == nil {
			next, err = p.results(c, q, &shown)
		}
	}
	if _, invalid := errors.AsType[*locus.InvalidError](err); invalid || err != nil && slices.Contains([]Code{CodeInvalid, CodeForbidden}, toFault(err, "").Code) {
		shown.Problem = toFault(err, "").Detail
	} else if err != nil {
		return err
	}
	shown.Cursor = p.placeCursor(c, next)
	return p.shown(c.r).Search(body, shown)
}

// results reads a page of results.
func (p *site) results(c *call, q entities.Query, shown *console.Search) (next entity.Place, err error) {
	for r, err := range p.svc.Entities().Each(c, q) {
		if err != nil {
			return entity.Place{}, err
		}
		if len(shown.Found) == q.Limit {
			return next, nil
		}
		next = r.Place()
		if r.Entity, err = narrowed(p.Server, c, r.Entity, nil); err != nil {
			return entity.Place{}, err
		}
		shown.Found = append(shown.Found, r)
	}
	return entity.Place{}, nil
}

// unfilled drops empty form fields.
func (q values) unfilled() {
	for name, text := range q {
		if repeated[name] {
			text = strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" }), "\n")
			q[name] = text
		}
		if text == "" {
			delete(q, name)
		}
	}
}

// jump redirects to the entity at an address that was typed as a name. Text that only might be an address, such as a
// number or text with a colon, is taken for a name if no entity has it.
func (p *site) jump(c *call) (found bool, err error) {
	text := strings.TrimSpace(c.query["q"])
	_, notID := locality.Parse(text)
	_, notPUID := entity.ParsePUID(text)
	if notID != nil && notPUID != nil && !strings.Contains(text, ":") {
		return false, nil
	}
	e, err := p.svc.Entities().Find(c, text)
	if err == nil {
		err = p.seen(c, text)
	}
	err = unseen(c, err)
	switch {
	case err == nil:
		// The page of a former id shows that the id was merged away.
		http.Redirect(c.w, c.r, "/entities/"+e.Requested.String(), http.StatusSeeOther)
		return true, nil
	case notID != nil && !errors.Is(err, entity.ErrErased) && codes[toFault(err, "").Code].status < http.StatusInternalServerError:
		return false, nil
	default:
		return false, err
	}
}

func (p *site) entityPage(c *call, body *bytes.Buffer) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	whole, err := p.svc.Explain().Why(c, id)
	why, err := narrowed(p.Server, c, whole, err)
	if err != nil {
		return err
	}
	home, err := p.svc.Cells().Map().Entity(why.Entity.ID)
	if err != nil {
		return err
	}
	how, err := p.svc.Explain().How(c, why.Entity.ID)
	how, _ = narrowed(p.Server, c, how, err) // on error the page shows it as unknown
	return p.shown(c.r).Entity(body, console.Entity{
		Why: why, Schema: p.svc.Kinds().Schema(why.Entity.Kind), Home: home.String(), RecordPath: func(source, key string) string { return strings.TrimPrefix(RecordPath(source, key), "/v1") },
		How: how, Standing: p.around(c, why.Entity.ID), Author: c.author(), Hidden: access.From(c).Restriction.Hide,
	})
}
