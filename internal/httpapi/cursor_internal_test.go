// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/locus-db/locus/entity"
)

// A cursor is valid only for its own list: not for another route, item or filter, even if positions and parameters look
// the same. Parameters that may change from page to page may differ.
func TestCursor_IsOfItsListOnly(t *testing.T) {
	t.Parallel()
	s := &Server{cursorKey: cursorKey([16]byte{1})}
	of := func(path, name string, query values) *call {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.SetPathValue("name", name)
		return &call{r: r, route: &route{path: path,
			query: []param{{name: "q"}, {name: "source"}, {name: "limit"}, {name: "cursor"}, {name: "after"}}}, query: query}
	}
	type list struct{ path, name, q, source string }
	own := list{"/v1/a", "x", "1", ""}
	open := func(l list) *call { return of(l.path, l.name, values{"q": l.q, "source": l.source}) }
	seals := map[string]struct {
		param  string
		cursor string
		read   func(*call) (any, error)
		want   any
	}{
		"puid":  {"cursor", s.cursor(open(own), -5), func(c *call) (any, error) { return s.after(c) }, entity.PUID(-5)},
		"place": {"cursor", s.placeCursor(open(own), entity.Place{Anchor: 7, Points: 3}), func(c *call) (any, error) { return s.afterPlace(c) }, entity.Place{Anchor: 7, Points: 3}},
	}
	for name, seal := range seals {
		for _, l := range []list{
			own, {"/v1/b", "x", "1", ""}, {"/v1/a", "y", "1", ""}, {"/v1/a", "", "1", ""}, {"/v1/a", "x", "2", ""},
			{"/v1/a", "x", "", "1"},
		} {
			c := open(l)
			c.query["limit"], c.query[seal.param] = "17", seal.cursor
			got, err := seal.read(c)
			if l == own && (err != nil || got != seal.want) {
				t.Errorf("%s: %v, %v; want %v", name, got, err, seal.want)
			}
			if l != own && err == nil {
				t.Errorf("%s: the cursor of %v is good in %v", name, own, l)
			}
		}
		// A cursor of another installation is invalid too.
		other := &Server{cursorKey: cursorKey([16]byte{2})}
		c := open(own)
		c.query["cursor"] = seal.cursor
		if got, err := other.after(c); err == nil {
			t.Errorf("%s: another installation reads %v", name, got)
		}
	}
	for _, group := range [][]string{{""}, {"a"}, {"a", ""}, {"", "b"}, {"ä, ö"}} {
		c := open(own)
		c.query["after"] = s.groupCursor(c, group)
		if got, err := s.afterGroup(c); err != nil || !slices.Equal(got, group) {
			t.Errorf("group %q comes back as %q, %v", group, got, err)
		}
	}
}
