// SPDX-License-Identifier: Apache-2.0

package match

// Attributes are a record's attributes as received: the attribute's name and
// its raw values, in order. A single value is a list of one; a number is its
// decimal text. Nothing in this package changes them.
type Attributes map[string][]string

// Type is what an attribute means to the matcher. A type brings a normaliser,
// features, levels of agreement and their bits.
type Type string

// The types of attributes.
const (
	TypeName     Type = "name"     // what people call the thing
	TypePhone    Type = "phone"    // a telephone number, any notation
	TypeAddress  Type = "address"  // house number, street, unit
	TypeGeo      Type = "geo"      // decimal degrees, WGS 84; Role says which
	TypeURL      Type = "url"      // a web page
	TypeEmail    Type = "email"    // a mailbox
	TypeCategory Type = "category" // a word or a path of words, "food > pizza"
	TypeText     Type = "text"     // anything; Role may give it a meaning
	TypeID       Type = "id"       // an identifier that a source gave the thing
)

// Role is what an attribute does for the attributes beside it.
type Role string

// The roles of attributes.
const (
	RoleNone      Role = ""
	RoleLocality  Role = "locality"  // the city or the like
	RolePostcode  Role = "postcode"  // the postal code
	RoleRegion    Role = "region"    // the state or the like
	RoleLatitude  Role = "latitude"  // of TypeGeo
	RoleLongitude Role = "longitude" // of TypeGeo
)

// Attribute declares one attribute of a kind.
type Attribute struct {
	Name      string // [a-z][a-z0-9_]{0,63}
	Type      Type
	Role      Role
	Many      bool // the merged view shows a list instead of one value
	Required  bool // a record without it is refused
	Tag       bool // a group of the rollups
	Dimension bool // a dimension of the rollups
}

// Source declares what is known about one source of records.
type Source struct {
	// Trust weighs the source's values in the merged view, above 0 to 1.
	// A source that is not declared has DefaultTrust.
	Trust float64
	// Deduplicated promises that the source describes nothing twice: two of
	// its records are never one entity.
	Deduplicated bool
}

// DefaultTrust is the trust in a source that nobody declared.
const DefaultTrust = 0.5

// Schema declares a kind of things: its attributes and what is known about its
// sources. It is read-only once a Matcher was made of it.
type Schema struct {
	Kind       string
	Version    int // part of the state: another version is another function
	Attributes []Attribute
	Sources    map[string]Source
}

// Attribute answers with the attribute of that name.
func (s *Schema) Attribute(name string) (Attribute, bool) {
	for _, a := range s.Attributes {
		if a.Name == name {
			return a, true
		}
	}
	return Attribute{}, false
}

// Trust answers with the trust in a source, DefaultTrust if it is not declared.
func (s *Schema) Trust(source string) float64 {
	if d, ok := s.Sources[source]; ok && d.Trust > 0 {
		return d.Trust
	}
	return DefaultTrust
}

// Kinds are the built-in kinds, the one of records that name none first.
func Kinds() []*Schema { return []*Schema{Place()} }

// Place is a built-in kind: businesses, sights, offices, anything that
// stands somewhere. Only the name is required. Every call answers with a copy
// that the caller may change, to declare sources for example.
func Place() *Schema {
	return &Schema{
		Kind:    "place",
		Version: 1,
		Attributes: []Attribute{
			{Name: "name", Type: TypeName, Required: true},
			{Name: "phones", Type: TypePhone, Many: true},
			{Name: "address", Type: TypeAddress},
			{Name: "city", Type: TypeText, Role: RoleLocality, Dimension: true},
			{Name: "region", Type: TypeText, Role: RoleRegion, Dimension: true},
			{Name: "postcode", Type: TypeText, Role: RolePostcode},
			{Name: "country", Type: TypeText, Dimension: true},
			{Name: "latitude", Type: TypeGeo, Role: RoleLatitude},
			{Name: "longitude", Type: TypeGeo, Role: RoleLongitude},
			{Name: "websites", Type: TypeURL, Many: true},
			{Name: "emails", Type: TypeEmail, Many: true},
			{Name: "category", Type: TypeCategory, Many: true, Tag: true},
			{Name: "hours", Type: TypeText, Many: true},
			{Name: "description", Type: TypeText},
			{Name: "vendor_id", Type: TypeID},
		},
		Sources: map[string]Source{},
	}
}
