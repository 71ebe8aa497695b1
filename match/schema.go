// SPDX-License-Identifier: Apache-2.0

package match

import "slices"

// Attributes are a record's attributes as received: attribute name to raw values, in order. A single value
// is a list of one; a number is decimal text. This package never changes them.
type Attributes map[string][]string

// Type is the meaning of an attribute to the matcher. It determines the normaliser, the blocking keys, and the
// comparison levels with their match weights.
type Type string

// The types of attributes.
const (
	TypeName     Type = "name"     // what people call the thing
	TypePhone    Type = "phone"    // a phone number, in any notation
	TypeAddress  Type = "address"  // house number, street, unit
	TypeGeo      Type = "geo"      // degrees, WGS 84, in any notation; Role distinguishes latitude and longitude
	TypeURL      Type = "url"      // a web page
	TypeEmail    Type = "email"    // a mailbox
	TypeCategory Type = "category" // a word or a path of words, "food > pizza"
	// makers or people in a thing, such as authors or a cast; a list in one value or in several
	TypePeople Type = "people"
	// anything; Role may give it a meaning; its words are compared with a title of StyleTitle
	TypeText   Type = "text"
	TypeNumber Type = "number" // a quantity: a price, a width
	TypeDate   Type = "date"   // a day, a month or a year
	TypeID     Type = "id"     // an identifier assigned by a source
)

// Role is the function of an attribute among the others.
type Role string

// The roles of attributes.
const (
	RoleNone     Role = ""
	RoleLocality Role = "locality" // the city or the like
	RolePostcode Role = "postcode" // the postal code
	RoleRegion   Role = "region"   // the state or the like
	RoleCountry  Role = "country"  // the country
	// of TypeText: a colour, a size, a version; compared if it distinguishes things of one name
	RoleVariant   Role = "variant"
	RoleNote      Role = "note"      // of TypeText: shown, not compared
	RoleLatitude  Role = "latitude"  // of TypeGeo
	RoleLongitude Role = "longitude" // of TypeGeo
	RoleGiven     Role = "given"     // of TypeName: the given names of a person
	RoleFamily    Role = "family"    // of TypeName: the family name of a person
)

// Style determines how the names of a kind are parsed and compared.
type Style string

// The styles of names.
const (
	StyleBusiness Style = "business" // the default: words weigh by their rarity
	StylePerson   Style = "person"   // given and family names, initials, nicknames, swapped parts
	StyleTitle    Style = "title"    // of a product or a work: model numbers must agree, all text is compared
)

// Scope is the validity of an identifier.
type Scope string

// The scopes of identifiers.
const (
	ScopeSource Scope = "source" // the default: within one source; different ids are different things
	ScopeWorld  Scope = "world"  // valid across sources, with possible typos
)

// Attribute declares one attribute of a kind.
type Attribute struct {
	Name      string // [a-z][a-z0-9_]{0,63}
	Type      Type
	Role      Role
	Style     Style  // of TypeName; "" is StyleBusiness
	Scope     Scope  // of TypeID; "" is ScopeSource
	Region    string // of TypePhone: the attribute with the country of numbers without a country code
	HalfLife  int    // days after which a value counts half in the merged view; 0 is the default
	Many      bool   // the merged view shows a list instead of one value
	Required  bool   // a record without it is refused
	Tag       bool   // a group of the rollups
	Dimension bool   // a dimension of the rollups
	// Aliases are other names of columns with such values: letters of any script, digits and _, without capitals and
	// accents. They are used to recognise files and not to match records, so Schema.Hash leaves them out.
	Aliases []string
}

// Source declares the properties of one source of records.
type Source struct {
	// Trust is the weight of the source's values in the merged view, above 0 to 1. A source that is not
	// declared has DefaultTrust.
	Trust float64
	// Attributes override Trust for some attributes.
	Attributes map[string]float64
	// Deduplicated states that the source describes nothing twice: two of its records are never one entity.
	Deduplicated bool
}

// DefaultTrust is the trust in an undeclared source.
const DefaultTrust = 0.5

// Schema declares a kind of things: its attributes and the properties of its sources. It must not change
// once a Matcher uses it.
type Schema struct {
	Kind       string
	Version    int // part of the state: another version gives other results
	Attributes []Attribute
	Sources    map[string]Source
	// Prior is the weight of a pair before its fields are compared, in hundredths of a bit: the logarithm of the odds
	// that two records, taken at random, describe the same thing. The built-in weights already contain one, so it is 0
	// with them; weights from package learn need their own.
	Prior Weight
	// Weights override the match weights of levels, in hundredths of a bit, by the name of a line of an explanation
	// and the text of the level.
	Weights map[string]map[string]Weight
}

// NameOf returns the first name among attributes, "" if there is none.
func (s *Schema) NameOf(of map[string][]string) string {
	for _, a := range s.Attributes {
		if a.Type == TypeName && len(of[a.Name]) > 0 {
			return of[a.Name][0]
		}
	}
	return ""
}

// Attribute returns the attribute of that name, and whether it exists.
func (s *Schema) Attribute(name string) (Attribute, bool) {
	for i := range s.Attributes {
		if s.Attributes[i].Name == name {
			return s.Attributes[i], true
		}
	}
	return Attribute{}, false
}

// Shows reports whether an attribute is in the merged view alone: it is declared and not compared.
func (s *Schema) Shows(name string) bool {
	a, declared := s.Attribute(name)
	return declared && s.fieldOf(a) == fieldCount
}

// Style returns the style of the kind's names.
func (s *Schema) Style() Style {
	for _, a := range s.Attributes {
		if a.Type == TypeName && a.Style != "" {
			return a.Style
		}
	}
	return StyleBusiness
}

// Blocks returns the groups of attributes whose values a merged view takes from one place instead of mixing
// records: the address with its postcode, city, region and country, and the latitude with the longitude.
// The first attribute of a block is the most specific. A list attribute is in no block.
func (s *Schema) Blocks() [][]string {
	address := s.block(func(a Attribute) bool { return a.Type == TypeAddress }, RolePostcode, RoleLocality, RoleRegion, RoleCountry)
	point := s.block(func(Attribute) bool { return false }, RoleLatitude, RoleLongitude)
	return slices.DeleteFunc([][]string{address, point}, func(block []string) bool { return len(block) < 2 })
}

// block lists the attributes that match first, then those with the roles, in the order of the roles.
func (s *Schema) block(first func(Attribute) bool, roles ...Role) (names []string) {
	for _, a := range s.Attributes {
		if first(a) && !a.Many {
			names = append(names, a.Name)
		}
	}
	for _, role := range roles {
		for _, a := range s.Attributes {
			if a.Role == role && !a.Many {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// Trust returns the trust in a source, DefaultTrust if it is not declared.
func (s *Schema) Trust(source string) float64 {
	if d, ok := s.Sources[source]; ok && d.Trust > 0 {
		return d.Trust
	}
	return DefaultTrust
}

// TrustIn returns the trust in a source for an attribute.
func (s *Schema) TrustIn(source, attribute string) float64 {
	if trust := s.Sources[source].Attributes[attribute]; trust > 0 {
		return trust
	}
	return s.Trust(source)
}
