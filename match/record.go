// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Record is a normalised record: the attributes as received, and all values that blocking keys and comparisons need,
// computed once. It is immutable and safe for concurrent use.
type Record struct {
	source, key string
	attributes  Attributes
	matcher     *Matcher

	name       name
	phones     []phone
	address    address
	point      point
	postcode   string
	city       string
	romanCity  bool   // see name.roman
	cityWeight weight // of persons
	region     string // its code, if written as one
	country    string // its code, but of titles: a work may be of several
	categories categories
	people     people
	pages      []page
	emails     []string
	shared     uint16 // bit i: emails[i] is a firm's, or many names have it
	ids        []identifier
	dates      []dated
	numbers    []quantity
	variants   []variant
	person     person // of style person
	title      *title // of style title
	brand      string // of style title: the first category
	dedup      bool   // the source is deduplicated
	keys       []BlockingKey
	content    uint64 // see hash
	equal      uint64 // see Equal
}

type identifier struct {
	attribute string
	value     string
	world     bool
}

// parseID returns an identifier without surrounding space, "" for a null value.
func parseID(raw string) string {
	if v := strings.TrimSpace(raw); !isNothing(fold(v)) {
		return v
	}
	return ""
}

// Normalise normalises a record. It is pure: equal input gives an equal record on every machine. It keeps
// a, which must not change afterwards, and never fails: an unreadable value counts as missing.
func (m *Matcher) Normalise(source, key string, a Attributes) *Record {
	r := &Record{source: source, key: key, attributes: a, matcher: m, dedup: m.schema.Sources[source].Deduplicated}
	var latitude, longitude string
	var given, family, whole string
	var texts []string
	for _, attribute := range m.read {
		values := a[attribute.Name]
		if len(values) == 0 {
			continue
		}
		switch attribute.Type {
		case TypeName:
			switch {
			case m.style == StyleBusiness:
				r.name, whole = parseBusiness(m.terms, first(values)), firstSaid(values)
			case attribute.Role == RoleGiven:
				given = firstSaid(values)
			case attribute.Role == RoleFamily:
				family = firstSaid(values)
			default:
				whole = firstSaid(values)
			}
		case TypePhone:
			r.addPhones(values)
		case TypeAddress:
			r.address = parseAddress(first(values))
		case TypeGeo:
			if attribute.Role == RoleLatitude {
				latitude = values[0]
			} else {
				longitude = values[0]
			}
		case TypeURL:
			r.addPages(values)
		case TypeEmail:
			r.addEmails(values)
		case TypeCategory:
			r.addCategories(values)
			if r.brand == "" && m.style == StyleTitle {
				r.brand = first(values)
			}
		case TypePeople:
			r.people = parsePeople(r.people, values)
		case TypeDate:
			r.addDate(attribute, values)
		case TypeNumber:
			r.addNumber(attribute, values)
		case TypeID:
			if v := normalID(attribute, values[0]); v != "" {
				r.ids = append(r.ids, identifier{attribute.Name, v, attribute.Scope == ScopeWorld})
			}
		case TypeText:
			switch attribute.Role {
			case RoleLocality:
				r.city, r.romanCity = romanise(plainVowels(spellWords(first(values))))
			case RolePostcode:
				r.postcode = parsePostcode(first(values))
			case RoleVariant:
				r.addVariant(attribute, values)
			case RoleRegion:
				r.region = regionCode(first(values))
			case RoleCountry:
				if m.style != StyleTitle {
					r.country = countryOf(first(values))
				}
			case RoleNone:
				texts = append(texts, values...)
			}
		}
	}
	if latitude != "" && longitude != "" {
		r.point = parsePoint(latitude, longitude)
	}
	if r.postcode == "" {
		r.postcode = r.address.postcode
	}
	if m.style == StylePerson {
		r.cityWeight = m.terms.ofCity(r.city)
	}
	if m.style != StyleBusiness {
		r.readName(given, family, whole)
	} else {
		r.name.markPlace(m.terms, r.city)
		r.name.markCity(r.city)
		if m.terms.rough() && r.point.valid() {
			r.name.markQualifiers(m.terms, whole)
		}
	}
	if m.style == StyleTitle {
		r.readText(texts)
	}
	r.content = r.hash()
	r.keys = r.collect()
	for _, f := range r.keys {
		if f.Kind == KeyEqual {
			r.equal = f.Hash
		}
	}
	return r
}

// Source returns the source of the record.
func (r *Record) Source() string { return r.source }

// Key returns the source's own key of the record.
func (r *Record) Key() string { return r.key }

// Attributes returns the attributes as received. The caller must not change them.
func (r *Record) Attributes() Attributes { return r.attributes }

// Value returns the normal form of raw value i of an attribute, "" for a null value. Values with the same
// normal form are equal: they support each other in a merged view and match in a search. A phone number
// without a country code gets that of the record's country, if the schema names the attribute of the
// country.
func (r *Record) Value(attribute string, i int) string {
	a, ok := r.matcher.schema.Attribute(attribute)
	if !ok || i < 0 || i >= len(r.attributes[attribute]) {
		return ""
	}
	return r.Said(&a, i).Normal
}

// first returns the first value that is not a null value, folded.
func first(values []string) string {
	for _, v := range values {
		if folded := fold(v); !isNothing(folded) {
			return folded
		}
	}
	return ""
}

func (r *Record) addPhones(values []string) {
	r.phones = make([]phone, 0, min(len(values), maxPhones))
	for _, raw := range values {
		if len(r.phones) == maxPhones {
			break
		}
		p, ok := parsePhone(raw)
		if !ok || slices.ContainsFunc(r.phones, func(q phone) bool { return q.text == p.text }) {
			continue
		}
		if len(r.phones) < keyPhones {
			p.key = hashKey(r.matcher.salt, KeyPhone, p.digits())
		}
		r.phones = append(r.phones, p)
	}
}

func (r *Record) addPages(values []string) {
	for _, raw := range values {
		if len(r.pages) == maxPages {
			break
		}
		p, ok := parsePage(raw)
		if !ok || slices.ContainsFunc(r.pages, func(q page) bool { return q.hash == p.hash }) {
			continue
		}
		r.pages = append(r.pages, p)
	}
}

func (r *Record) addEmails(values []string) {
	for _, raw := range values {
		for _, e := range parseEmails(raw) {
			if len(r.emails) == maxPages || slices.Contains(r.emails, e) {
				continue
			}
			if r.matcher.sharedBox(e) {
				r.shared |= 1 << len(r.emails)
			}
			r.emails = append(r.emails, e)
		}
	}
}

// spot returns a hash that distinguishes the places of a chain.
func (r *Record) spot() uint64 {
	where := r.postcode
	if where == "" {
		where = r.city
	}
	return xxhash.Sum64String(where + "|" + r.address.text)
}
