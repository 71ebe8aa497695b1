// SPDX-License-Identifier: Apache-2.0

package match

import "math"

// Field is one line of a comparison with its levels.
type Field struct {
	Name   string // as in an explanation and in the weights of a kind: "family name"
	Levels []FieldLevel
	// Fixed reports whether a kind cannot override its weights.
	Fixed bool
	// OfName reports whether the line compares the name: of a person both parts, of others what is left over, too.
	OfName bool
}

// FieldLevel is one comparison level of a field. The first level of a field means no evidence. A level without a text
// is not used by the style of the kind.
type FieldLevel struct {
	Text   string
	Weight Weight // of the kind, or else of its style, or else of the table
	// Counted reports whether the term-frequency table determines the level: by whether the values distinguish the
	// things of a series, or whether many records have a title. Weights learned from data keep the weight of such a
	// level.
	Counted bool
	// Contradicts reports whether two identifiers of the same type differ by more than a slip: tax numbers, model
	// numbers.
	Contradicts bool
	// Below is the number of the level of equal titles if this one is of titles with a word that tells things apart, 0
	// for other levels. Learned weights keep it far below that one.
	Below int
}

// Fields returns the fields by their number in a vector.
func (m *Matcher) Fields() []Field {
	fields := make([]Field, fieldCount)
	for f := range fieldCount {
		fields[f] = Field{Name: m.style.fieldName(f), Fixed: f == fieldSource || f == fieldRelation, OfName: f == fieldName || f == fieldResidual}
		for l, g := range m.style.grades(f) {
			if f == fieldName && level(l) == nameSkipped {
				g.word = "" // derived from the other levels
			}
			fields[f].Levels = append(fields[f].Levels, FieldLevel{
				g.word, m.weights[f][l], m.style.counts(f, level(l)), m.style.contradicts(f, level(l)), m.style.below(f, level(l)),
			})
		}
	}
	return fields
}

// counts reports whether a level means another thing of the same series, or a title of many records.
func (s Style) counts(f field, l level) bool {
	return f == fieldDate && l == dateSeries || f == fieldNumber && l == quantitySeries || f == fieldVariant && l == variantSeries ||
		s == StyleTitle && f == fieldName && l == nameChain
}

// below returns the level of titles without words of their own, if a level is for a word that tells titles apart.
func (s Style) below(f field, l level) int {
	if s == StyleTitle && f == fieldResidual && (l == titleVariant || l == titleVariants) {
		return int(residualNothing)
	}
	return 0
}

// contradicts reports whether a level means different identifiers.
func (s Style) contradicts(f field, l level) bool {
	switch f {
	case fieldID:
		return l == idDifferent || l == idWorldDifferent || l == idSeries
	case fieldResidual:
		return s == StyleTitle && l == residualNumbers
	}
	return false
}

// Level returns the level of a field by its number, 0 if there is no evidence.
func (v Vector) Level(f int) int { return int(v.level(field(f))) }

// Thorough returns a matcher for learning: it compares names even if they cannot raise the weight to 0, and leaves
// agreement by chance among many people to the prior.
func (m *Matcher) Thorough() *Matcher {
	thorough := *m
	thorough.nameMost = math.MaxInt16 / 2
	thorough.chance = false
	return &thorough
}

// Deduplicated reports whether the source of the record describes nothing twice.
func (r *Record) Deduplicated() bool { return r.dedup }
