// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// Matcher compares the records of one kind with the term frequencies. It is immutable and safe
// for concurrent use.
type Matcher struct {
	schema  *Schema
	terms   *TermFrequencies
	style   Style
	salt    string       // of blocking keys
	read    []*Attribute // the compared attributes
	labels  []*Attribute // texts that are not compared, whose words a title may have
	address string       // the compared address; "" if there is none or a different one
	weights [fieldCount][16]Weight
	quads   [16][16]Weight // the same by each four bits of a vector
	// threshold is the weight of a match: Threshold, unless With changed it.
	threshold Weight
	// names reports whether the kind has a field that identifies a thing.
	names bool
	// chance reports whether agreement in a few fields of persons is discounted by the number of persons, because no
	// prior was learned.
	chance bool
	told   map[*Attribute]gaps // gaps that distinguish things of one title
	// lasting is the usual duration of each attribute of durations.
	lasting map[*Attribute]float64
	credits bool            // the kind is one of titles with people
	shared  map[string]bool // attributes with ids that things of a series share
	prior   Weight          // see Prior
	among   Names           // see Among
	// nameMost is the highest possible sum of name and residual.
	nameMost Weight
}

// New returns a matcher. A nil term-frequency table means DefaultTermFrequencies.
func New(s *Schema, p *TermFrequencies) *Matcher {
	if p == nil {
		p = DefaultTermFrequencies()
	}
	m := &Matcher{schema: s, terms: p, style: s.Style(), threshold: Threshold, chance: s.Prior == 0,
		told: map[*Attribute]gaps{}, lasting: map[*Attribute]float64{}, shared: map[string]bool{}}
	m.prior = m.odds()
	if s.Kind != "place" {
		m.salt = s.Kind
	}
	addresses := 0
	for i := range s.Attributes {
		a := &s.Attributes[i]
		f := s.fieldOf(*a)
		if f == fieldCount {
			if m.style == StyleTitle && a.Type == TypeText && a.Role == RoleNone {
				m.labels = append(m.labels, a)
			}
			continue
		}
		m.read = append(m.read, a)
		if t := p.tells(a); t != 0 {
			m.told[a] = t
		}
		if usual := p.tokens[durationHash(a)]; usual > 0 {
			m.lasting[a] = float64(usual)
		}
		if p.tokens[sharedHash(a.Name)] > 0 {
			m.shared[a.Name] = true
		}
		m.credits = m.credits || m.style == StyleTitle && a.Type == TypePeople
		m.names = m.names || slices.Contains(naming[:], f)
		if a.Type == TypeAddress {
			addresses++
			m.address = a.Name
		}
	}
	if addresses > 1 {
		m.address = ""
	}
	m.weigh()
	return m
}

// weigh sets the weight of every level: from the kind, otherwise from its style, otherwise from the table.
func (m *Matcher) weigh() {
	for f := range fieldCount {
		own := m.schema.Weights[m.style.fieldName(f)]
		for l, g := range m.style.grades(f) {
			bits, ok := own[g.word]
			if !ok || l == 0 {
				bits = g.bits
			}
			if f == fieldPhone && l > int(phoneEqual) && !ok {
				bits = min(bits, m.weights[f][phoneEqual]) // a kind may lower the weight even of an unshared number
			}
			m.weights[f][l] = bits
		}
	}
	name, rest := m.weights[fieldName][:nameSkipped], m.weights[fieldResidual][:]
	m.nameMost = slices.Max(name) + slices.Max(rest)
	m.weights[fieldName][nameSkipped] = slices.Min(name) + slices.Min(rest)
	m.quarter()
}

// quarter sums the weights of the fields that share four bits.
func (m *Matcher) quarter() {
	for i := range m.quads {
		for bits := range Vector(16) {
			m.quads[i][bits] = 0
			for f := range fieldCount {
				if shift, _ := f.place(); int(shift)/4 == i {
					m.quads[i][bits] += m.weights[f][(bits << (4 * i)).level(f)]
				}
			}
		}
	}
}

// Schema returns the kind that the matcher compares.
func (m *Matcher) Schema() *Schema { return m.schema }

// TermFrequencies returns the term-frequency table of the matcher.
func (m *Matcher) TermFrequencies() *TermFrequencies { return m.terms }

// NormaliseValue returns the normal form of a raw value of an attribute, "" if it is a null value or the
// attribute is not declared.
func (m *Matcher) NormaliseValue(attribute, raw string) string {
	a, ok := m.schema.Attribute(attribute)
	if !ok {
		return ""
	}
	return normalValue(&a, raw)
}

// normalValue returns the normal form of a raw value.
func normalValue(a *Attribute, raw string) string {
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
		return strings.Join(parseEmails(raw), " ")
	case TypeGeo:
		return normalDegrees(raw, a)
	case TypeID:
		return normalID(a, raw)
	case TypeDate:
		return parseDate(raw).String()
	case TypeNumber:
		return normalNumber(raw)
	case TypeCategory:
		return normalCategory(raw)
	}
	return normalText(a, fold(raw))
}

// normalText returns the normal form of a folded name or text.
func normalText(a *Attribute, folded string) string {
	if a.Role == RolePostcode {
		return parsePostcode(folded)
	}
	if !isNothing(folded) {
		return folded
	}
	return ""
}
