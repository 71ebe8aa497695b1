// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
)

func renderSearch(s console.Search) func(io.Writer) error {
	s.Schema = match.Place()
	return func(w io.Writer) error { return console.New("1.2.3").Search(w, s) }
}

func links(root *html.Node) map[string]string {
	all := map[string]string{}
	elements(root, func(n *html.Node) {
		if href, ok := attribute(n, "href"); ok && n.Data == "a" {
			all[text(n)] = href
		}
	})
	return all
}

func TestSearch_ListsAndPages(t *testing.T) {
	t.Parallel()
	e := pizza(t).Entity
	root := render(t, renderSearch(console.Search{
		Name: "joe & co", Attribute: "phones", Value: "+1 415", Has: []string{"hours"},
		Found: []*entities.Result{{Entity: e}}, Cursor: "c/1", Further: true,
	}))
	got := links(root)
	for label, want := range map[string]string{
		"Joes Pizza": "/entities/" + e.ID.String(),
		"Next page":  "/entities?cursor=c%2F1&filter=phones%3A%2B1+415&has=hours&q=joe+%26+co",
		"First page": "/entities?filter=phones%3A%2B1+415&has=hours&q=joe+%26+co",
		"remove":     "/entities?filter=phones%3A%2B1+415&q=joe+%26+co",
	} {
		if got[label] != want {
			t.Errorf("%s leads to %q, want %q", label, got[label], want)
		}
	}
	s := text(byID(t, root, "main"))
	for _, want := range []string{"1000 Market Street · 94103 · (415) 555-2300", "3 records", "has hours", "locus entity list --where 'phones=+1 415' --has hours 'joe & co'"} {
		if !strings.Contains(strings.Join(strings.Fields(s), " "), want) {
			t.Errorf("the page does not say %q but %q", want, s)
		}
	}
}

func TestSearch_KeepsTheQuestion(t *testing.T) {
	t.Parallel()
	fields := map[string]string{}
	elements(render(t, renderSearch(console.Search{Name: "joe", Attribute: "city", Value: "SF"})), func(n *html.Node) {
		switch _, selected := attribute(n, "selected"); {
		case n.Data == "input":
			name, _ := attribute(n, "name")
			fields[name], _ = attribute(n, "value")
		case n.Data == "option" && selected:
			fields["attribute"] = text(n)
		}
	})
	if fields["q"] != "joe" || fields["value"] != "SF" || fields["attribute"] != "city" {
		t.Errorf("the form holds %v", fields)
	}
}

func TestSearch_SaysWhyThereIsNothing(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]console.Search{
		"No results":          {Name: "joe"},
		"No more results":     {Name: "joe", Further: true},
		"Nothing here yet":    {},
		"no attribute called": {Name: "joe", Problem: "no attribute called x"},
	} {
		if got := text(render(t, renderSearch(s))); !strings.Contains(got, want) {
			t.Errorf("%+v does not say %q", s, want)
		}
	}
}

func TestNotice(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	err := console.New("1.2.3").Notice(&b, console.Notice{
		Title: "Not found", Text: "No such thing.", Asked: "pos:<b>", Command: []string{"locus", "route", "pos:<b>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>Not found · Locus</title>", "<bdi>pos:&lt;b&gt;</bdi>", "locus route &#39;pos:&lt;b&gt;&#39;"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
