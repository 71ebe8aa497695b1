// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

// homeOf returns a home page with every text from outside set to s.
func homeOf(t testing.TB, s string) console.Home {
	t.Helper()
	snap := snapshot(t, 16, 1000)
	snap.Status.Reason, snap.Status.Ready, snap.Status.Kinds[0].Kind = s, false, s
	e := why(t, s, s+" 2").Entity
	return console.Home{Time: noon, Status: snap.Status, Review: 3, Survey: &console.Survey{
		At: noon, Entities: 1, Changes: 4, Since: noon.Add(-time.Hour),
		Sources: []console.SourceLately{{Source: s, New: 3, Matched: 1, Updated: 1, Review: 2}},
		Largest: []*entity.Entity{e},
		Weakest: []console.WeakJoin{{Entity: e, A: e.Members[0].Ref, B: entity.Ref{Source: "pos", Key: s}, Weight: 512}},
		Shared: []console.SharedValue{{Kind: s, Attribute: "phones", Value: s, Names: []string{s, s + " 2", s + " 3"},
			Entities: 2}},
	}}
}

// view is a merged view of attributes, each with values of one record after the other.
func view(attributes map[string][]string, order ...string) (v entity.View) {
	for _, name := range order {
		a := entity.MergedAttribute{Name: name}
		for i, text := range attributes[name] {
			a.Values = append(a.Values, entity.MergedValue{Value: text, Members: []int{i}})
		}
		v = append(v, a)
	}
	return v
}

func TestSharedValues(t *testing.T) {
	t.Parallel()
	one := func(name, phone, city string) *entity.Entity {
		return &entity.Entity{View: view(map[string][]string{"name": {name}, "phones": {phone}, "city": {city}}, "name",
			"phones", "city")}
	}
	schema := func(string) *match.Schema { return match.Place() }
	sample := []*entity.Entity{
		one("Joe's", "1", "Springfield"), one("Zebra", "1", "Springfield"), one("Mill", "1", "Springfield"),
		one("MILL", "1", "Springfield"),
		one("Joe's", "2", "Springfield"), one("Zebra", "2", "Springfield"),
		{View: append(view(map[string][]string{"name": {"a", "b", "c", "d"}}, "name"), entity.MergedAttribute{
			Name: "phones", Values: []entity.MergedValue{{Value: "4", Members: []int{1, 2, 3}}, {Value: "3", Members: []int{0}}},
		})},
	}
	got := console.SharedValues(sample, schema)
	want := []console.SharedValue{
		{Attribute: "phones", Value: "1", Names: []string{"Joe's", "MILL", "Zebra"}, Entities: 4},
		{Attribute: "phones", Value: "4", Names: []string{"b", "c", "d"}, Entities: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := console.SharedValues(sample, func(string) *match.Schema { return nil }); got != nil {
		t.Errorf("entities of an unknown kind share %v", got)
	}
}

func TestSourcesLately(t *testing.T) {
	t.Parallel()
	ref := func(source, key string) entity.Ref { return entity.Ref{Source: source, Key: key} }
	put := func(puid entity.PUID, before int64) changes.Change {
		c := changes.Change{Change: changelog.Change{Kind: changelog.Put,
			After: []changelog.Version{{PUID: puid, Version: before + 1}}}}
		if before > 0 {
			c.Before = []changelog.Version{{PUID: puid, Version: before}}
		}
		return c
	}
	of := func(n int, puids ...entity.PUID) changes.Change {
		c := changes.Change{Change: changelog.Change{Kind: changelog.Changed, Entity: id(t, n)}}
		for _, p := range puids {
			c.After = append(c.After, changelog.Version{PUID: p, Version: 1})
		}
		return c
	}
	stored := []*records.Record{
		{Record: &entity.Record{PUID: 1, Ref: ref("pos", "1"), Attributes: entity.Attributes{}}, Entity: id(t, 1)},
		{Record: &entity.Record{PUID: 2, Ref: ref("pos", "2"), Attributes: entity.Attributes{}}, Entity: id(t, 2)},
		{Record: &entity.Record{PUID: 3, Ref: ref("web", "1"), Attributes: entity.Attributes{}}, Entity: id(t, 1)},
		{Record: &entity.Record{PUID: 9}}, // the tombstone of a deleted one
	}
	got := console.SourcesLately([]changes.Change{
		put(1, 0), of(1, 1), put(2, 0), of(2, 2), put(3, 0), of(1, 1, 3), put(2, 1), put(9, 0), // the last was deleted since
	}, stored, []review.Pair{{A: ref("pos", "1"), B: ref("pos", "2")}, {A: ref("pos", "1"), B: ref("old", "5")}})
	want := []console.SourceLately{
		{Source: "pos", New: 2, Matched: 1, Updated: 1, Review: 2, Before: console.Share{Matched: 1, Of: 1},
			After: console.Share{Of: 1}},
		{Source: "web", New: 1, Matched: 1, After: console.Share{Matched: 1, Of: 1}}, {Source: "old", Review: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHome_SaysWhichSourcesGotWorse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after console.Share
		worse         bool
	}{
		{console.Share{Matched: 18, Of: 20}, console.Share{Matched: 14, Of: 20}, true},
		{console.Share{Matched: 18, Of: 20}, console.Share{Matched: 15, Of: 20}, false}, // by 15 percent
		{console.Share{Matched: 14, Of: 20}, console.Share{Matched: 18, Of: 20}, false}, // better
		{console.Share{Matched: 19, Of: 19}, console.Share{Of: 20}, false},              // too few to decide
		{console.Share{Matched: 20, Of: 20}, console.Share{Of: 19}, false},
	} {
		h := homeOf(t, "x")
		h.Survey.Sources[0].Before, h.Survey.Sources[0].After = c.before, c.after
		said := said(t, func(w io.Writer) error { return console.New("1").Home(w, h) })
		if got := strings.Contains(said, "Sources that got worse"); got != c.worse || c.worse && !strings.Contains(said, "x90 %70 %3") {
			t.Errorf("%+v: worse %v: %s", c, got, said)
		}
	}
}

func TestHome_SaysWhatItIsASampleOf(t *testing.T) {
	t.Parallel()
	root := render(t, func(w io.Writer) error { return console.New("1.2.3").Home(w, homeOf(t, "x")) })
	for id, want := range map[string]string{
		"lately": "The last 4 changes, since 2026-11-20 11:00:00 UTC", "suspects": "Among 1 sampled entity",
		"weakest": "5.12", "pairs": "3",
	} {
		if got := text(byID(t, root, id)); !strings.Contains(got, want) {
			t.Errorf("%s is %q, without %q", id, got, want)
		}
	}
}
