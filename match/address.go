// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"

	"github.com/cespare/xxhash/v2"
)

// maxStreet is the maximum number of street words to compare.
const maxStreet = 4

const (
	maxAddressWords = 40  // words of an address to read
	maxRange        = 200 // between the two numbers of a range
)

// address is a postal address, parsed by a few rules: the house number, and the street's words without its type,
// direction and unit. A word that no rule covers counts as a street word.
type address struct {
	text     string // normal form: canonical abbreviations
	number   uint32 // house number, 0 if there is none
	to       uint32 // end of a range of numbers, otherwise number
	street   []streetWord
	unit     string // the number of a flat or a suite, "" if there is none
	postcode string // trailing ZIP code, "" if there is none
	roman    bool   // see name.roman
}

type streetWord struct {
	text    string
	hash    uint64
	letters uint32
}

func parseAddress(folded string) address {
	if isNothing(folded) {
		return address{}
	}
	folded, roman := romanise(folded)
	var buf [maxAddressWords]streetEntry
	words := buf[:0]
	for w := range strings.SplitSeq(folded, " ") {
		if len(words) == cap(words) {
			break
		}
		words = append(words, lookStreet(w))
	}
	a := address{text: spellAll(words), postcode: trailingPostcode(words), roman: roman}
	for i, w := range words {
		if i > 0 && w.role&streetCut != 0 {
			words = words[:i]
			break
		}
	}
	a.unit = a.unitOf(words[a.read(words):])
	return a
}

// unitOf returns the first number or single letter among the words behind a street and its number.
func (a *address) unitOf(words []streetEntry) string {
	for _, w := range words {
		if w.spelling != a.postcode && w.role&streetDirection == 0 && len(w.spelling) < 5 && (startsWithDigit(w.spelling) || len(w.spelling) == 1) {
			return w.spelling
		}
	}
	return ""
}

func spellAll(words []streetEntry) string {
	var buf [256]byte
	b := buf[:0]
	for i, w := range words {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, w.spelling...)
	}
	return string(b)
}

// trailingPostcode returns the ZIP code at the end of an address, "" if there is none.
func trailingPostcode(words []streetEntry) string {
	code := func(i, n int) bool { return i > 0 && len(words[i].spelling) == n && digits(words[i].spelling) }
	last := len(words) - 1
	switch {
	case code(last, 5):
		return words[last].spelling
	case code(last, 4) && code(last-1, 5):
		return words[last-1].spelling
	}
	return ""
}

// read reads the street and the number, and returns how many words it used.
func (a *address) read(words []streetEntry) int {
	typed := false // a type followed the street's words: the street has ended
	for i := 0; i < len(words); i++ {
		w, role := words[i].spelling, words[i].role
		next, after := entryAt(words, i+1), entryAt(words, i+2)
		number := uint32(0)
		if a.number == 0 && (next.role&streetType == 0 || i == 0 && after.spelling != "") {
			number = houseNumber(w) // "42 st" is a street, "12 rue de la paix" a house
		}
		switch {
		case role&streetRoad != 0 && startsWithDigit(next.spelling):
			a.addStreet(w)
			a.addStreet(next.spelling)
			i++
		case role&streetUnit != 0:
			if len(a.street) > 0 {
				return i // the rest is inside the house
			}
			i++
		case role&streetNumber != 0 && startsWithDigit(next.spelling):
		case number > 0:
			a.number, a.to = number, number
			if len(a.street) > 0 {
				return i + 1 // the number ends the street
			}
			if to := houseNumber(next.spelling); to > 0 && after.spelling != "" && after.role&streetType == 0 {
				if to > number && to-number <= maxRange {
					a.to = to
				}
				i++
			}
		case role&streetType != 0:
			typed = typed || len(a.street) > 0
		case role&streetDirection != 0:
		case typed || len(a.street) == maxStreet:
			if a.number > 0 {
				return i
			}
		default:
			a.addStreet(w)
		}
		if typed && a.number > 0 {
			return i + 1
		}
	}
	return len(words)
}

// addStreet adds a word of the street; "42nd" becomes "42".
func (a *address) addStreet(w string) {
	if len(w) > 2 && isDigit(w[0]) {
		switch w[len(w)-2:] {
		case "st", "nd", "rd", "th":
			w = w[:len(w)-2]
		}
	}
	if len(a.street) < maxStreet {
		a.street = append(a.street, streetWord{text: w, hash: xxhash.Sum64String(w), letters: letters(w)})
	}
}

func startsWithDigit(w string) bool { return w != "" && isDigit(w[0]) }

func entryAt(words []streetEntry, i int) streetEntry {
	if i < len(words) {
		return words[i]
	}
	return streetEntry{}
}

// houseNumber parses digits with at most one letter after them; it returns 0 for anything else.
func houseNumber(w string) uint32 {
	var n uint32
	for i := range len(w) {
		if !isDigit(w[i]) {
			if i > 0 && i == len(w)-1 && isLetter(w[i]) {
				return n
			}
			return 0
		}
		if i == 6 {
			return 0
		}
		n = n*10 + uint32(w[i]-'0')
	}
	return n
}

func compareAddresses(a, b *address) level {
	if a.text == "" || b.text == "" {
		return levelNone
	}
	if a.text == b.text {
		if a.number > 0 && len(a.street) > 0 {
			return addressBoth
		}
		return addressStreet
	}
	street := compareStreets(a.street, b.street)
	number := compareNumbers(a, b)
	switch {
	case street == streetSame && number == numberSame:
		return addressBoth
	case number == numberSame && street != streetOther:
		return addressNumber
	case street == streetSame && number == numberFar:
		return addressOtherNumber
	case street == streetSame:
		return addressStreet
	case (street == streetDiffers || street == streetOther) && (number == numberFar || number == numberNear):
		return addressDifferent
	default:
		return addressPartly
	}
}

type streetAgreement int

const (
	streetMissing streetAgreement = iota
	streetDiffers
	streetOther // both have different numbers
	streetPartly
	streetSame
)

func compareStreets(a, b []streetWord) streetAgreement {
	if len(a) == 0 || len(b) == 0 {
		return streetMissing
	}
	common, used := 0, 0
	for i := range a {
		for j := range b {
			if used&(1<<j) == 0 && sameStreetWord(&a[i], &b[j]) {
				used |= 1 << j
				common++
				break
			}
		}
	}
	switch {
	case common == min(len(a), len(b)):
		return streetSame
	case numbered(a) != 0 && numbered(b) != 0 && numbered(a) != numbered(b):
		return streetOther
	case common > 0:
		return streetPartly
	default:
		return streetDiffers
	}
}

// numbered returns the hash of the street's number, 0 if it has none.
func numbered(street []streetWord) uint64 {
	for i := range street {
		if isDigit(street[i].text[0]) {
			return street[i].hash
		}
	}
	return 0
}

func sameStreetWord(a, b *streetWord) bool {
	if a.hash == b.hash {
		return true
	}
	return alike(a.text, b.text, a.letters, b.letters) >= softSimilar
}

type numberAgreement int

const (
	numberMissing numberAgreement = iota
	numberFar
	numberNear
	numberSame
)

// nearNumbers is the maximum distance of two house numbers that may belong to one building.
const nearNumbers = 12

func compareNumbers(a, b *address) numberAgreement {
	switch {
	case a.number == 0 || b.number == 0:
		return numberMissing
	case a.number <= b.to && b.number <= a.to:
		return numberSame
	case max(a.number, b.number)-min(a.number, b.number) <= nearNumbers:
		return numberNear
	default:
		return numberFar
	}
}
