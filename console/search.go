// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// Search is a question and one page of its answer.
type Search struct {
	Name      string // as it was typed
	Attribute string
	Value     string
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
	p := searchPage{Search: s, Command: s.command()}
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
	Hits       []hit
	Next       string
	First      string
	Command    string
}

// Title is the name asked for, where markup cannot stand.
func (s Search) Title() string { return isolate(s.Name) }

// Asked tells whether the search was narrowed at all.
func (s Search) Asked() bool { return s.Name != "" || s.Value != "" || s.Kind != "" }

// hit is one entity found.
type hit struct {
	ID, Name string
	Kind     string
	Line     []string // where it is and what it is
	Made     string
}

func newHit(e *entity.Entity) hit {
	h := hit{ID: e.ID.String(), Name: nameOf(e.View), Kind: e.Kind, Made: counted(int64(len(e.Members)), "record")}
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
	q := url.Values{}
	for name, v := range map[string]string{"q": s.Name, "attribute": s.Attribute, "value": s.Value, "kind": s.Kind, "cursor": cursor} {
		if v != "" && (name != "attribute" || s.Value != "") {
			q.Set(name, v)
		}
	}
	if len(q) == 0 {
		return "/entities"
	}
	return "/entities?" + q.Encode()
}

// command is the search on the command line.
func (s Search) command() string {
	args := []string{"locus", "entity", "list"}
	if s.Name != "" {
		args = append(args, "--name", s.Name)
	}
	if s.Value != "" {
		args = append(args, "--attribute", s.Attribute, "--value", s.Value)
	}
	if s.Kind != "" {
		args = append(args, "--kind", s.Kind)
	}
	return command(args...)
}
