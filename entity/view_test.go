// SPDX-License-Identifier: Apache-2.0

package entity_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
)

// policy treats names as single-valued and phones as a list, and trusts the chamber twice as much.
type policy struct{ names []string }

func (p policy) Names() []string          { return p.names }
func (policy) Many(attribute string) bool { return attribute == "phones" }
func (policy) HalfLife(attribute string) float64 {
	return map[string]float64{"phones": 30}[attribute] + 365
}

// Blocks returns the parts of an address.
func (policy) Blocks() [][]string { return [][]string{{"street", "postcode", "city"}} }

func (policy) Trust(source, attribute string) float64 {
	if source == "chamber" {
		return 0.9
	}
	return 0.45
}

var place = policy{[]string{"name", "phones", "city"}}

// A value has the records that said it, also where values are too many to be searched one after another.
func TestMerge_ManyValues(t *testing.T) {
	t.Parallel()
	var first, second []string
	for i := range 200 {
		text := strconv.Itoa(i)
		if first = append(first, "phones", text, text); i%2 == 0 {
			second = append(second, "phones", "+"+text, text)
		}
	}
	view := entity.Merge([]entity.Testimony{says(0, "crm", 0, first...), says(1, "web", 0, second...)}, place)
	if n := len(view[0].Values); n != 200 {
		t.Fatalf("%d values, want 200", n)
	}
	for i, v := range view[0].Values {
		n, err := strconv.Atoi(strings.TrimPrefix(v.Value, "+"))
		if both := n%2 == 0; err != nil || both != (len(v.Members) == 2) || both != (i < 100) {
			t.Errorf("value %d is %q of records %v", i, v.Value, v.Members)
		}
	}
}

// says returns the testimony of one record; facts are triples of attribute, raw and normal.
func says(member int, source string, daysAgo int, facts ...string) entity.Testimony {
	m := entity.Testimony{Member: member, Source: source, Observed: today.AddDate(0, 0, -daysAgo),
		Values: map[string][]entity.Spelling{}}
	for i := 0; i < len(facts); i += 3 {
		m.Values[facts[i]] = append(m.Values[facts[i]], entity.Spelling{Raw: facts[i+1], Normal: facts[i+2]})
	}
	return m
}

var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestMerge(t *testing.T) {
	t.Parallel()
	one := func(value string, members ...int) entity.MergedValue {
		return entity.MergedValue{Value: value, Members: members}
	}
	for name, c := range map[string]struct {
		members []entity.Testimony
		want    entity.View
	}{
		"nobody": {nil, nil},
		"one record": {
			[]entity.Testimony{says(0, "crawl", 0, "name", "Joe's", "joes", "phones", "N/A", "", "city", "SF", "sf")},
			entity.View{{Name: "name", Values: []entity.MergedValue{one("Joe's", 0)}},
				{Name: "city", Values: []entity.MergedValue{one("SF", 0)}}},
		},
		"equal when normalised: the longest spelling, whoever sent it": {
			[]entity.Testimony{says(0, "crawl", 0, "name", "JOES", "joes"), says(1, "osm", 0, "name", "Joe's", "joes"),
				says(2, "a", 0, "name", "Jœs", "jœs")},
			entity.View{{Name: "name", Values: []entity.MergedValue{one("Joe's", 0, 1), one("Jœs", 2)}}},
		},
		"three say more than one that is believed twice": {
			[]entity.Testimony{says(0, "chamber", 0, "name", "Ray's", "rays"), says(1, "a", 0, "name", "Joe's", "joes"),
				says(2, "b", 0, "name", "Joe's", "joes"), says(3, "c", 0, "name", "Joe's", "joes")},
			entity.View{{Name: "name", Values: []entity.MergedValue{one("Joe's", 1, 2, 3), one("Ray's", 0)}}},
		},
		"old news count less": {
			[]entity.Testimony{says(0, "chamber", 800, "name", "Ray's", "rays"), says(1, "a", 0, "name", "Joe's", "joes")},
			entity.View{{Name: "name", Values: []entity.MergedValue{one("Joe's", 1), one("Ray's", 0)}}},
		},
		"a list shows what has a tenth of the weight": {
			[]entity.Testimony{says(0, "chamber", 0, "phones", "1", "1"), says(1, "crawl", 900, "phones", "2", "2"),
				says(2, "crawl", 1400, "phones", "3", "3")},
			entity.View{{Name: "phones", Values: []entity.MergedValue{one("1", 0), one("2", 1)}}},
		},
		"a record that repeats itself speaks once": {
			[]entity.Testimony{says(0, "a", 0, "name", "Joe's", "joes", "name", "joe's!", "joes", "name", "Joe's", "joes"),
				says(1, "chamber", 0, "name", "Ray's", "rays")},
			entity.View{{Name: "name", Values: []entity.MergedValue{one("Ray's", 1), one("joe's!", 0)}}},
		},
		"the order of the schema, and nothing beside it": {
			[]entity.Testimony{says(0, "a", 0, "city", "SF", "sf", "secret", "x", "x", "name", "Joe's", "joes")},
			entity.View{{Name: "name", Values: []entity.MergedValue{one("Joe's", 0)}},
				{Name: "city", Values: []entity.MergedValue{one("SF", 0)}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, entity.Merge(c.members, place)); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
		})
	}
}

