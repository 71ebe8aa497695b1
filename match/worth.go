// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// worthWords is the number of words above which a name or an address is not worth more.
const worthWords = 8

// Said is a raw value of a record, normalised.
type Said struct {
	Normal string // see Record.Value
	Alone  string // see Matcher.NormaliseValue
	Worth  int    // see Record.Worth
	Local  string // of a phone number without a country code: the end that it has in common with the full number

	raw, folded string // folded is "" if it was not needed
}

// Words returns NameTokens of the raw value.
func (s *Said) Words() []string {
	if s.folded == "" {
		return NameTokens(s.raw)
	}
	return nameTokens(s.folded)
}

// Said returns raw value i of an attribute, normalised. The attribute must have that many values.
func (r *Record) Said(a *Attribute, i int) Said {
	address := ""
	if i == 0 && a.Name == r.matcher.address {
		address = r.address.text
	}
	return said(a, r.attributes, i, address)
}

// Said returns the same as Record.Said for a record with these attributes, without normalising the whole record.
func (m *Matcher) Said(a *Attribute, attributes Attributes, i int) Said {
	return said(a, attributes, i, "")
}

// said takes the normal form of an address from the record if the record has it.
func said(a *Attribute, attributes Attributes, i int, address string) Said {
	s := Said{Worth: 100, raw: attributes[a.Name][i]}
	switch a.Type {
	case TypeName:
		s.folded = fold(s.raw)
		s.Alone, s.Worth = normalText(a, s.folded), worthOf(s.folded)
	case TypeAddress:
		s.folded = fold(s.raw)
		s.Worth = worthOf(s.folded)
		if s.Alone = address; address == "" || isNothing(s.folded) {
			s.Alone = parseAddress(s.folded).text
		}
	case TypeURL:
		p, ok := parsePage(s.raw)
		if s.Alone = p.text; ok && p.domain == "" {
			s.Worth = 50
		}
	default:
		if a.Type == TypeCategory && i > 0 {
			s.Worth = 30
		}
		s.Alone = normalValue(a, s.raw)
	}
	s.Normal = s.Alone
	if a.Type == TypePhone && s.Normal != "" {
		if a.Region != "" {
			s.Normal = international(s.Normal, first(attributes[a.Region]))
		}
		s.Local = localPart(s.Normal)
	}
	return s
}

// worthOf returns the worth of a folded name or address.
func worthOf(folded string) int {
	return 100 * min(strings.Count(folded, " ")+1, worthWords) / worthWords
}

// Worth returns the information content of raw value i of an attribute, in percent. It orders values that are equally
// new and trusted: a name or an address is worth more if it has more words, up to eight; a website more than a page in
// a social network; the first category of a source more than the others.
func (r *Record) Worth(attribute string, i int) int {
	a, _ := r.matcher.schema.Attribute(attribute)
	return r.Said(&a, i).Worth
}
