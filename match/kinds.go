// SPDX-License-Identifier: Apache-2.0

package match

import "embed"

//go:embed kinds/*.yaml
var kinds embed.FS

// Kinds are the built-in kinds, the one of records that name none first: place, person, product.
func Kinds() []*Schema { return []*Schema{Place(), Person(), Product()} }

// Place is a built-in kind: businesses, sights, offices, anything that
// stands somewhere. Nothing of it is required but one attribute that is compared.
// Every call returns a copy that the caller may change, to declare sources for example.
func Place() *Schema { return builtIn("place") }

// Person is a built-in kind: people, as customers or patients are listed.
func Person() *Schema { return builtIn("person") }

// Product is a built-in kind: things that are made and sold in numbers.
func Product() *Schema { return builtIn("product") }

func builtIn(kind string) *Schema {
	text, err := kinds.ReadFile("kinds/" + kind + ".yaml")
	if err == nil {
		var s *Schema
		if s, err = ParseSchema(text); err == nil {
			return s
		}
	}
	panic(err) // a test reads them all
}