// Street, postcode and city come from one place, whatever the weight of each.
func TestMerge_Blocks(t *testing.T) {
	t.Parallel()
	located := policy{[]string{"street", "postcode", "city"}}
	for name, c := range map[string]struct {
		members []entity.Testimony
		pins    []entity.Pin
		want    string
	}{
		"the believed street, and not the city that more records have": {
			members: []entity.Testimony{
				says(0, "chamber", 0, "street", "1 Main St", "1 main st", "postcode", "94103", "94103", "city",
					"Oakland", "oakland"),
				says(1, "a", 0, "street", "9 High St", "9 high st", "city", "Alameda", "alameda"),
				says(2, "b", 0, "city", "Alameda", "alameda"),
			},
			want: "1 Main St, 94103, Oakland",
		},
		"a postcode from a record of the same street": {
			members: []entity.Testimony{
				says(0, "chamber", 0, "street", "1 Main St", "1 main st", "city", "Oakland", "oakland"),
				says(1, "a", 0, "street", "1 main st", "1 main st", "postcode", "94103", "94103"),
			},
			want: "1 Main St, 94103, Oakland",
		},
		"no postcode from another street": {
			members: []entity.Testimony{
				says(0, "chamber", 0, "street", "1 Main St", "1 main st", "city", "Oakland", "oakland"),
				says(1, "a", 0, "street", "9 High St", "9 high st", "postcode", "94501", "94501"),
			},
			want: "1 Main St, , Oakland",
		},
		"no postcode from the same street of another city": {
			members: []entity.Testimony{
				says(0, "chamber", 0, "street", "1 Main St", "1 main st", "city", "Oakland", "oakland"),
				says(1, "a", 0, "street", "1 Main St", "1 main st", "city", "Alameda", "alameda", "postcode", "94501", "94501"),
				says(2, "chamber", 0, "street", "1 Main St", "1 main st", "city", "Oakland", "oakland"),
			},
			want: "1 Main St, , Oakland",
		},
		"the fuller record, where all are believed alike": {
			members: []entity.Testimony{
				says(0, "a", 0, "city", "Alameda", "alameda"),
				says(1, "b", 0, "postcode", "94103", "94103", "city", "Oakland", "oakland"),
			},
			want: ", 94103, Oakland",
		},
		"what a person chose, whatever the block says": {
			members: []entity.Testimony{
				says(0, "chamber", 0, "street", "1 Main St", "1 main st", "city", "Oakland", "oakland"),
				says(1, "a", 0, "street", "9 High St", "9 high st", "postcode", "94501", "94501"),
			},
			pins: []entity.Pin{{Attribute: "postcode", Spelling: entity.Spelling{Raw: "94607", Normal: "94607"}}},
			want: "1 Main St, 94607, Oakland",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := entity.Merge(c.members, located, c.pins...)
			if got := view.First("street") + ", " + view.First("postcode") + ", " + view.First("city"); got != c.want {
				t.Errorf("the view shows %q, want %q", got, c.want)
			}
		})
	}
}

