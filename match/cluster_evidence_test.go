// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// clustered compares all pairs of persons, and clusters them.
func clustered(persons []match.Attributes, step func(match.Join)) [][]int {
	kind := match.Person()
	kind.Weights = map[string]map[string]match.Weight{"date": {"different": -1600}}
	m := match.New(kind, nil)
	keys, records := make([]match.NodeKey, len(persons)), make([]*match.Record, len(persons))
	var edges []match.Edge
	for i, p := range persons {
		keys[i] = match.NodeKey{Source: "crm", Key: string(rune('a' + i))}
		records[i] = m.Normalise(keys[i].Source, keys[i].Key, p)
		for j := range i {
			if v, weight, linked := m.Link(records[j], records[i]); linked {
				edges = append(edges, match.Edge{A: j, B: i, Weight: weight, Vector: v})
			}
		}
	}
	return match.Trace(keys, edges, m.UnmetOf(func(i int) *match.Record { return records[i] }), step)
}

// What a record lacks does not outvote what others have: a record without a date of birth does not join two persons
// with different ones, and what all pairs have in common counts once.
func TestCluster_IncompleteRecords(t *testing.T) {
	t.Parallel()
	person := func(birth, street, email string) match.Attributes {
		a := match.Attributes{"given_name": {"Velten"}, "family_name": {"Lomiska"}, "city": {"Bonn"}, "postcode": {"53111"}}
		for name, value := range map[string]string{"birth_date": birth, "address": street, "emails": email} {
			if value != "" {
				a[name] = []string{value}
			}
		}
		return a
	}
	for name, c := range map[string]struct {
		persons []match.Attributes
		want    [][]int
	}{
		"two of one name, and incomplete records of one": {[]match.Attributes{
			person("1979-09-07", "", "velten@example.org"), person("", "61 Lindenweg", "velten@example.org"),
			person("", "62 Lindenweg", "velten@example.org"), person("", "63 Lindenweg", "velten@example.org"),
			person("", "64 Lindenweg", "velten@example.org"), person("", "65 Lindenweg", "velten@example.org"),
			person("1958-05-26", "", ""),
		}, [][]int{{0, 1, 2, 3, 4, 5}, {6}}},
		"one who moved, and a record without a date": {[]match.Attributes{
			person("1979-09-07", "61 Lindenweg", "velten@example.org"), person("1979-09-07", "", "velten@example.org"),
			person("1979-09-07", "154 Ringstraße", ""), person("", "154 Ringstraße", ""),
		}, [][]int{{0, 1, 2, 3}}},
	} {
		if diff := gocmp.Diff(c.want, clustered(c.persons, nil)); diff != "" {
			clustered(c.persons, func(j match.Join) { t.Logf("%v + %v: %v, joined %v", j.A, j.B, j.Sum, j.Joined) })
			t.Errorf("%s (-want +got): %s", name, diff)
		}
	}
}

// Two groups of a record each have the weight of their pair as evidence.
func TestTrace_SumOfAPair(t *testing.T) {
	t.Parallel()
	ada := match.Attributes{"name": {"Ada Lovelace"}, "birth_date": {"1815-12-10"}, "city": {"London"}}
	clustered([]match.Attributes{ada, {"name": {"Ada Lovelace"}, "birth_date": {"1815-12-10"}, "city": {"Marylebone"}}}, func(j match.Join) {
		if j.Sum != j.Edge.Weight || !j.Joined {
			t.Errorf("the pair has %v, the groups %v, joined %v", j.Edge.Weight, j.Sum, j.Joined)
		}
	})
}
