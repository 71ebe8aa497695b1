// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// maxStreet is the number of street words that are compared.
const maxStreet = 4

// address is a postal address, taken apart as far as a few rules reach: the
// house number, the words of the street without type, direction and unit. What
// the rules do not understand stays a word.
type address struct {
	text     string // normal form: abbreviations spelled one way
	number   uint32 // house number, 0 if there is none
	to       uint32 // end of a range of numbers, else number
	street   []streetWord
	postcode string // of five digits at the end, where the address holds one
}

type streetWord struct {
	text    string
	hash    uint64
	letters uint32
}

// parseAddress reads folded text.
func parseAddress(folded string) address {
	if isNothing(folded) {
		return address{}
	}
	var buf [40]string
	words := buf[:0]
	for w := range strings.SplitSeq(folded, " ") {
		if len(words) == cap(buf) {
			break
		}
		words = append(words, streetSpelling(w))
	}
	a := address{text: strings.Join(words, " ")}
	if last := len(words) - 1; last > 0 {
		if len(words[last]) == 5 && digits(words[last]) {
			a.postcode = words[last]
		} else if last > 1 && len(words[last]) == 4 && len(words[last-1]) == 5 && digits(words[last]) && digits(words[last-1]) {
			a.postcode = words[last-1]
		}
	}
	if cut := slices.IndexFunc(words, isCut); cut > 0 {
		words = words[:cut]
	}
	a.read(words)
	return a
}

// read finds number and street in words that are spelled the one way.
func (a *address) read(words []string) {
	a.street = make([]streetWord, 0, maxStreet)
	typed := false // a type came after the street's words: the street has ended
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case isUnit(w):
			if len(a.street) > 0 {
				return // the rest is inside the house
			}
			i++
		case isNumberSign(w) && next != "" && isDigit(next[0]):
		case a.number == 0 && houseNumber(w) > 0 && !isStreetType(next) && (i == 0 || !isRoad(words[i-1])):
			a.number = houseNumber(w)
			a.to = a.number
			if len(a.street) > 0 {
				return // the number ends the street
			}
			if to := houseNumber(next); to > 0 && i+2 < len(words) && !isStreetType(words[i+2]) {
				if to > a.number && to-a.number <= 200 {
					a.to = to
				}
				i++
			}
		case isStreetType(w) && len(a.street) > 0 && !isRoad(w):
			typed = true
			if a.number > 0 {
				return
			}
		case isDirection(w) || isStreetType(w) && !isRoad(w):
		case typed || len(a.street) == maxStreet:
			if a.number > 0 {
				return
			}
		default:
			a.street = append(a.street, streetWord{text: w, hash: xxhash.Sum64String(w), letters: letters(w)})
		}
	}
}

// houseNumber reads digits that at most one letter follows; 0 if w is something else.
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

// compareAddresses answers with the level of two addresses.
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
	case number == numberSame:
		return addressNumber
	case street == streetSame && number == numberFar:
		return addressOtherNumber
	case street == streetSame:
		return addressStreet
	case street == streetDiffers && number != numberMissing:
		return addressDifferent
	default:
		return addressPartly
	}
}

type streetAgreement int

const (
	streetMissing streetAgreement = iota
	streetDiffers
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
	case common > 0:
		return streetPartly
	default:
		return streetDiffers
	}
}

func sameStreetWord(a, b *streetWord) bool {
	if a.hash == b.hash {
		return true
	}
	return len(a.text) > 3 && len(b.text) > 3 && mayBeSimilar(a.text, b.text, a.letters, b.letters) && similar(a.text, b.text) >= softSimilar
}

type numberAgreement int

const (
	numberMissing numberAgreement = iota
	numberFar
	numberNear
	numberSame
)

// nearNumbers is the distance of two house numbers that may be one building's.
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