// Two values that a view shows first for a block may occur together in no record only if one record fills a
// gap of the other; a third record then agrees with both.
func TestMerge_BlocksShowNoMixture(t *testing.T) {
	t.Parallel()
	block := []string{"street", "postcode", "city"}
	rapid.Check(t, func(t *rapid.T) {
		members := make([]entity.Testimony, rapid.IntRange(1, 6).Draw(t, "members"))
		for i := range members {
			members[i] = says(i, rapid.SampledFrom([]string{"chamber", "a"}).Draw(t, "source"), 0)
			for _, attribute := range block {
				if value := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, attribute); value != "" {
					members[i].Values[attribute] = []entity.Spelling{{Raw: value, Normal: value}}
				}
			}
		}
		view := entity.Merge(members, policy{block})
		agrees := func(m entity.Testimony) bool {
			return !slices.ContainsFunc(block, func(attribute string) bool {
				of := m.Values[attribute]
				return len(of) > 0 && of[0].Normal != view.First(attribute)
			})
		}
		for _, attribute := range block {
			if shown := view.First(attribute); shown != "" && !slices.ContainsFunc(members, func(m entity.Testimony) bool {
				return len(m.Values[attribute]) > 0 && m.Values[attribute][0].Normal == shown && agrees(m)
			}) {
				t.Fatalf("%s %q is of no record that agrees with the view %v", attribute, shown, view)
			}
		}
	})
}

// A view does not change overnight: age is counted from the newest observation.
func TestMerge_DoesNotAgeOvernight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := drawTestimony.Draw(t, "members")
		shift := time.Duration(rapid.IntRange(-1e6, 1e6).Draw(t, "minutes")) * time.Minute
		later := slices.Clone(members)
		for i := range later {
			later[i].Observed = later[i].Observed.Add(shift)
		}
		if diff := cmp.Diff(entity.Merge(members, place), entity.Merge(later, place)); diff != "" {
			t.Fatalf("view, all observed at another time (-want +got):\n%s", diff)
		}
	})
}

func TestMerge_DoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := drawTestimony.Draw(t, "members")
		shuffled := rapid.Permutation(members).Draw(t, "shuffled")
		if diff := cmp.Diff(entity.Merge(members, place), entity.Merge(shuffled, place)); diff != "" {
			t.Fatalf("view, members in another order (-want +got):\n%s", diff)
		}
	})
}

// Every value is a spelling that a member sent, and lists exactly the members that support it.
func TestMerge_NamesItsWitnesses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := drawTestimony.Draw(t, "members")
		for _, attribute := range entity.Merge(members, place) {
			for _, value := range attribute.Values {
				var want []int
				for _, m := range members {
					if slices.ContainsFunc(m.Values[attribute.Name], func(s entity.Spelling) bool { return s.Normal == strings.ToLower(value.Value) }) {
						want = append(want, m.Member)
					}
				}
				if !slices.Equal(value.Members, want) {
					t.Fatalf("%s %q names members %v, want %v", attribute.Name, value.Value, value.Members, want)
				}
			}
		}
	})
}

// drawTestimony draws records whose values are normalised by lower-casing.
var drawTestimony = rapid.Custom(func(t *rapid.T) []entity.Testimony {
	n := rapid.IntRange(1, 6).Draw(t, "members")
	members := make([]entity.Testimony, n)
	for i := range members {
		members[i] = says(i, rapid.SampledFrom([]string{"chamber", "a", "b"}).Draw(t, "source"),
			rapid.IntRange(0, 2000).Draw(t, "days"))
		members[i].Observed = members[i].Observed.Add(time.Duration(rapid.IntRange(0, 86_399).Draw(t, "seconds")) * time.Second)
		for _, attribute := range []string{"name", "phones", "other"} {
			for range rapid.IntRange(0, 3).Draw(t, "values") {
				raw := rapid.SampledFrom([]string{"", "a", "A", "b", "B", "c", "aa", "aA", "AA"}).Draw(t, "value")
				members[i].Values[attribute] = append(members[i].Values[attribute],
					entity.Spelling{Raw: raw, Normal: strings.ToLower(raw)})
			}
		}
	}
	return members
})

func TestView_First(t *testing.T) {
	t.Parallel()
	view := entity.Merge([]entity.Testimony{says(0, "a", 0, "name", "Joe's", "joes")}, place)
	if got := view.First("name") + view.First("city"); got != "Joe's" {
		t.Errorf("the first name and city are %q", got)
	}
}

func TestMerge_WeighsWorth(t *testing.T) {
	t.Parallel()
	long, short := says(0, "crawl", 0, "name", "Joe's Pizza", "joes pizza"), says(1, "chamber", 0, "name", "Joe's", "joes")
	short.Values["name"][0].Worth = 25
	if got := entity.Merge([]entity.Testimony{long, short}, place).First("name"); got != "Joe's Pizza" {
		t.Errorf("a source that is believed twice leads with %q, worth a quarter", got)
	}
}
