// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/rollup"
)

func TestDefinition_YAML(t *testing.T) {
	t.Parallel()
	d, err := rollup.Parse([]byte(pets))
	if err != nil {
		t.Fatal(err)
	}
	const want = `rollup: pets_by_tag
kind: animal
over: entities
where:
  born: {"max":"2026-11-20"}
  chip: {"exists":true}
  owner: {"not":{"exists":true}}
  species: ["cat","dog"]
  status: active
  weight_g: {"max":"2.50","min":"1"}
group: ["tags"]
dimension: location
measures:
  breeds: {"distinct":"breed"}
  heavy: {"k":3,"top":"weight_g"}
  light: {"min":"weight_g"}
  mean: {"avg":"weight_g"}
  pets: count
  weight: {"scale":2,"sum":"weight_g"}
`
	if diff := cmp.Diff(want, string(d.YAML())); diff != "" {
		t.Error(diff)
	}
}

// TestDefinition_YAMLIsReadAgain writes conditions whose values look like other things in YAML.
func TestDefinition_YAMLIsReadAgain(t *testing.T) {
	t.Parallel()
	odd := []string{"no", "null", "1", "1e3", "0x10", "", " ", "a: b", "a #b", "- x", "'", `"`, "{", "é", "\u2028",
		"line\nbreak", "~", "2026-11-20", "y", "true", "café-1"}
	rapid.Check(t, func(t *rapid.T) {
		d := rollup.Definition{Name: "some", Kind: rapid.SampledFrom([]string{"place", "no", "y"}).Draw(t, "kind"),
			Group: []string{"category"}, Dimension: "city"}
		for _, name := range []string{"no", "status", "on"} {
			if values := rapid.SliceOfN(rapid.SampledFrom(odd), 0, 3).Draw(t, name); len(values) > 0 {
				d.Where = append(d.Where, rollup.Condition{Attribute: name, Values: values, Not: rapid.Bool().Draw(t, "not")})
			}
		}
		again, err := rollup.Parse(d.YAML())
		if err != nil {
			t.Fatalf("%v\n%s", err, d.YAML())
		}
		if !again.Equal(d) {
			t.Fatalf("%s\nis read as\n%s", d.YAML(), again.YAML())
		}
	})
}
