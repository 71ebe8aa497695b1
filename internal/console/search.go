// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// Search is a question and one page of its answer.
type Search struct {
	Name      string // as it was typed
	Attribute string
	Value     string
	Filters   []string        // further ones, each ATTRIBUTE:VALUE
	Has       []string        // attributes that must have a value
	Without   []string        // attributes that must have none
	Order     string          // best or id; "" is best
	Kind      string          // the only one that is looked for; "" for all
	Kinds     []*match.Schema // that there are
	Schema    *match.Schema   // whose attributes can be asked for
	Found     []*entity.Entity
	// Cursor leads to the next page; "" on the last one.
	Cursor string
	// Further is set on every page but the first.
	Further bool
	// Problem says what is wrong with the question; nothing was found then.
	Problem string
}

// Search writes the page of s.
func (c *Console) Search(w io.Writer, s Search) error {
	p := searchPage{Search: s, Command: s.command(), Conditions: s.conditions()}
	for _, a := range s.Schema.Attributes {
		p.Attributes = append(p.Attributes, a.Name)
	}
	for _, k := range s.Kinds {
		p.Names = append(p.Names, k.Kind)
	}
	for _, e := range s.Found {
		p.Hits = append(p.Hits, newHit(e))
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
	Names      []string // of the kinds
	Conditions []asked
	Hits       []hit
	Next       string
	First      string
	Command    string
}

// Title is the name asked for, where markup cannot stand.
func (s Search) Title() string { return isolate(s.Name) }

// Asked tells whether the search was narrowed at all.
func (s Search) Asked() bool { return len(s.query()) > 0 }

// query is the question as parameters of the page.
func (s Search) query() url.Values {
	q := url.Values{"filter": s.Filters, "has": s.Has, "without": s.Without}
	if s.Value != "" {
		q["filter"] = append(slices.Clone(s.Filters), s.Attribute+":"+s.Value)
	}
	for name, v := range map[string]string{"q": s.Name, "kind": s.Kind, "order": s.Order} {
		q.Set(name, v)
	}
	maps.DeleteFunc(q, func(_ string, values []string) bool { return len(values) == 0 || values[0] == "" })
	return q
}

// asked is one part of the question, and where the page without it is.
type asked struct {
	Field, Text string
	Value       string // of the field
	Remove      string
}

// conditions are the parts that the form has no field for.
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

// hit is one entity found.
type hit struct {
	ID, Name string
	Kind     string
	Line     []string // where it is and what it is
	Made     string
	Points   int
}

func newHit(e *entity.Entity) hit {
	h := hit{ID: e.ID.String(), Name: nameOf(e.View), Kind: e.Kind, Made: counted(int64(len(e.Members)), "record"), Points: e.Rank.Points()}
	for _, a := range []string{"address", "postcode", "city", "phones", "category"} {
		if v := e.View.First(a); v != "" {
			h.Line = append(h.Line, v)
		}
	}
	for i := 1; len(h.Line) == 0 && i < len(e.View); i++ { // a kind that has none of these: what comes after the name
		h.Line = append(h.Line, e.View[i].Values[0].Value)
	}
	return h
}

// address is where a page of the answer is.
func (s Search) address(cursor string) string {
	q := s.query()
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return at(q)
}

// at is where the page of a question is.
func at(q url.Values) string {
	if text := q.Encode(); text != "" {
		return "/entities?" + text
	}
	return "/entities"
}

// command is the search on the command line.
func (s Search) command() string {
	args, q := []string{"locus", "entity", "list"}, s.query()
	for _, f := range q["filter"] {
		attribute, value, _ := strings.Cut(f, ":")
		args = append(args, "--where", attribute+"="+value)
	}
	for _, name := range []string{"has", "without", "kind", "order"} {
		for _, v := range q[name] {
			args = append(args, "--"+name, v)
		}
	}
	if len(q) == 0 { // of which the command lists everything by id
		args = append(args, "--order", "best")
	}
	if s.Name != "" {
		args = append(args, s.Name)
	}
	return command(args...)
}
