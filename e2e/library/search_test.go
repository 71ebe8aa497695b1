// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
)

func business(source, key, name, city, category string, more ...string) records.Input {
	a := entity.Attributes{"name": {name}, "city": {city}, "category": {category}}
	for i := 0; i < len(more); i += 2 {
		a[more[i]] = []string{more[i+1]}
	}
	return records.Input{Ref: entity.Ref{Source: source, Key: key}, Attributes: a}
}

// jumping is a town of businesses, some with several sources.
var jumping = []records.Input{
	business("vendor", "1", "Zephyr Trampolines", "San Francisco", "recreation > trampoline park", "phones",
		"415-555-2300", "address", "12 Oak Ave"),
	business("crawl", "1", "Zephyr Trampolines Inc", "SAN FRANCISCO", "Trampoline Park", "phones", "(415) 555-2300",
		"address", "12 Oak Avenue", "websites", "https://zephyr.example", "hours", "Mo-Su 10:00-20:00"),
	business("sales", "a", "Zephyr Trampolines", "San Francisco", "trampoline park", "phones", "415-555-2399", "address",
		"12 Oak Ave"),
	business("vendor", "2", "House of Air", "San Francisco", "trampoline park", "phones", "415-555-0101"),
	business("vendor", "3", "Sky High", "Oakland", "trampoline park", "phones", "510-555-0101"),
	business("crawl", "4", "Pogo Palace", "San Francisco", "trampoline park", "phones", "N/A"),
	business("crawl", "5", "Golden Gate Pizza", "San Francisco", "restaurant", "phones", "415-555-0199"),
	business("crawl", "6", "The Jumping Bean", "San Francisco", "cafe", "websites", "https://bean.example"),
}

func town(t *testing.T) *locus.DB {
	t.Helper()
	s := fresh(t)
	results, err := s.Records().Put(t.Context(), jumping)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil {
			t.Fatalf("%v: %v", jumping[i].Ref, r.Err)
		}
	}
	return s
}

// found returns the names of the results of a query, read in pages of two.
func found(t rapid.TB, s *locus.DB, q entities.Query) (names []string) {
	t.Helper()
	for _, e := range pages(t, s, q, 2) {
		names = append(names, e.View.First("name"))
	}
	return names
}

