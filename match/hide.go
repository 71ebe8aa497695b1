// SPDX-License-Identifier: Apache-2.0

package match

import "slices"

// Hiding returns the explanation of a pair of this kind for a reader who may not see some attributes. A line that shows
// values of one of them loses its values; level and weight stay. Blocking keys lose their text and hash, because they
// combine several attributes and could be guessed by trying.
func (s *Schema) Hiding(e Explanation, hides func(attribute string) bool) Explanation {
	shows := s.showing(hides)
	if !slices.Contains(shows[:], true) {
		return e
	}
	e.Lines, e.BlockingKeys = slices.Clone(e.Lines), slices.Clone(e.BlockingKeys)
	for i := range e.Lines {
		line := &e.Lines[i]
		f := s.Style().fieldNamed(line.Attribute)
		if f == fieldCount || !shows[f] {
			continue
		}
		if line.Hidden = len(line.A)+len(line.B) > 0; line.Hidden {
			line.A, line.B = nil, nil
		}
		if f == fieldRelation && e.Outcome == PartOf { // its level names both
			line.Level, line.Hidden = "one is a part of the other", true
		}
	}
	for i := range e.BlockingKeys {
		e.BlockingKeys[i] = SharedKey{Kind: e.BlockingKeys[i].Kind, Hidden: true}
	}
	return e
}

// showing returns the fields whose lines show values of hidden attributes.
func (s *Schema) showing(hides func(attribute string) bool) (shows [fieldCount]bool) {
	for _, a := range s.Attributes {
		f := s.fieldOf(a)
		if f == fieldCount || !hides(a.Name) {
			continue
		}
		shows[f] = true
		shows[fieldBox] = shows[fieldBox] || f == fieldEmail
		if f == fieldName {
			shows[fieldRelation], shows[fieldSize], shows[fieldColour] = true, true, true
			shows[fieldResidual] = shows[fieldResidual] || s.Style() == StyleBusiness
		}
		if s.Style() == StyleTitle && slices.Contains(words, f) {
			shows[fieldResidual], shows[fieldText] = true, true
		}
	}
	return shows
}

// words are the fields of a title whose words are in one bag.
var words = []field{fieldName, fieldResidual, fieldCategory, fieldPeople, fieldID, fieldText}

// Near reports whether comparing values of an attribute would let a reader guess, by trying, values that the reader may
// not see: values of the attribute itself, of other attributes of its type, of parts of a name or an address, and all
// words of titles.
func (s *Schema) Near(attribute string, hides func(attribute string) bool) bool {
	near := func(name string) []field {
		a, _ := s.Attribute(name)
		f := s.fieldOf(a)
		for _, group := range [][]field{
			words, // the words of a category distinguish parts of things from whole things
			{fieldAddress, fieldDistance, fieldPostcode, fieldCity, fieldRegion},
			{fieldWeb, fieldEmail},
		} {
			if slices.Contains(group, f) {
				return group
			}
		}
		return []field{f}
	}
	own := near(attribute)
	return hides(attribute) || slices.ContainsFunc(s.Attributes, func(a Attribute) bool {
		return hides(a.Name) && s.fieldOf(a) != fieldCount && slices.Contains(own, s.fieldOf(a))
	})
}
