// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// Search is a query and one page of its results.
type Search struct {
	Name      string // as typed
	Attribute string
	Value     string
	Filters   []string        // further filters, each ATTRIBUTE:VALUE
	Has       []string        // attributes that must have a value
	Without   []string        // attributes that must have none
	Order     string          // best or id; "" means best
	Kind      string          // the only kind; "" for all
	Kinds     []*match.Schema // existing kinds
	Schema    *match.Schema   // kind whose attributes can be used
	Typos     string          // auto, 0, 1 or 2; "" means auto
	Found     []*entities.Result
	// Cursor is the cursor of the next page; "" on the last one.
	Cursor string
	// Further is set on every page but the first.
	Further bool
	// Listed means that the viewer may list entities, but not search them.
	Listed bool
	// Problem explains an invalid query; there are no results then.
	Problem string
}

// Search writes the search page.
func (c *Console) Search(w io.Writer, s Search) error {
	p := searchPage{Search: s, Command: s.command(), Conditions: s.conditions()}
	for _, a := range s.Schema.Attributes {
		p.Attributes = append(p.Attributes, a.Name)
	}
	for _, k := range s.Kinds {
		p.Names = append(p.Names, k.Kind)
	}
	for _, r := range s.Found {
		h := newHit(r.Entity)
		h.Corrected = r.Edits > 0
		h.First = h.Corrected && (len(p.Hits) == 0 || !p.Hits[len(p.Hits)-1].Corrected)
		for _, correction := range r.Corrections {
			h.Corrections = append(h.Corrections, correction.As+" for "+correction.Word)
		}
		p.Hits = append(p.Hits, h)
	}
	if s.Cursor != "" {
		p.Next = s.address(s.Cursor)
	}
	if s.Further {
		p.First = s.address("")
	}
	return c.render(w, "search", s.Name, p)
}

type searchPage struct {
	Search
	Attributes []string
	Names      []string // names of the kinds
	Conditions []asked
	Hits       []hit
	Next       string
	First      string
	Command    string
}

// Title returns the searched name, isolated for use without markup.
func (s Search) Title() string { return isolate(s.Name) }

// Asked reports whether the search has any condition.
func (s Search) Asked() bool { return len(s.query()) > 0 }

// query returns the query parameters of the page.
func (s Search) query() url.Values {
	q := url.Values{"filter": s.Filters, "has": s.Has, "without": s.Without}
	if s.Value != "" {
		q["filter"] = append(slices.Clone(s.Filters), s.Attribute+":"+s.Value)
	}
	for name, v := range map[string]string{"q": s.Name, "kind": s.Kind, "order": s.Order, "typos": s.Typos} {
		q.Set(name, v)
	}
	maps.DeleteFunc(q, func(_ string, values []string) bool { return len(values) == 0 || values[0] == "" })
	return q
}

// asked is one condition, and the URL of the page without it.
type asked struct {
	Field, Text string
	Value       string // value of the field
	Remove      string
}

// conditions returns the conditions without a form field.
func (s Search) conditions() (all []asked) {
	for _, field := range []struct {
		name, text string
		values     []string
	}{{"filter", "", s.Filters}, {"has", "has ", s.Has}, {"without", "without ", s.Without}} {
		for i, v := range field.values {
			q := s.query()
			q[field.name] = slices.Delete(slices.Clone(field.values), i, i+1)
			all = append(all, asked{field.name, field.text + v, v, at(q)})
		}
	}
	return all
}

// hit is an entity found.
type hit struct {
	ID, Name string
	Kind     string
	Line     []string // location and category
	Made     string
	Points   int
	// Corrected is set if the entity lacks words of the search, First for the first such entity of the page.
	// Corrections name the words that it has instead.
	Corrected, First bool
	Corrections      []string
}

func newHit(e *entity.Entity) hit {
	h := hit{ID: e.ID.String(), Name: nameOf(e.View), Kind: e.Kind, Made: counted(int64(len(e.Members)), "record"),
		Points: e.Rank.Points()}
	for _, a := range []string{"address", "postcode", "city", "phones", "category"} {
		if v := e.View.First(a); v != "" {
			h.Line = append(h.Line, v)
		}
	}
	for i := 1; len(h.Line) == 0 && i < len(e.View); i++ { // fallback: the first attribute after the name
		h.Line = append(h.Line, e.View[i].Values[0].Value)
	}
	return h
}

// address returns the URL of a page of results.
func (s Search) address(cursor string) string {
	q := s.query()
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return at(q)
}

// at returns the URL of the search page for a query.
func at(q url.Values) string {
	if text := q.Encode(); text != "" {
		return "/entities?" + text
	}
	return "/entities"
}

// command returns the equivalent command.
func (s Search) command() string {
	args, q := []string{"locus", "entity", "list"}, s.query()
	for _, f := range q["filter"] {
		attribute, value, _ := strings.Cut(f, ":")
		args = append(args, "--where", attribute+"="+value)
	}
	for _, name := range []string{"has", "without", "kind", "order", "typos"} {
		for _, v := range q[name] {
			args = append(args, "--"+name, v)
		}
	}
	if len(q) == 0 { // without conditions the command lists by id
		args = append(args, "--order", "best")
	}
	if s.Name != "" {
		args = append(args, s.Name)
	}
	return command(args...)
}
