// SPDX-License-Identifier: Apache-2.0

package entity_test

import (
	"math"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
)

// supportPolicy shows address and city together.
type supportPolicy struct{}

func (supportPolicy) Names() []string           { return []string{"name", "address", "city"} }
func (supportPolicy) Many(string) bool          { return false }
func (supportPolicy) HalfLife(string) float64   { return 10 }
func (supportPolicy) Blocks() [][]string        { return [][]string{{"address", "city"}} }
func (supportPolicy) Trust(s, _ string) float64 { return map[string]float64{"good": 1, "poor": 0.5}[s] }

func TestSupports_AddUpAsTheViewDoes(t *testing.T) {
	t.Parallel()
	newest := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	said := func(member int, source string, days int, values map[string]string) entity.Testimony {
		m := entity.Testimony{Member: member, Source: source, Observed: newest.AddDate(0, 0, -days),
			Values: map[string][]entity.Spelling{}}
		for name, v := range values {
			m.Values[name] = []entity.Spelling{{Raw: v, Normal: v}}
		}
		return m
	}
	members := []entity.Testimony{
		said(0, "good", 0, map[string]string{"name": "Joe's", "address": "1 Main St", "city": "Oakland"}),
		said(1, "poor", 10, map[string]string{"name": "Joes", "city": "Berkeley"}),
		said(2, "good", 0, map[string]string{"name": "Joes", "city": "Berkeley"}),
		said(3, "good", 0, map[string]string{"address": "1 Main St"}),
	}
	view := entity.Merge(members, supportPolicy{})
	got := entity.Supports(members, supportPolicy{}, view)
	for name, want := range map[string][]entity.Support{
		"name":    {{Weight: 1.25}, {Weight: 1}}, // good, and poor of ten days ago: a half of a half
		"address": {{Weight: 2}},
		"city":    {{Weight: 1, Led: true}, {Weight: 1.25}}, // Berkeley weighs more, but the address is in Oakland
	} {
		if len(got[name]) != len(want) {
			t.Fatalf("%s: %+v of %+v", name, got[name], view)
		}
		for i, w := range want {
			if g := got[name][i]; math.Abs(g.Weight-w.Weight) > 1e-6 || g.Led != w.Led {
				t.Errorf("%s %d: %+v, want %+v in %+v", name, i, g, w, view)
			}
		}
	}
	pinned := entity.Merge(members, supportPolicy{},
		entity.Pin{Attribute: "name", Spelling: entity.Spelling{Raw: "JOE'S", Normal: "Joe's"}},
		entity.Pin{Attribute: "city", Spelling: entity.Spelling{Raw: "Alameda", Normal: "Alameda"}})
	got = entity.Supports(members, supportPolicy{}, pinned)
	if g := got["name"][0]; g.Weight != 1 || g.Led {
		t.Errorf("a pinned value of a record: %+v", g)
	}
	if g := got["city"][0]; g.Weight != 0 || g.Led {
		t.Errorf("a pinned value of no record: %+v", g)
	}
}
