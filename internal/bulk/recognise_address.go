// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
	"unicode"

	"github.com/locus-db/locus/match"
)

// isPartOfTown reports whether another column is more likely the town than a candidate: of suburb or locality and town,
// which are both aliases, town is first among the aliases.
func (r *recognition) isPartOfTown(g guessed, all []guessed) bool {
	if g.attribute.Role != match.RoleLocality {
		return false
	}
	at := func(g guessed) int {
		return slices.Index(r.kind.AliasesOf(g.attribute.Name), plainName(r.columns[g.column].name))
	}
	own := at(g)
	return own > 0 && slices.ContainsFunc(all, func(other guessed) bool {
		i := at(other)
		return other.attribute == g.attribute && len(r.columns[other.column].values) > 0 && i >= 0 && i < own
	})
}

// groups returns for columns of addresses how many parts of one have columns whose names begin with the same word: the
// postcode of a delivery belongs to the street of the delivery, and not to that of a card.
func (r *recognition) groups(all []guessed) map[int]int {
	parts, of := map[string]map[string]bool{}, map[int]string{}
	for _, g := range all {
		first, _, several := strings.Cut(plainName(r.columns[g.column].name), "_")
		if !several || !isOfAddress(g.attribute) || len(r.columns[g.column].values) == 0 {
			continue
		}
		if parts[first] == nil {
			parts[first] = map[string]bool{}
		}
		parts[first][g.attribute.Name], of[g.column] = true, first
	}
	sizes := map[int]int{}
	for column, first := range of {
		sizes[column] = len(parts[first])
	}
	return sizes
}

func isOfAddress(a *match.Attribute) bool {
	return a.Type == match.TypeAddress || slices.Contains([]match.Role{match.RoleLocality, match.RoleRegion, match.RolePostcode, match.RoleCountry}, a.Role)
}

// hasWords reports whether most values have a word of three letters, as streets do and house numbers do not.
func hasWords(values []string) bool {
	n := 0
	for _, value := range values {
		if slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }), func(w string) bool { return len(w) >= 3 }) {
			n++
		}
	}
	return 2*n > len(values)
}

// hardlyNumbered reports whether hardly any of the values contains a number.
func hardlyNumbered(values []string) bool {
	n := 0
	for _, value := range values {
		if strings.ContainsFunc(value, unicode.IsDigit) {
			n++
		}
	}
	return 5*n <= len(values)
}

// completeAddress composes an address of an address column and the house number in the next column, if hardly any of
// the addresses contains a number.
func (r *recognition) completeAddress() {
	for i, c := range r.columns {
		at := slices.IndexFunc(r.kind.Attributes, func(a match.Attribute) bool { return a.Name == c.name && a.Type == match.TypeAddress })
		if at >= 0 && !r.mapping.isSet(c.name) && len(c.values) > 0 && hardlyNumbered(c.values) {
			r.composeAddress(guessed{column: i, attribute: &r.kind.Attributes[at]})
		}
	}
}
