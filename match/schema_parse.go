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
	all.Fields("kind, version, attributes, sources, prior and weights", func(name string, v definition.Value) bool {
		switch name {
		case "kind":
			s.Kind = v.Text()
		case "version":
			s.Version = v.Whole()
		case "attributes":
			v.Fields("", func(name string, v definition.Value) bool {
				s.Attributes = append(s.Attributes, parseAttribute(v, name))
				return true
			})
		case "sources":
			v.Fields("", func(name string, v definition.Value) bool {
				s.Sources[name] = parseSource(v)
				return true
			})
		case "prior":
			prior := v.Number()
			if prior < -maxPrior || prior > 0 {
				v.Fail("want bits from %d to 0", -maxPrior)
				break
			}
			s.Prior = Weight(math.Round(100 * prior))
		case "weights":
			s.Weights = parseWeights(v)
		default:
			return false
		}
		return true
	})
	return s
}

func parseAttribute(v definition.Value, name string) Attribute {
	a := Attribute{Name: name}
	const words = "type, role, style, scope, region, half_life, many, required, tag, dimension and aliases"
	v.Fields(words, func(word string, v definition.Value) bool {
		switch word {
		case "type":
			a.Type = Type(v.Text())
		case "role":
			a.Role = Role(v.Text())
		case "style":
			a.Style = Style(v.Text())
		case "scope":
			a.Scope = Scope(v.Text())
		case "region":
			a.Region = v.Text()
		case "half_life":
			if a.HalfLife = v.Whole(); a.HalfLife < 1 && !v.Failed() {
				v.Fail("want a number of days above 0")
			}
		case "many":
			a.Many = v.Truth()
		case "required":
			a.Required = v.Truth()
		case "tag":
			a.Tag = v.Truth()
		case "dimension":
			a.Dimension = v.Truth()
		case "aliases":
			a.Aliases = v.List()
		default:
			return false
		}
		return true
	})
	return a
}

func parseSource(v definition.Value) Source {
	var s Source
	v.Fields("trust, attributes and deduplicated", func(word string, v definition.Value) bool {
		switch word {
		case "trust":
			s.Trust = parseTrust(v)
		case "deduplicated":
			s.Deduplicated = v.Truth()
		case "attributes":
			s.Attributes = map[string]float64{}
			v.Fields("", func(attribute string, v definition.Value) bool {
				s.Attributes[attribute] = parseTrust(v)
				return true
			})
		default:
			return false
		}
		return true
	})
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
	v.Fields("", func(line string, v definition.Value) bool {
		levels := map[string]Weight{}
		v.Fields("", func(level string, v definition.Value) bool {
			weight := v.Number()
			if weight < -maxWeight || weight > maxWeight {
				v.Fail("want bits from %d to %d", -maxWeight, maxWeight)
				return true
			}
			levels[level] = Weight(math.Round(100 * weight))
			return true
		})
		all[line] = levels
		return true
	})
	return all
}
