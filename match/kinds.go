// SPDX-License-Identifier: Apache-2.0

package match

import (
	"embed"
	"maps"
	"slices"
	"sync"
)

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

// builtInAliases are the aliases of the built-in kinds, by kind and attribute.
var builtInAliases = sync.OnceValue(func() map[string]map[string]Attribute {
	all := map[string]map[string]Attribute{}
	for _, s := range Kinds() {
		all[s.Kind] = map[string]Attribute{}
		for _, a := range s.Attributes {
			all[s.Kind][a.Name] = a
		}
	}
	return all
})

// AliasesOf returns the aliases of an attribute. A kind without aliases that has the name of a built-in kind, as stored
// by an earlier release, gets the built-in aliases for attributes of the same name and type.
func (s *Schema) AliasesOf(attribute string) []string {
	a, ok := s.Attribute(attribute)
	if !ok || len(a.Aliases) > 0 || slices.ContainsFunc(s.Attributes, func(a Attribute) bool { return len(a.Aliases) > 0 }) {
		return a.Aliases
	}
	if known := builtInAliases()[s.Kind][attribute]; known.Type == a.Type {
		return known.Aliases
	}
	return nil
}

func builtIn(kind string) *Schema {
	s := *parsedKinds()[kind]
	s.Sources, s.Weights = maps.Clone(s.Sources), maps.Clone(s.Weights) // empty
	s.Attributes = slices.Clone(s.Attributes)
	for i := range s.Attributes {
		s.Attributes[i].Aliases = slices.Clone(s.Attributes[i].Aliases)
	}
	return &s
}

// parsedKinds parses the built-in kinds once, because every installation starts with them.
var parsedKinds = sync.OnceValue(func() map[string]*Schema {
	all := map[string]*Schema{}
	for _, kind := range []string{"place", "person", "product"} {
		text, err := kinds.ReadFile("kinds/" + kind + ".yaml")
		if err == nil {
			all[kind], err = ParseSchema(text)
		}
		if err != nil {
			panic(err) // cannot happen, because a test parses all of them
		}
	}
	return all
})