func pages(t rapid.TB, s *locus.DB, q entities.Query, size int) (all []*entity.Entity) {
	t.Helper()
	for q.Limit = size; ; {
		page, next, err := s.Entities().Search(context.Background(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		all = append(all, page...)
		if next == (entity.Place{}) {
			return all
		}
		if len(page) != size {
			t.Fatalf("%+v: a page of %d leads on", q, len(page))
		}
		q.After = next
	}
}

// "When a sales manager demands 'More Jumping!' his team can quickly contact businesses in this category."
func TestSource000_MoreJumping(t *testing.T) {
	t.Parallel()
	s := town(t)
	in := func(attribute, value string) entities.Filter {
		return entities.Filter{Attribute: attribute, Value: value}
	}
	for name, c := range map[string]struct {
		q    entities.Query
		want string
	}{
		"of this category in this city, best first, with a phone": {
			entities.Query{Kind: "place",
				Where: []entities.Filter{in("category", "Trampoline park"), in("city", "san francisco")}, Has: []string{"phones"}},
			"Zephyr Trampolines, House of Air",
		},
		"without a known number": {entities.Query{Where: []entities.Filter{in("category", "trampoline park")},
			Without: []string{"phones"}}, "Pogo Palace"},
		"any level of a category": {entities.Query{Where: []entities.Filter{in("category", "recreation")}},
			"Zephyr Trampolines"},
		"the whole path of a category": {entities.Query{Where: []entities.Filter{in("category", "Recreation > Trampoline Park")}}, "Zephyr Trampolines"},
		"the number of any source": {entities.Query{Where: []entities.Filter{in("phones", "+1 415 555 2399")}},
			"Zephyr Trampolines"},
		"More Jumping!":              {entities.Query{Text: "Jumping!"}, "The Jumping Bean"},
		"words of category and city": {entities.Query{Text: "trampoline oakl"}, "Sky High"},
		"words of name and city":     {entities.Query{Text: "pizza francisco"}, "Golden Gate Pizza"},
		"the same value of nothing":  {entities.Query{Where: []entities.Filter{in("phones", "N/A")}}, ""},
		"with a website but no number": {entities.Query{Has: []string{"websites"}, Without: []string{"phones"}},
			"The Jumping Bean"},
	} {
		if got := strings.Join(found(t, s, c.q), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// "Present a consistent view to other teams, including information like business quality, category, website,
// hours of operation": each with the records that say so.
func TestSource000_AConsistentView(t *testing.T) {
	t.Parallel()
	s := town(t)
	e, err := s.Entities().Find(t.Context(), "vendor:1")
	if err != nil {
		t.Fatal(err)
	}
	for attribute, want := range map[string]string{
		"category": "Trampoline Park", "websites": "https://zephyr.example", "hours": "Mo-Su 10:00-20:00",
		"phones": "(415) 555-2300",
	} {
		if got := e.View.First(attribute); got != want {
			t.Errorf("%s is %q, want %q", attribute, got, want)
		}
	}
	for _, a := range e.View {
		for _, v := range a.Values {
			if len(v.Members) == 0 {
				t.Errorf("nobody says that %s is %q", a.Name, v.Value)
			}
		}
	}
	if want := (entity.Rank{Sources: 6, Known: len(e.View)}); e.Rank != want {
		t.Errorf("the rank is %+v, want %+v: three sources at 2, and what is known", e.Rank, want)
	}
}

// Any query with any page size returns the same entities, in the same order, as a scan of all entities.
func TestEntities_SaysOnceThatTheContextEnded(t *testing.T) {
	t.Parallel()
	s := town(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := s.Entities().Search(ctx, entities.Query{Where: []entities.Filter{{Attribute: "city", Value: "Oakland"}}})
	if !errors.Is(err, context.Canceled) || strings.Count(err.Error(), context.Canceled.Error()) != 1 {
		t.Errorf("a search whose context ended: %v", err)
	}
}

func TestEntities_AgreesWithALookAtAll(t *testing.T) {
	t.Parallel()
	s := town(t)
	all := pages(t, s, entities.Query{}, 1000)
	if got := pages(t, s, entities.Query{Order: entities.OrderID}, 1); !slices.EqualFunc(got, all, func(a, b *entity.Entity) bool { return a.ID == b.ID }) {
		t.Fatal("everything is in another order in small pages")
	}
	attributes := rapid.SampledFrom([]string{"phones", "websites", "hours", "address", "city"})
	cities := rapid.SampledFrom([]string{"", "Oakland", "San Francisco"})
	rapid.Check(t, func(t *rapid.T) {
		q := entities.Query{
			Has: rapid.SliceOfN(attributes, 0, 2).Draw(t, "has"), Without: rapid.SliceOfN(attributes, 0, 1).Draw(t, "without"),
			Order: rapid.SampledFrom([]entities.Order{entities.OrderBest, entities.OrderID}).Draw(t, "order"),
		}
		city := cities.Draw(t, "city")
		if city != "" {
			q.Where = []entities.Filter{{Attribute: "city", Value: strings.ToUpper(city)}}
		}
		var want []*entity.Entity
		for _, e := range all {
			has := func(attribute string) bool { return e.View.First(attribute) != "" }
			if !slices.ContainsFunc(q.Has, func(a string) bool { return !has(a) }) && !slices.ContainsFunc(q.Without, has) &&
				(city == "" || strings.EqualFold(e.View.First("city"), city)) {
				want = append(want, e)
			}
		}
		if q.Order == entities.OrderBest {
			slices.SortStableFunc(want, func(a, b *entity.Entity) int { return cmp.Compare(b.Rank.Points(), a.Rank.Points()) })
		}
		ids := func(entities []*entity.Entity) (ids []string) {
			for _, e := range entities {
				ids = append(ids, fmt.Sprintf("%v %d", e.ID, e.Rank.Points()))
			}
			return ids
		}
		if got := pages(t, s, q, rapid.IntRange(1, 4).Draw(t, "size")); !slices.Equal(ids(got), ids(want)) {
			t.Fatalf("%+v: %v, want %v", q, ids(got), ids(want))
		}
	})
}

func TestExact_LeavesOutCoordinates(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, a := range s.Kinds().Schema("place").Attributes {
		if got, want := resolve.Exact(a), a.Name != "latitude" && a.Name != "longitude"; got != want {
			t.Errorf("%s is found by its value: %t, want %t", a.Name, got, want)
		}
	}
}
