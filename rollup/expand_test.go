// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

func TestDefinition_Expand(t *testing.T) {
	t.Parallel()
	cat := &changelog.Image{Kind: "k", Sources: []string{"crm", "web"}, Attributes: map[string][]string{
		"tags": {"mammal", "ears", "mammal"}, "colors": {"red", "white"}, "city": {"Paris"}, "weight": {"4.5", "heavy"},
		"born": {"2024-02-29T10:00:00Z"}, "none": {},
	}}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a value twice counts once": {`group: tags`, []string{"mammal at ", "ears at "}},
		"all combinations": {`group: [tags, colors]`,
			[]string{"mammal red at ", "ears red at ", "mammal white at ", "ears white at "}},
		"three attributes and a dimension": {`group: [city, colors, tags], dimension: born`, nil},
		"no value for the group":           {`group: [tags, none]`, []string{}},
		"no value for the dimension":       {`group: city, dimension: none`, []string{"Paris at "}},
		"a dimension":                      {`group: colors, dimension: city`, []string{"red at Paris", "white at Paris"}},
		"sources":                          {`group: source`, []string{"crm at ", "web at "}},
		"no outcome":                       {`group: city, dimension: outcome, over: records`, []string{"Paris at "}},
		"a value":                          {`group: city, where: { tags: ears }`, []string{"Paris at "}},
		"another value":                    {`group: city, where: { tags: wings }`, []string{}},
		"one of several":                   {`group: city, where: { tags: [wings, ears] }`, []string{"Paris at "}},
		"not a value":                      {`group: city, where: { tags: { not: wings } }`, []string{"Paris at "}},
		"not, though there":                {`group: city, where: { tags: { not: [ears, wings] } }`, []string{}},
		"exists": {`group: city, where: { tags: { exists: true }, none: { exists: false } }`,
			[]string{"Paris at "}},
		"does not exist": {`group: city, where: { none: { exists: true } }`, []string{}},
		"not exists": {`group: city, where: { none: { not: { exists: true } } }`,
			[]string{"Paris at "}},
		"in a range":     {`group: city, where: { weight: { min: 4.50, max: 5 } }`, []string{"Paris at "}},
		"below a range":  {`group: city, where: { weight: { min: 4.51 } }`, []string{}},
		"above a range":  {`group: city, where: { weight: { max: -7 } }`, []string{}},
		"not in a range": {`group: city, where: { weight: { not: { min: 5 } } }`, []string{"Paris at "}},
		"a day": {`group: city, where: { born: { min: 2024-02-29, max: 2024-02-29 } }`,
			[]string{"Paris at "}},
		"a later day":         {`group: city, where: { born: { min: 2024-03-01 } }`, []string{}},
		"a number is no date": {`group: city, where: { weight: { min: 2000-01-01 } }`, []string{}},
		"a date is no number": {`group: city, where: { born: { min: 0 } }`, []string{}},
		"all conditions hold": {`group: city, where: { tags: ears, city: Rome }`, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := definitions("{ rollup: a, kind: k, " + c.text + " }")[0]
			got := []string{}
			d.Expand(cat, func(group []string, dimension string) {
				got = append(got, strings.Join(group, " ")+" at "+dimension)
			})
			if c.want == nil {
				c.want = []string{
					"Paris red mammal at 2024-02-29T10:00:00Z", "Paris white mammal at 2024-02-29T10:00:00Z",
					"Paris red ears at 2024-02-29T10:00:00Z", "Paris white ears at 2024-02-29T10:00:00Z",
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			d.Expand(nil, func([]string, string) { t.Error("nothing counts for something") })
		})
	}
}

// Values too long for a key, or with a separator, stay distinct and can be queried.
func TestDefinition_ExpandLongValues(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 400)
	values := []string{long, long + "a", long + "b", "a\x00b", "a b", "a\x00c", strings.Repeat("x", 200),
		strings.Repeat("x", 201)}
	d := definitions(`{ rollup: a, kind: k, group: v }`)[0]
	seen := map[string]bool{}
	d.Expand(&changelog.Image{Kind: "k", Attributes: map[string][]string{"v": values}}, func(group []string, _ string) {
		if len(group[0]) > 200 || strings.Contains(group[0], "\x00") || strings.ToValidUTF8(group[0], "?") != group[0] {
			t.Errorf("%q stands in a key", group[0])
		}
		seen[group[0]] = true
	})
	if len(seen) != len(values) {
		t.Errorf("%d values made %d groups", len(values), len(seen))
	}
}

// One entity cannot stop a rollup: if it would fall into too many groups, it falls into the Crowded one.
func TestP04_WhatIsTooWideFallsIntoOneGroup(t *testing.T) {
	t.Parallel()
	of := func(n int) (values []string) {
		for i := range n {
			values = append(values, fmt.Sprint(i))
		}
		return values
	}
	d := definitions(`{ rollup: a, kind: k, group: [v, w], dimension: city }`)[0]
	for n, groups := range map[int]int{rollup.Falls / 2: rollup.Falls, rollup.Falls/2 + 1: 1} {
		im := &changelog.Image{Kind: "k", Attributes: map[string][]string{"v": of(n), "w": of(2), "city": {"Paris"}}}
		seen := map[string]bool{}
		d.Expand(im, func(group []string, dimension string) { seen[strings.Join(group, " ")+" at "+dimension] = true })
		if len(seen) != groups || seen["… … at Paris"] != (groups == 1) {
			t.Errorf("%d times 2 values fall into %d groups, want %d: %v", n, len(seen), groups, seen)
		}
	}
}
