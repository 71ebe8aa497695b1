// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"fmt"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

func profile(t *testing.T, s *locus.DB, q quality.ProfileQuery) *quality.Profile {
	t.Helper()
	p, err := s.Quality().Profile(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProfile_Thresholds compares the effects of thresholds with a dry run of a kind whose prior moves all weights by
// as much, on pairs of records, where both are the same.
func TestProfile_Thresholds(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s, truth := doubtful(t, 11, 80)
	for _, p := range listed(t, s, review.Query{Limit: 100})[:8] {
		answer(t, s, truth, &p)
	}
	// Two records of equal content, and an entity of three.
	put(t, s, inTown("b", "oak", "Brass Heron Antiques", "212-555-9101", "12 Oak Ave"),
		inTown("c", "oak", "Brass Heron Antiques", "212-555-9101", "12 Oak Ave"))
	got := profile(t, s, quality.ProfileQuery{Threshold: 650})
	if !got.Whole || len(got.Kinds) != 1 {
		t.Fatalf("%+v", got)
	}
	k := got.Kinds[0]
	if len(k.Thresholds) != 7 {
		t.Fatalf("there are %d effects", len(k.Thresholds))
	}
	merged, split := 0, 0
	for _, e := range k.Thresholds {
		schema := *s.Kinds().Schema("place")
		schema.Prior += k.Threshold - e.Threshold
		schema.Version++
		want, err := s.Kinds().Compare(t.Context(), kinds.Proposal{Schema: &schema}, func(kinds.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		if e.Before != want.Before || e.Entities != want.After || e.Merged != want.Merged || e.Split != want.Split {
			t.Errorf("at %v: %+v, the dry run has %d entities before and %d after, %d merged, %d split", e.Threshold, e,
				want.Before, want.After, want.Merged, want.Split)
		}
		if e.Moved < e.Merged+e.Split || (e.Moved == 0) != (e.Merged+e.Split == 0) {
			t.Errorf("at %v %d records move", e.Threshold, e.Moved)
		}
		merged, split = merged+e.Merged, split+e.Split
	}
	if merged == 0 || split == 0 {
		t.Errorf("nothing merges or splits: %+v", k.Thresholds)
	}
}

// TestProfile_Counts checks the profile of a few records.
func TestProfile_Counts(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var puts []records.Input
	for i := range 25 {
		letter := func(by int) string { return string(rune('a' + (i*by+by)%26)) }
		p := inTown("pos", fmt.Sprint(i),
			"Z"+letter(3)+letter(7)+letter(11)+letter(5)+" Q"+letter(9)+letter(15)+letter(17), "", "")
		p.Attributes["postcode"] = []string{fmt.Sprintf("%05d", 10000+i)}
		puts = append(puts, p)
	}
	puts[7].Attributes["postcode"] = []string{"1OO07"}
	puts = append(puts, inTown("web", "1", "Brass Heron Antiques", "646-555-0101", "12 Oak Ave"), inTown("web", "2", "Brass Heron Antiques", "646-555-0101", "12 Oak Ave"),
		inTown("pos", "x", "Brass Heron Antiques", "646-555-0101", ""))
	put(t, s, puts...)
	got := profile(t, s, quality.ProfileQuery{Kinds: []string{"place"}})
	k := got.Kinds[0]
	if !got.Whole || got.Records != 28 || k.Records != 28 || k.Entities != 26 {
		t.Errorf("%d records, %d of the kind in %d entities", got.Records, k.Records, k.Entities)
	}
	if len(k.Sources) != 2 || k.Sources[0].Source != "pos" || k.Sources[0].Records != 26 || k.Sources[0].Duplicates != 0 ||
		k.Sources[1].Members != 2 || k.Sources[1].Duplicates != 1 {
		t.Errorf("sources: %+v", k.Sources)
	}
	if e := find(t, s, k.Sources[1].Example); len(e.Members) != 3 {
		t.Errorf("the example of duplicates has %d records", len(e.Members))
	}
	if len(k.Sizes) != 2 || k.Sizes[0] != (quality.SizeCount{Records: 1, Entities: 25}) ||
		k.Sizes[1] != (quality.SizeCount{Records: 3, Entities: 1}) {
		t.Errorf("sizes: %+v", k.Sizes)
	}
	joined := 0
	for i, w := range k.Weights {
		if joined += w.Joined; w.Bits != i {
			t.Errorf("bin %d is of %d bits", i, w.Bits)
		}
	}
	if joined == 0 {
		t.Error("no pair is within an entity")
	}
	for _, a := range k.Attributes {
		switch a.Name {
		case "address":
			if a.Filled != 2 || a.Sources[0] != 0 || a.Sources[1] != 2 {
				t.Errorf("address: %+v", a)
			}
		case "postcode":
			odd := entity.Ref{Source: "pos", Key: "7"}
			if a.Filled != 25 || len(a.Shapes) != 1 || a.Shapes[0].Shape != "99999" || a.Shapes[0].Values != 24 ||
				a.OddValues != 1 || len(a.Odd) != 1 || a.Odd[0].Record != odd || a.Odd[0].Shape != "9A99" {
				t.Errorf("postcode: %+v", a)
			}
		}
	}
	if _, err := s.Quality().Profile(t.Context(), quality.ProfileQuery{Threshold: -1}); err == nil {
		t.Error("a threshold below 0 is taken")
	}
	if none := profile(t, fresh(t), quality.ProfileQuery{}); len(none.Kinds) != 0 || !none.Whole {
		t.Errorf("of nothing: %+v", none)
	}
}

// TestProfile_Shares counts m and u where they are known: ten shops of two records, three of which have another phone
// there, all in one town. Different shops agree in the town alone.
func TestProfile_Shares(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	names := []string{"Brass Heron Antiques", "Otter Plumbing", "Quince Bakery", "Violet Dental", "Maple Optics",
		"Zebra Lounge", "Alpha Motors", "Kestrel Books", "Juniper Florist", "Walrus Tailors"}
	streets := []string{"Oak Ave", "Elm St", "Mill Lane", "High Rd", "Pine Blvd", "Cedar Ct", "Lake Dr", "Hill Way",
		"Park Pl", "River Rd"}
	for i, name := range names {
		phone := fmt.Sprintf("212-55%d-%d%d01", i, i, (i*7)%10)
		second := phone
		if i < 3 {
			second = fmt.Sprintf("646-44%d-%d%d77", i, (i*3)%10, i)
		}
		address := fmt.Sprint(11+i*17, " ", streets[i])
		got := put(t, s, inTown("pos", fmt.Sprint(i), name, phone, address),
			inTown("web", fmt.Sprint(i), name, second, address))
		if got[0].Entity != got[1].Entity {
			t.Fatalf("%s is in two entities: %+v", name, got)
		}
	}
	k := profile(t, s, quality.ProfileQuery{}).Kinds[0]
	if k.Entities != len(names) {
		t.Fatalf("there are %d entities", k.Entities)
	}
	sums := map[string][2]int{}
	for i := range k.Evidence {
		e := &k.Evidence[i]
		sum := sums[e.Field]
		sums[e.Field] = [2]int{sum[0] + e.Matching, sum[1] + e.Random}
		m, u := e.Shares()
		switch e.Field + ": " + e.Level {
		case "phone: equal":
			if e.Matching != 7 || e.MatchingOf != 10 || m != 0.7 || e.Random != 0 || e.RandomOf == 0 || u != 0 {
				t.Errorf("%+v, m %v, u %v", e, m, u)
			}
		case "city: equal":
			if m != 1 || u != 1 || e.RandomOf < 100 {
				t.Errorf("%+v, m %v, u %v", e, m, u)
			}
		case "address: street and number equal":
			if m != 1 || u != 0 {
				t.Errorf("%+v, m %v, u %v", e, m, u)
			}
		}
	}
	for _, e := range k.Evidence {
		if sum := sums[e.Field]; sum != [2]int{e.MatchingOf, e.RandomOf} {
			t.Errorf("%s: the levels have %v pairs of %d and %d", e.Field, sum, e.MatchingOf, e.RandomOf)
		}
	}
	if len(sums) < 4 {
		t.Errorf("only %v", sums)
	}
}
