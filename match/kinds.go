// SPDX-License-Identifier: Apache-2.0

package match

import "embed"

//go:embed kinds/*.yaml
var kinds embed.FS

// Kinds returns the built-in kinds, the default first: place, person, product.
func Kinds() []*Schema { return []*Schema{Place(), Person(), Product()} }

// Place returns the built-in kind for businesses, sights, offices and anything else with a location. A
// record needs at least one compared attribute. Every call returns a copy, which the caller may change, for
// example to declare sources.
func Place() *Schema { return builtIn("place") }

// Person returns the built-in kind for people, such as customers or patients.
func Person() *Schema { return builtIn("person") }

// Product returns the built-in kind for products of a catalogue.
func Product() *Schema { return builtIn("product") }

func builtIn(kind string) *Schema {
	text, err := kinds.ReadFile("kinds/" + kind + ".yaml")
	if err == nil {
		var s *Schema
		if s, err = ParseSchema(text); err == nil {
			return s
		}
	}
	panic(err) // cannot happen: a test parses all of them
}
