// SPDX-License-Identifier: Apache-2.0

package entity_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
)

func TestRankOf(t *testing.T) {
	t.Parallel()
	from := func(sources ...string) (members []entity.Member) {
		for _, s := range sources {
			members = append(members, entity.Member{Ref: entity.Ref{Source: s}})
		}
		return members
	}
	for name, c := range map[string]struct {
		members []entity.Member
		known   int
		want    entity.Rank
	}{
		"nothing":                      {nil, 0, entity.Rank{}},
		"a source":                     {from("crawl"), 1, entity.Rank{Sources: 1, Known: 1}},
		"one that is believed twice":   {from("chamber"), 3, entity.Rank{Sources: 3, Known: 3}},
		"a source that repeats itself": {from("crawl", "crawl", "crawl"), 2, entity.Rank{Sources: 1, Known: 2}},
		"two sources":                  {from("crawl", "osm"), 2, entity.Rank{Sources: 3, Known: 2}},
		"as much as counts": {from("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"), 40,
			entity.Rank{Sources: 15, Known: 16}},
	} {
		got := entity.RankOf(c.members, make(entity.View, c.known), place)
		if got != c.want || got.Points() != c.want.Sources+c.want.Known || got.Points() > entity.MaxRank {
			t.Errorf("%s: rank %+v, want %+v", name, got, c.want)
		}
	}
}

// A rank is exactly equal for every order of the members.
func TestRankOf_DoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := drawMembers.Draw(t, "members")
		view := make(entity.View, rapid.IntRange(0, 20).Draw(t, "known"))
		other := rapid.Permutation(members).Draw(t, "shuffled")
		if a, b := entity.RankOf(members, view, place), entity.RankOf(other, view, place); a != b {
			t.Fatalf("ranks %+v and %+v", a, b)
		}
	})
}
