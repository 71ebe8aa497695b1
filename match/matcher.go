// SPDX-License-Identifier: Apache-2.0

package match

import "slices"

// Matcher compares the records of one kind under one pack. It is immutable and
// safe for use by many goroutines.
type Matcher struct {
	schema *Schema
	pack   *Pack
	style  Style
	salt   string       // of features
	read   []*Attribute // the attributes that are compared
	bits   [fieldCount][16]Score
	// threshold is what a pair needs to be one thing: Threshold, but in a supposition.
	threshold Score
	// names says that the kind has a field that names a thing.
	names bool
	among Names // see Among
	// nameMost is the most that name and residual can bring.
	nameMost Score
}

// New makes a matcher. A nil pack is DefaultPack.
func New(s *Schema, p *Pack) *Matcher {
	if p == nil {
		p = DefaultPack()
	}
	m := &Matcher{schema: s, pack: p, style: s.Style(), threshold: Threshold}
	if s.Kind != "place" {
		m.salt = s.Kind
	}
	for i := range s.Attributes {
		if f := fieldOf(s.Attributes[i]); f != fieldCount {
			m.read = append(m.read, &s.Attributes[i])
			m.names = m.names || slices.Contains(naming[:], f)
		}
	}
	m.weigh()
	return m
}

// weigh looks up the bits of every level: those of the kind, of its style, or of the table.
func (m *Matcher) weigh() {
	for f := range fieldCount {
		own := m.schema.Bits[m.style.fieldName(f)]
		for l, g := range m.style.grades(f) {
			bits, ok := own[g.word]
			if !ok || l == 0 {
				bits = g.bits
			}
			if f == fieldPhone && l > int(phoneEqual) && !ok {
				bits = min(bits, m.bits[f][phoneEqual]) // a kind may hold even one's own number to say less
			}
			m.bits[f][l] = bits
		}
	}
	name, rest := m.bits[fieldName][:nameSkipped], m.bits[fieldResidual][:]
	m.nameMost = slices.Max(name) + slices.Max(rest)
	m.bits[fieldName][nameSkipped] = slices.Min(name) + slices.Min(rest)
}

// Schema answers with the kind that the matcher compares.
func (m *Matcher) Schema() *Schema { return m.schema }

// Pack answers with the statistics that the matcher weighs by.
func (m *Matcher) Pack() *Pack { return m.pack }

// NormaliseValue is the normal form of a raw value of an attribute, "" where it
// says nothing or the attribute is not declared.
func (m *Matcher) NormaliseValue(attribute, raw string) string {
	a, ok := m.schema.Attribute(attribute)
	if !ok {
		return ""
	}
	switch a.Type {
	case TypePhone:
		p, _ := parsePhone(raw)
		return p.text
	case TypeAddress:
		return parseAddress(fold(raw)).text
	case TypeURL:
		p, _ := parsePage(raw)
		return p.text
	case TypeEmail:
		e, _ := parseEmail(raw)
		return e
	case TypeGeo:
		return normalDegrees(raw, a.degrees())
	case TypeID:
		return normalID(&a, raw)
	case TypeDate:
		return parseDate(raw).String()
	case TypeNumber:
		return normalNumber(raw)
	case TypeCategory:
		return normalCategory(raw)
	}
	if a.Role == RolePostcode {
		return parsePostcode(fold(raw))
	}
	if folded := fold(raw); !isNothing(folded) {
		return folded
	}
	return ""
}
