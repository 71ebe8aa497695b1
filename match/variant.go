// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// variant is a value of an attribute with RoleVariant: a colour, a size, a version.
type variant struct {
	attribute *Attribute
	parts     []string // words and numbers: v2.40 is v, 2 and 40
}

// withoutVariants returns a hash of the name without the words that repeat its variants or its brand: "Alba Dress
// Green" of colour green. The name of a thing at a location is combined with the place, as for the flats of a house.
func (r *Record) withoutVariants() uint64 {
	var words []string
	for _, t := range r.name.tokens {
		repeats := func(v variant) bool { return slices.Contains(v.parts, t.text) }
		if !slices.ContainsFunc(r.variants, repeats) && (r.brand == "" || !inWords(r.brand, t.text)) {
			words = append(words, t.text)
		}
	}
	hash := textHash(strings.Join(words, " ")) ^ textHash(r.brand)
	if r.title == nil {
		hash ^= r.spot()
	}
	return hash
}

// maxVariant is the number of parts of a variant that are compared.
const maxVariant = 8

func (r *Record) addVariant(a *Attribute, values []string) {
	if parts := variantParts(first(values)); len(parts) > 0 {
		r.variants = append(r.variants, variant{a, parts})
	}
}

// variantParts splits folded text into words and numbers, the latter without leading zeros.
func variantParts(folded string) (parts []string) {
	for w := range strings.FieldsSeq(folded) {
		for w != "" && len(parts) < maxVariant {
			n := 1
			for n < len(w) && isDigit(w[n]) == isDigit(w[0]) {
				n++
			}
			part := w[:n]
			if isDigit(w[0]) {
				part = strings.TrimLeft(w[:n-1], "0") + w[n-1:n]
			}
			parts, w = append(parts, part), w[n:]
		}
	}
	return parts
}

// vary reports whether two variants are certainly different. They may be the same if one contains all parts of the
// other in order: 2 and v2.0, blue and navy blue, L and large.
func vary(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 1 && stands(a[0], b) {
		return false
	}
	for _, part := range b {
		if len(a) > 0 && mayBe(a[0], part) {
			a = a[1:]
		}
	}
	return len(a) > 0
}

// stands reports whether the letters of a word are the initials of some of these parts, in order, or the word consists of
// the beginnings of all of them: XOne, Xbox One.
func stands(w string, parts []string) bool {
	initials, rest, all := w, w, true
	for _, part := range parts {
		if initials != "" && initials[0] == part[0] {
			initials = initials[1:]
		}
		n := 0
		for n < min(len(rest), len(part)) && rest[n] == part[n] {
			n++
		}
		rest, all = rest[n:], all && n > 0
	}
	return initials == "" || rest == "" && all && len(parts) > 1
}

// mayBe reports whether two parts of variants may be the same: one is an abbreviation or a typo of the other, or they
// name a colour in two languages.
func mayBe(a, b string) bool {
	if isDigit(a[0]) || isDigit(b[0]) {
		return a == b
	}
	return likeWord(a, b) || colourOf(a)&colourOf(b) != 0 || abbreviates(a, b) || abbreviates(b, a)
}

// abbreviates reports whether a word begins like a longer one and has its other letters in that order: wht, white. XL
// is not short for XXL.
func abbreviates(short, long string) bool {
	if len(short) >= len(long) || short[0] != long[0] || len(short) > 1 && len(long) < 4 {
		return false
	}
	for i := range len(long) {
		if short != "" && long[i] == short[0] {
			short = short[1:]
		}
	}
	return short == ""
}

// compareVariants sets the level of variants that distinguish things of one title, if they differ.
func compareVariants(a, b *Record) level {
	for _, x := range a.variants {
		for _, y := range b.variants {
			if x.attribute == y.attribute && a.matcher.told[x.attribute] != 0 && vary(x.parts, y.parts) {
				return variantSeries
			}
		}
	}
	return levelNone
}
