// SPDX-License-Identifier: Apache-2.0

package match

import "strconv"

// Explanation explains the result of a comparison. Its lines sum exactly to its score.
type Explanation struct {
	A        NodeKey         `json:"a"`
	B        NodeKey         `json:"b"`
	Outcome  Outcome         `json:"outcome"`
	Score    Score           `json:"bits"` // in bits
	Lines    []Line          `json:"lines"`
	Features []SharedFeature `json:"features"` // the features that both share
}

// Line is the contribution of one field.
type Line struct {
	Attribute string   `json:"attribute"`
	Level     string   `json:"level"`
	Bits      Score    `json:"bits"`
	Default   *Score   `json:"default_bits,omitempty"` // of all kinds, if this kind overrides it
	A         []string `json:"a,omitempty"`            // raw values of the first record
	B         []string `json:"b,omitempty"`
}

// SharedFeature is a feature that both records have.
type SharedFeature struct {
	Hash uint64      `json:"hash,string"`
	Kind FeatureKind `json:"kind"`
	Text string      `json:"text"`
}

// Explain describes the vector of two records, ordered by source and key.
func (m *Matcher) Explain(a, b *Record, v Vector) Explanation {
	x, y := NodeKey{a.source, a.key}, NodeKey{b.source, b.key}
	if x.Compare(y) > 0 {
		a, b, x, y = b, a, y, x
	}
	score := m.Score(v)
	e := Explanation{A: x, B: y, Outcome: m.Decide(v), Score: score, Lines: []Line{}, Features: shared(a, b)}
	for f := range fieldCount {
		l := v.level(f)
		if l == levelNone {
			continue
		}
		line := Line{Attribute: m.style.fieldName(f), Level: m.style.grades(f)[l].word, Bits: m.bits[f][l], A: a.raw(f), B: b.raw(f)}
		if bits := m.style.grades(f)[l].bits; bits != line.Bits {
			line.Default = &bits
		}
		if f == fieldRelation {
			line.Level = relationWord(a, b, l)
		}
		e.Lines = append(e.Lines, line)
	}
	if without := m.sum(v); without != score {
		e.Lines = append(e.Lines, Line{Attribute: "naming", Level: "nothing that both have names the thing", Bits: score - without})
	}
	return e
}

// relationWord names the part and the whole, so that the text is correct whichever record is shown first.
func relationWord(a, b *Record, l level) string {
	switch l {
	case relationFirstPart:
		return a.rawName() + " is a part of " + b.rawName()
	case relationSecondPart:
		return b.rawName() + " is a part of " + a.rawName()
	default:
		return table[fieldRelation][l].word
	}
}

func (r *Record) rawName() string {
	for _, raw := range r.raw(fieldName) {
		if !isNothing(fold(raw)) {
			return strconv.Quote(raw)
		}
	}
	return strconv.Quote("")
}

// raw returns the raw values that a field uses.
func (r *Record) raw(f field) []string {
	var values []string
	for _, a := range r.matcher.schema.Attributes {
		if fieldOf(a) == f {
			values = append(values, r.attributes[a.Name]...)
		}
	}
	return values
}

// fieldOf returns the field that an attribute is compared in, fieldCount if there is none.
func fieldOf(a Attribute) field {
	switch a.Type {
	case TypeName:
		if a.Role == RoleGiven {
			return fieldResidual
		}
		return fieldName
	case TypeDate:
		return fieldDate
	case TypeNumber:
		return fieldNumber
	case TypePhone:
		return fieldPhone
	case TypeAddress:
		return fieldAddress
	case TypeGeo:
		return fieldDistance
	case TypeURL:
		return fieldWeb
	case TypeEmail:
		return fieldEmail
	case TypeCategory:
		return fieldCategory
	case TypeID:
		return fieldID
	case TypeText:
		switch a.Role {
		case RoleLocality:
			return fieldCity
		case RolePostcode:
			return fieldPostcode
		case RoleRegion:
			return fieldRegion
		}
	}
	return fieldCount
}

// shared merges the ordered features of both.
func shared(a, b *Record) []SharedFeature {
	both := []SharedFeature{}
	for i, j := 0, 0; i < len(a.features) && j < len(b.features); {
		switch x, y := a.features[i].Hash, b.features[j].Hash; {
		case x < y:
			i++
		case x > y:
			j++
		default:
			kind, text, _ := a.Feature(x)
			both = append(both, SharedFeature{Hash: x, Kind: kind, Text: text})
			i, j = i+1, j+1
		}
	}
	return both
}

// Facing returns the explanation with the values of the given record on its first side.
func (e Explanation) Facing(first NodeKey) Explanation {
	if e.A == first {
		return e
	}
	e.A, e.B = e.B, e.A
	for i := range e.Lines {
		e.Lines[i].A, e.Lines[i].B = e.Lines[i].B, e.Lines[i].A
	}
	return e
}
