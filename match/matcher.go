// SPDX-License-Identifier: Apache-2.0

package match

import "slices"

// Matcher compares the records of one kind under one pack. It is immutable and
// safe for use by many goroutines.
type Matcher struct {
	schema *Schema
	pack   *Pack
	read   []*Attribute // the attributes that are compared
	bits   [fieldCount][16]Score
	// threshold is what a pair needs to be one thing: Threshold, but in a supposition.
	threshold Score
	// nameMost is the most that name and residual can bring.
	nameMost Score
}

// New makes a matcher. A nil pack is DefaultPack.
func New(s *Schema, p *Pack) *Matcher {
	if p == nil {
		p = DefaultPack()
	}
	m := &Matcher{schema: s, pack: p, threshold: Threshold}
	for i := range s.Attributes {
		if fieldOf(s.Attributes[i]) != fieldCount {
			m.read = append(m.read, &s.Attributes[i])
		}
	}
	for f := range fieldCount {
		for l, g := range table[f] {
			m.bits[f][l] = g.bits
		}
	}
	m.nameMost = slices.Max(m.bits[fieldName][:]) + slices.Max(m.bits[fieldResidual][:])
	return m
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
		return parseID(raw)
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
