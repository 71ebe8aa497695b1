// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"

	"github.com/locus-db/locus/internal/definition"
	"github.com/locus-db/locus/internal/problem"
)

// maxSchema is the maximum length of the text of a kind, in bytes.
const maxSchema = 256 << 10

// ParseSchema parses a kind in YAML, and therefore also in JSON. The error is an *InvalidError with all
// problems.
func ParseSchema(text []byte) (*Schema, error) {
	r, all := definition.Read("kind", maxSchema, text)
	s := parseSchema(all)
	if !r.Broken() {
		for _, p := range s.problems() {
			if !r.Failed(p.Pointer) {
				p.Line = r.Line(p.Pointer)
				r.Problems = append(r.Problems, p)
			}
		}
	}
	if len(r.Problems) > 0 {
		problem.Sort(r.Problems)
		return nil, invalidKind(r.Problems)
	}
	return s, nil
}

func parseSchema(all definition.Value) *Schema {
	s := &Schema{Sources: map[string]Source{}}
	all.Fields(
		definition.Text("kind", &s.Kind),
		definition.Whole("version", &s.Version),
		definition.Custom("attributes", func(v definition.Value) {
			v.Each(func(name string, v definition.Value) { s.Attributes = append(s.Attributes, parseAttribute(v, name)) })
		}),
		definition.Custom("sources", func(v definition.Value) {
			v.Each(func(name string, v definition.Value) { s.Sources[name] = parseSource(v) })
		}),
		definition.Custom("prior", func(v definition.Value) {
			prior := v.Number()
			if prior < -maxPrior || prior > 0 {
				v.Fail("want bits from %d to 0", -maxPrior)
				return
			}
			s.Prior = Weight(math.Round(100 * prior))
		}),
		definition.Custom("weights", func(v definition.Value) { s.Weights = parseWeights(v) }),
	)
	return s
}

func parseAttribute(v definition.Value, name string) Attribute {
	a := Attribute{Name: name}
	v.Fields(
		definition.Text("type", &a.Type),
		definition.Text("role", &a.Role),
		definition.Text("style", &a.Style),
		definition.Text("scope", &a.Scope),
		definition.Text("region", &a.Region),
		definition.Custom("half_life", func(v definition.Value) {
			if a.HalfLife = v.Whole(); a.HalfLife < 1 && !v.Failed() {
				v.Fail("want a number of days above 0")
			}
		}),
		definition.Truth("many", &a.Many),
		definition.Truth("required", &a.Required),
		definition.Truth("tag", &a.Tag),
		definition.Truth("dimension", &a.Dimension),
		definition.List("aliases", &a.Aliases),
	)
	return a
}

func parseSource(v definition.Value) Source {
	var s Source
	v.Fields(
		definition.Custom("trust", func(v definition.Value) { s.Trust = parseTrust(v) }),
		definition.Custom("attributes", func(v definition.Value) {
			s.Attributes = map[string]float64{}
			v.Each(func(attribute string, v definition.Value) { s.Attributes[attribute] = parseTrust(v) })
		}),
		definition.Truth("deduplicated", &s.Deduplicated),
	)
	return s
}

// parseTrust parses a trust, which must not be 0 if it is given.
func parseTrust(v definition.Value) float64 {
	trust := v.Number()
	if trust == 0 && !v.Failed() {
		v.Fail("want a number above 0, up to 1")
	}
	return trust
}

func parseWeights(v definition.Value) map[string]map[string]Weight {
	all := map[string]map[string]Weight{}
	v.Each(func(line string, v definition.Value) {
		levels := map[string]Weight{}
		v.Each(func(level string, v definition.Value) {
			weight := v.Number()
			if weight < -maxWeight || weight > maxWeight {
				v.Fail("want bits from %d to %d", -maxWeight, maxWeight)
				return
			}
			levels[level] = Weight(math.Round(100 * weight))
		})
		all[line] = levels
	})
	return all
}
