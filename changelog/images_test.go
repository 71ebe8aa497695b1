// SPDX-License-Identifier: Apache-2.0

package changelog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

func TestImages_Text(t *testing.T) {
	t.Parallel()
	for text, images := range map[string]changelog.Images{
		"":                                {},
		"entities:":                       {Entities: []string{}},
		"entities:category,city":          {Entities: []string{"category", "city"}},
		"records:":                        {Records: []string{}},
		"entities:city records:city,name": {Entities: []string{"city"}, Records: []string{"city", "name"}},
	} {
		if got := images.String(); got != text {
			t.Errorf("%+v is %q, want %q", images, got, text)
		}
		got, err := changelog.ParseImages(text)
		if diff := cmp.Diff(images, got); diff != "" || err != nil {
			t.Errorf("%q is read with %v (-want +got):\n%s", text, err, diff)
		}
		if images.None() != (text == "") {
			t.Errorf("%q is none: %v", text, images.None())
		}
	}
	for _, text := range []string{" ", "entities", "records: entities:", "entities:a  records:", "cells:a", "entities:a entities:b"} {
		if got, err := changelog.ParseImages(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestImages_UnionIsTheLeastThatContainsBoth(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	draw := rapid.Custom(func(t *rapid.T) (i changelog.Images) {
		if rapid.Bool().Draw(t, "entities") {
			i.Entities = rapid.SliceOfDistinct(names, rapid.ID).Draw(t, "of entities")
		}
		if rapid.Bool().Draw(t, "records") {
			i.Records = rapid.SliceOfDistinct(names, rapid.ID).Draw(t, "of records")
		}
		return changelog.Images{}.Union(i)
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := draw.Draw(t, "a"), draw.Draw(t, "b"), draw.Draw(t, "c")
		u := a.Union(b)
		if !u.Contain(a) || !u.Contain(b) || u.String() != b.Union(a).String() {
			t.Fatalf("union of %v and %v is %v", a, b, u)
		}
		if c.Contain(a) && c.Contain(b) && !c.Contain(u) {
			t.Fatalf("%v contains %v and %v, and not %v", c, a, b, u)
		}
		if !a.Contain(a) || a.Contain(changelog.Images{Entities: []string{"z"}}) {
			t.Fatalf("what %v contains", a)
		}
	})
}

func TestImageOf(t *testing.T) {
	t.Parallel()
	e := &entity.Entity{
		ID: locality.Max(), Members: []entity.Member{{PUID: 1, Ref: entity.Ref{Source: "osm"}},
			{PUID: 2, Ref: entity.Ref{Source: "crawl"}}, {PUID: 3, Ref: entity.Ref{Source: "osm"}}},
		View: entity.View{
			{Name: "name", Values: []entity.MergedValue{{Value: "Joe's"}, {Value: "Joes"}}},
			{Name: "tags", Values: []entity.MergedValue{{Value: "b"}, {Value: "a"}}},
			{Name: "city", Values: []entity.MergedValue{{Value: "Oakland"}}},
		},
	}
	many := func(attribute string) bool { return attribute == "tags" }
	want := &changelog.Image{Sources: []string{"crawl", "osm"},
		Attributes: entity.Attributes{"name": {"Joe's"}, "tags": {"b", "a"}}}
	if diff := cmp.Diff(want, changelog.ImageOf(e, []string{"name", "tags", "nothing"}, many)); diff != "" {
		t.Errorf("entity (-want +got):\n%s", diff)
	}
	if got := changelog.ImageOf(nil, nil, many); got != nil {
		t.Errorf("no entity is %+v", got)
	}

	r := &entity.Record{PUID: 7, Ref: entity.Ref{Source: "osm", Key: "1"}, Anchor: 7,
		Attributes: entity.Attributes{"name": {"Joe's"}, "city": {"Oakland"}}}
	want = &changelog.Image{Sources: []string{"osm"}, Outcome: changelog.OutcomeCreated,
		Attributes: entity.Attributes{"city": {"Oakland"}}}
	if diff := cmp.Diff(want, changelog.ImageOfRecord(r, []string{"city", "nothing"})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	r.Anchor = 5
	if got := changelog.ImageOfRecord(r, nil); got.Outcome != changelog.OutcomeMatched || len(got.Attributes) > 0 {
		t.Errorf("a later member is %+v", got)
	}
	r.Attributes = nil
	if got := changelog.ImageOfRecord(r, nil); got != nil {
		t.Errorf("a tombstone is %+v", got)
	}
}
