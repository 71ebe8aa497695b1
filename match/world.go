// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// Identifiers of scope world are numbers that all sources share, such as those of taxes and registers.

// normalID returns the normal form of an identifier: unchanged for ScopeSource; for ScopeWorld folded,
// without spaces, punctuation and leading zeros, and "" for placeholders.
func normalID(a *Attribute, raw string) string {
	id := parseID(raw)
	if a.Scope != ScopeWorld || id == "" {
		return id
	}
	id = strings.ReplaceAll(fold(id), " ", "")
	if a.hasWord(bookNumbers) || slices.ContainsFunc(a.Aliases, func(alias string) bool { return bookNumbers[alias] }) {
		id = isbn13(id)
	}
	if digits(id) {
		id = strings.TrimLeft(id, "0")
	}
	if _, number := ofCountry(id); (number == "" || digits(number)) && dummyID(number) {
		return ""
	}
	return id
}

// bookNumbers are words of names of attributes with the numbers of books. Other numbers of ten digits, such as those of
// parts, may have the right last digit by chance.
var bookNumbers = wordSet(`isbn isbn10 isbn13 ean ean13 gtin barcode`)

// isbn13 returns the number of 13 digits of a book that has the old one of ten, and any other identifier unchanged. The
// last sign of an ISBN checks the others.
func isbn13(id string) string {
	const old = 10
	if len(id) != old || !digits(id[:old-1]) || !digits(id) && id[old-1] != 'x' {
		return id
	}
	sum := 0
	for i := range old {
		n := int(id[i] - '0')
		if id[i] == 'x' {
			n = 10
		}
		sum += (old - i) * n
	}
	if sum%11 != 0 {
		return id
	}
	id = "978" + id[:old-1]
	sum = 0
	for i := range id {
		sum += int(id[i]-'0') * (1 + 2*(i%2))
	}
	return id + string(rune('0'+(10-sum%10)%10))
}

// dummyID reports whether digits are a placeholder.
func dummyID(id string) bool { return id == "" || strings.Trim(id, id[:1]) == "" || id == "123456789" }

// compareWorldIDs compares global identifiers: one equal one is enough.
func compareWorldIDs(a, b []identifier) level {
	best := levelNone
	for _, x := range a {
		for _, y := range b {
			if !x.world || x.attribute != y.attribute {
				continue
			}
			switch is := compareWorldID(x.value, y.value); {
			case is == idEqual:
				return idEqual
			case is == idMistyped, best == levelNone:
				best = is
			}
		}
	}
	return best
}

// minOfCountry is the number of digits from which a number may have its country before it, as those of taxes do.
const minOfCountry = 8

// ofCountry divides a global identifier into the code of a country and the number behind it, without leading zeros:
// it743110157 of IT00743110157. country is "" if the identifier does not begin with one.
func ofCountry(id string) (country, number string) {
	if len(id) < minOfCountry+2 || isDigit(id[0]) || isDigit(id[1]) || !digits(id[2:]) {
		return "", id
	}
	switch country = id[:2]; {
	case country == "el", country == "xi", countries[country] == country:
		return country, strings.TrimLeft(id[2:], "0")
	}
	return "", id
}

// compareWorldID compares two global identifiers. If only one has its country before it, the numbers behind it count.
func compareWorldID(x, y string) level {
	if x == y {
		return idEqual
	}
	of, n := ofCountry(x)
	with, m := ofCountry(y)
	one := (of == "") != (with == "")
	switch {
	case one && n == m:
		return idEqual
	case slip(x, y), one && slip(n, m):
		return idMistyped
	}
	return idWorldDifferent
}
