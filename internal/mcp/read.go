// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/locality"
)

type searching struct {
	Text   string            `json:"text,omitempty" jsonschema:"words; all must occur, the last may be a prefix; similar words in case of typing errors come last, with corrections"`
	Where  map[string]string `json:"where,omitempty" jsonschema:"exact values by attribute, in any notation"`
	Kind   string            `json:"kind,omitempty"`
	Limit  int               `json:"limit,omitempty" jsonschema:"1 to 100; 10 by default"`
	Cursor string            `json:"cursor,omitempty"`
}

// summary is an entity in a list.
type summary struct {
	ID         locality.ID         `json:"id"`
	Kind       string              `json:"kind,omitempty"`
	Records    int                 `json:"records"`
	Attributes map[string][]string `json:"attributes"`
	Cut        bool                `json:"cut,omitempty"` // get returns the rest
	// Corrections are words of the search that were taken for others.
	Corrections []entities.Correction `json:"corrections,omitempty"`
}

func (s *Server) search(ctx context.Context, in searching) (*page, error) {
	if in.Text == "" && len(in.Where) == 0 {
		return nil, invalid("text and where are both missing: say what to search for")
	}
	p := &page{head: struct{}{}, list: "entities"}
	query, err := p.listed(in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"q": in.Text, "kind": in.Kind, "typos": typos(in.Text)} {
		if text != "" {
			query.Set(name, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Where)) {
		query.Add("filter", name+":"+in.Where[name])
	}
	var found httpapi.EntityList
	if err := s.call(ctx, "GET", "/v1/entities", query, nil, &found); err != nil {
		return nil, err
	}
	p.next = found.Cursor
	for i := range found.Entities {
		e := &found.Entities[i]
		attributes, cut := brief(e.View, 2<<10)
		p.items = append(p.items, summary{e.ID, e.Kind, e.Records, attributes, cut, e.Corrections})
	}
	return p, nil
}

// typos forgives typing errors if there is a text.
func typos(text string) string {
	if text == "" {
		return ""
	}
	return string(entities.TyposAuto)
}

// listed returns the query for a page of a list of the API.
func (p *page) listed(limit int, cursor string) (url.Values, error) {
	if limit == 0 {
		limit = 10
	}
	if limit < 1 || limit > 100 {
		return nil, invalid("limit %d: want 1 to 100", limit)
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if err := p.resume(cursor); err != nil {
		return nil, err
	}
	if p.from != "" {
		query.Set("cursor", p.from)
	}
	return query, nil
}

// brief returns the best values of a view, at most size bytes, and reports whether some are omitted.
func brief(view httpapi.View, size int) (attributes map[string][]string, cut bool) {
	attributes = map[string][]string{}
	for _, a := range view {
		for i, v := range a.Values {
			if a.Value != nil && i > 0 {
				break // lost to the first
			}
			text := clip(v.Value, 160)
			cost := len(clip(text, 160))*2 + len(a.Name) + 8
			if i == 3 || size < cost {
				cut = true
				break
			}
			size -= cost
			attributes[a.Name] = append(attributes[a.Name], text)
		}
	}
	return attributes, cut
}

type getting struct {
	Address string `json:"address" jsonschema:"entity id or SOURCE:KEY"`
	Cursor  string `json:"cursor,omitempty"`
}

// whole is the head of an entity.
type whole struct {
	ID       locality.ID `json:"id"`
	Redirect *redirect   `json:"redirect,omitempty"`
	Kind     string      `json:"kind"`
	Records  int         `json:"records"`
	Members  []string    `json:"members"` // the first of them, oldest first
}

// redirect explains why an id leads to another one.
type redirect struct {
	From  locality.ID     `json:"from"`
	At    *time.Time      `json:"at,omitempty"` // missing if the log no longer has it
	Cause changelog.Cause `json:"cause,omitempty"`
	// Decided are the newest decisions that hold the entity together, if a decision merged it.
	Decided []decided `json:"decided,omitempty"`
}

// valued is a value of an entity.
type valued struct {
	Attribute string   `json:"attribute"`
	Value     string   `json:"value"`
	Lost      bool     `json:"lost,omitempty"` // the entity shows another value
	Pinned    bool     `json:"pinned,omitempty"`
	Records   []string `json:"records"`
	More      int      `json:"more_records,omitempty"`
}

func (s *Server) get(ctx context.Context, in getting) (*page, error) {
	var e httpapi.Entity
	if err := s.call(ctx, "GET", "/v1/find", url.Values{"address": {in.Address}}, nil, &e); err != nil {
		return nil, err
	}
	head := whole{ID: e.ID, Kind: e.Kind, Records: e.Records}
	refs := make([]entity.Ref, 0, len(e.Members))
	for _, m := range e.Members {
		refs = append(refs, m.Ref)
	}
	head.Members, _ = named(refs, 20)
	if e.RedirectedFrom != (locality.ID{}) {
		var err error
		if head.Redirect, err = s.redirect(ctx, &e); err != nil {
			return nil, err
		}
	}
	p := &page{head: head, list: "values"}
	if err := p.resume(in.Cursor); err != nil {
		return nil, err
	}
	if p.from != "" && p.from != e.Stamp {
		return nil, &refusal{code: string(httpapi.CodeConflict),
			detail: "the entity has changed since the last page: read it without cursor"}
	}
	p.from = e.Stamp
	for _, a := range e.View {
		for i, v := range a.Values {
			row := valued{Attribute: a.Name, Value: clip(v.Value, 1<<10), Lost: a.Value != nil && i > 0, Pinned: v.Pinned}
			row.Records, row.More = named(v.Records, 5)
			p.items = append(p.items, row)
		}
	}
	return p, nil
}

// named returns the first addresses of a list, and how many are omitted.
func named(refs []entity.Ref, n int) (list []string, more int) {
	for _, r := range refs {
		list = append(list, r.String())
	}
	return clips(list, n, 330)
}

// redirect explains how the requested id came to lead to e.
func (s *Server) redirect(ctx context.Context, e *httpapi.Entity) (*redirect, error) {
	r := &redirect{From: e.RedirectedFrom}
	var h httpapi.History
	if err := s.call(ctx, "GET", "/v1/entities/"+e.ID.String()+"/history", nil, nil, &h); err != nil {
		return nil, err
	}
	for _, change := range h.Events {
		if change.Entity == r.From && change.Kind == changelog.Retired {
			r.At, r.Cause = &change.Time, change.Cause
		}
	}
	if r.Cause != changelog.CauseDecision {
		return r, nil
	}
	list, err := s.decisions(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(x, y decision) int { return y.At.Compare(x.At) })
	for i := range list {
		if d := &list[i]; d.Verdict == entity.VerdictSame && len(r.Decided) < 3 {
			r.Decided = append(r.Decided, *decidedOf(d))
		}
	}
	return r, nil
}
