// SPDX-License-Identifier: Apache-2.0

package match

import "strconv"

// Explanation explains the result of a comparison. Its lines sum exactly to its weight.
type Explanation struct {
	A            NodeKey     `json:"a"`
	B            NodeKey     `json:"b"`
	Outcome      Outcome     `json:"outcome"`
	Weight       Weight      `json:"match_weight"` // in bits
	Lines        []Line      `json:"lines"`
	BlockingKeys []SharedKey `json:"blocking_keys"` // the blocking keys that both share
}

// Line is the contribution of one field.
type Line struct {
	Attribute     string   `json:"attribute"`
	Level         string   `json:"level"`
	Weight        Weight   `json:"match_weight"`
	DefaultWeight *Weight  `json:"default_match_weight,omitempty"` // of all kinds, if this kind overrides it
	A             []string `json:"a,omitempty"`                    // raw values of the first record
	B             []string `json:"b,omitempty"`
	Hidden        bool     `json:"hidden,omitempty"` // there are values, which the reader may not see; see Schema.Hiding
}

// SharedKey is a blocking key that both records have.
type SharedKey struct {
	Hash   uint64  `json:"hash,string"`
	Kind   KeyKind `json:"kind"`
	Text   string  `json:"text"`
	Hidden bool    `json:"hidden,omitempty"` // Hash and Text are withheld
}

// Explain describes the vector of two records, ordered by source and key.
func (m *Matcher) Explain(a, b *Record, v Vector) Explanation {
	x, y := NodeKey{a.source, a.key}, NodeKey{b.source, b.key}
	if x.Compare(y) > 0 {
		a, b, x, y = b, a, y, x
	}
	weight := m.Sum(v)
	e := Explanation{A: x, B: y, Outcome: m.Decide(v), Weight: weight, Lines: []Line{}, BlockingKeys: shared(a, b)}
	if prior := m.prior; prior != 0 {
		e.Lines = append(e.Lines, Line{Attribute: "prior", Level: "any two records", Weight: prior})
	}
	for f := range fieldCount {
		l := v.level(f)
		if l == levelNone {
			continue
		}
		line := Line{Attribute: m.style.fieldName(f), Level: m.style.grades(f)[l].word, Weight: m.weights[f][l], A: a.raw(f), B: b.raw(f)}
		if f == fieldResidual && m.style.keeps(l) {
			line.A, line.B = a.kept(b, l)
		} else if f == fieldResidual && a.title != nil {
			line.A, line.B = append(line.A, a.title.writtenApart(b.title)...), append(line.B, b.title.writtenApart(a.title)...)
		}
		if bits := m.style.grades(f)[l].bits; bits != line.Weight {
			line.DefaultWeight = &bits
		}
		if f == fieldRelation {
			line.Level = relationWord(a, b, l)
		}
		e.Lines = append(e.Lines, line)
	}
	if without := m.total(v); without != weight {
		e.Lines = append(e.Lines, Line{Attribute: "naming", Level: "nothing that both have names the thing", Weight: weight - without})
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

// raw returns the raw values that a field uses. The residual, the size and the colour use single words,
// which are shown folded.
func (r *Record) raw(f field) []string {
	var values []string
	switch {
	case r.title != nil && f == fieldResidual:
		return r.title.distinguishing()
	case r.title != nil && f == fieldSize:
		return r.title.sizes()
	case r.title != nil && f == fieldColour:
		return r.title.colourWords()
	case r.matcher.style == StyleBusiness && f == fieldResidual && r.name.form.text != "":
		return []string{r.name.form.text}
	}
	if f == fieldBox {
		f = fieldEmail
	}
	for _, a := range r.matcher.schema.Attributes {
		of := r.matcher.schema.fieldOf(a)
		// they are in the bag, too
		if of == f || f == fieldText && (of == fieldName || of == fieldCategory || of == fieldPeople) {
			values = append(values, r.attributes[a.Name]...)
		}
	}
	if f == fieldPeople && len(values) == 0 && len(r.people) > 0 { // they are named in the title
		return r.raw(fieldName)
	}
	return values
}

// keeps reports whether a level of fieldResidual is about the words that one name has and the other lacks.
func (s Style) keeps(l level) bool {
	switch l {
	case residualRare, residualSomething:
		return s != StylePerson
	case residualNumbers, residualPart, residualAlone, residualSister:
		return s == StyleBusiness
	case titleNumber, titleNumbers, titleVolume, titleVariant, titleVariants:
		return s == StyleTitle
	}
	return false
}

// kept returns the words of each name that the other lacks, folded: the numbers only, if the level is about them.
func (r *Record) kept(other *Record, of level) (own, others []string) {
	if r.content > other.content { // as they were compared
		others, own = other.kept(r, of)
		return own, others
	}
	x, y := &r.name, &other.name
	l := align(x.tokens, y.tokens)
	if r.matcher.style == StyleBusiness {
		l.abbreviations(x.tokens, y.tokens)
	}
	if r.title != nil {
		l.usedA, l.usedB = r.title.met(l.usedA, other.title), other.title.met(l.usedB, r.title)
	}
	numbers := of == titleNumber || of == titleNumbers || of == residualNumbers
	return keptWords(x.tokens, l.usedA, numbers), keptWords(y.tokens, l.usedB, numbers)
}

// fieldOf returns the field that compares an attribute, fieldCount if there is none.
func (s *Schema) fieldOf(a Attribute) field {
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
	case TypePeople:
		return fieldPeople
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
		case RoleCountry:
			if s.Style() != StyleTitle {
				return fieldRegion
			}
		case RoleVariant:
			if s.Style() != StylePerson {
				return fieldVariant
			}
		case RoleNone:
			if s.Style() == StyleTitle && !a.Tag && !a.Dimension {
				return fieldText
			}
		}
	}
	return fieldCount
}

// shared merges the ordered blocking keys of both.
func shared(a, b *Record) []SharedKey {
	both := []SharedKey{}
	for i, j := 0, 0; i < len(a.keys) && j < len(b.keys); {
		switch x, y := a.keys[i].Hash, b.keys[j].Hash; {
		case x < y:
			i++
		case x > y:
			j++
		default:
			kind, text, _ := a.BlockingKey(x)
			both = append(both, SharedKey{Hash: x, Kind: kind, Text: text})
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
