// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/review"
)

// mixedQueue has pairs of two kinds, of three sources, of 4, 3 and 0 bits.
func mixedQueue(t testing.TB) console.Review {
	t.Helper()
	made := func(kind, a, b string, weight match.Weight, against string) review.Pair {
		return review.Pair{
			A: entity.Ref{Source: a, Key: "1"}, B: entity.Ref{Source: b, Key: "2"}, EntityA: id(t, 1), EntityB: id(t, 2),
			Kind: kind, Merges: 2,
			Explanation: match.Explanation{Weight: weight,
				Lines: []match.Line{{Attribute: "name", Weight: 300}, {Attribute: against, Weight: -50}}},
		}
	}
	return console.Review{Pairs: []review.Pair{
		made("place", "pos", "web", 499, "phones"), made("place", "pos", "pos", 300, "address"),
		made("person", "web", "crm", 0, "phones"),
	}}
}

// listed are the pairs that the page lists, as the sources of their records.
func listed(t testing.TB, r console.Review) (pairs []string) {
	t.Helper()
	elements(render(t, renderReview(r)), func(n *html.Node) {
		if class, _ := attribute(n, "class"); n.Data == "table" && class == "queue" {
			elements(n, func(n *html.Node) {
				if n.Data == "a" {
					refs := strings.Fields(text(n))
					pairs = append(pairs, strings.TrimSuffix(refs[0], ":1")+" "+strings.TrimSuffix(refs[2], ":2"))
				}
			})
		}
	})
	return pairs
}

func TestReview_Filters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		filter review.Filter
		want   string
	}{
		{review.Filter{}, "pos web, pos pos, web crm"},
		{review.Filter{Source: "web"}, "pos web, web crm"},
		{review.Filter{Kind: "place"}, "pos web, pos pos"},
		{review.Filter{Bits: "4"}, "pos web"},
		{review.Filter{Bits: "3"}, "pos pos"},
		{review.Filter{Bits: "0"}, "web crm"},
		{review.Filter{Attribute: "phones"}, "pos web, web crm"},
		{review.Filter{Attribute: "phones", Kind: "person"}, "web crm"},
		{review.Filter{Attribute: "name"}, ""}, // it agrees
	} {
		r := mixedQueue(t)
		r.Filter = c.filter
		if got := strings.Join(listed(t, r), ", "); got != c.want {
			t.Errorf("%+v selects %s, want %s", c.filter, got, c.want)
		}
		said := said(t, renderReview(r))
		if !strings.HasPrefix(said, "Review 3 pairs to review") {
			t.Errorf("%+v hides how many there are: %.80s", c.filter, said)
		}
		if first, some := r.First(); some != (c.want != "") || some && !strings.HasPrefix(c.want, first.A.Source+" "+first.B.Source) {
			t.Errorf("%+v begins with %v, %v", c.filter, first, some)
		}
	}
	r := mixedQueue(t)
	said := said(t, renderReview(r))
	for _, want := range []string{"pos (2)", "web (2)", "crm (1)", "place (2)", "4 to 5 bits (1)", "0 to 1 bits (1)", "phones (2)", "address (1)"} {
		if !strings.Contains(said, want) {
			t.Errorf("the form has no %q: %s", want, said)
		}
	}
	r.Filter.Source = "gone"
	if got := text(byID(t, render(t, renderReview(r)), "filtered")); got != "0 of them are selected" {
		t.Errorf("it says %q", got)
	}
}

// ways returns the URLs of the page's keys.
func ways(t testing.TB, r console.Review) map[string]string {
	t.Helper()
	to := map[string]string{}
	elements(render(t, renderReview(r)), func(n *html.Node) {
		if press, ok := attribute(n, "data-press"); ok && n.Data == "a" {
			to[press], _ = attribute(n, "href")
		}
	})
	return to
}

// Skipping leads through all selected pairs and then to none; returning leads back to each of them, the last one first.
func TestReview_SkipAndReturn(t *testing.T) {
	t.Parallel()
	at := func(address string) console.Review {
		u, err := url.Parse(address)
		if err != nil || u.Path != "/review" {
			t.Fatalf("%q leads away: %v", address, err)
		}
		q := u.Query()
		r := queueOf(t, "x", 4)
		r.Filter, r.Skip, r.Pair = review.Filter{Source: q.Get("source")}, console.ParseSkip(q.Get("skip")), nil
		first, some := r.First()
		if q.Has("a") {
			i := slices.IndexFunc(r.Pairs, func(p review.Pair) bool { return p.A.String() == q.Get("a") && p.B.String() == q.Get("b") })
			first, some = r.Pairs[i], true
		}
		if some {
			pair := twins(t, "x")
			pair.A.Ref, pair.B.Ref = first.A, first.B
			r.Pair = pair
		}
		return r
	}
	address := "/review?source=web"
	var shown []string
	for range 4 {
		r := at(address)
		shown = append(shown, r.Pair.B.Key)
		if fields := forms(render(t, renderReview(r)))["post /decisions"]; !strings.Contains(fields["back"], "source=web") {
			t.Errorf("an answer forgets the filter: %q", fields["back"])
		}
		address = ways(t, r)["n"]
	}
	if got := strings.Join(shown, " "); got != "x x1 x2 x3" {
		t.Errorf("skipping shows %s", got)
	}
	r := at(address)
	if r.Pair != nil || !strings.Contains(said(t, renderReview(r)), "All pairs left are skipped") {
		t.Error("a skipped pair is shown again by itself")
	}
	shown = nil
	for range 4 {
		if address = ways(t, r)["r"]; address == "" {
			t.Fatalf("no way back after %v", shown)
		}
		r = at(address)
		shown = append(shown, r.Pair.B.Key)
	}
	if got := strings.Join(shown, " "); got != "x3 x2 x1 x" {
		t.Errorf("returning shows %s", got)
	}
	if to := ways(t, r)["r"]; to != "" {
		t.Errorf("all are back, and another way leads to %s", to)
	}
	for text, want := range map[string]int{"": 0, "0a1b2c3d": 1, "0a1b2c3d.<script>.zzzzzzzz.0A1B2C3D": 1, strings.Repeat("0a1b2c3d.", 500): 50} {
		if got := console.ParseSkip(text); len(got) != want {
			t.Errorf("%.40q names %v", text, got)
		}
	}
}

func TestReview_LongQueuesAreListedInParts(t *testing.T) {
	t.Parallel()
	r := queueOf(t, "x", 120)
	r.Pair.B.Ref = r.Pairs[60].B
	got := listed(t, r)
	if len(got) != 50 || !strings.Contains(said(t, renderReview(r)), "51 to 100 of 120") {
		t.Errorf("%d pairs are listed", len(got))
	}
	var links []string
	elements(render(t, renderReview(r)), func(n *html.Node) {
		if n.Data == "a" && (text(n) == "Earlier pairs" || text(n) == "Later pairs") {
			to, _ := attribute(n, "href")
			links = append(links, to)
		}
	})
	if strings.Join(links, " ") != "/review?a=pos%3Ax&b=web%3Ax49 /review?a=pos%3Ax&b=web%3Ax100" {
		t.Errorf("links %v", links)
	}
}
