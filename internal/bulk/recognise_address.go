// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/locus-db/locus/match"
)

// isPartOfTown reports whether another column is more likely the town, or the state, than a candidate: of suburb or
// locality and town, which are all aliases, town is first among the aliases.
func (r *recognition) isPartOfTown(g guessed, all []guessed) bool {
	if g.attribute.Role != match.RoleLocality && g.attribute.Role != match.RoleRegion {
		return false
	}
	aliases := r.kind.AliasesOf(g.attribute.Name)
	at := func(g guessed) int {
		_, part := r.partOf(g)
		return slices.IndexFunc(aliases, func(alias string) bool { return same(alias, part) })
	}
	own := at(g)
	return own > 0 && slices.ContainsFunc(all, func(other guessed) bool {
		i := at(other)
		return other.attribute == g.attribute && len(r.columns[other.column].values) > 0 && i >= 0 && i < own
	})
}

// partOf divides the name of a column into the address that it is part of, "" for that of the row, and the part:
// BillingCity is the city of "billing".
func (r *recognition) partOf(g guessed) (address, part string) {
	c := r.columns[g.column]
	words := strings.Split(c.plain, "_")
	last := len(words)
	if last > 1 && suffixes[words[last-1]] {
		last--
	}
	if head, _ := ofOwner(strings.Join(words[:last], "_")); head != "" && aliasOf(r.kind, g.attribute, head) != noAlias {
		last = strings.Count(head, "_") + 1
	}
	part = words[last-1]
	for i := range last {
		if is := aliasOf(r.kind, g.attribute, strings.Join(words[i:last], "_")); is == otherCase || is == namedAlias {
			part = strings.Join(words[i:last], "_")
			break
		}
	}
	name := c.name
	if c.plain != plainName(name) {
		name, _, _ = strings.Cut(name, "/")
	}
	return addressOf(name, part), part
}

// addressWords are words of names of parts of addresses that do not say whose address it is.
var addressWords = nameSet(`address addr adresse anschrift line lines first second third street road name nom nombre nome naam nazwa libelle default
	code cd desc zip postal post strasse str`)

// addressOf returns the words of a column name that say whose address a part belongs to: "billing" of BillingCity, "1" of
// "Address 1: City", "entity legal" of Entity.LegalAddress.City.
func addressOf(name, part string) string {
	words := strings.Split(plainName(strings.NewReplacer(".", " ", listMark, " ").Replace(name)), "_")
	for _, w := range slices.Backward(strings.Split(part, "_")) {
		for i, word := range slices.Backward(words) {
			if word == w {
				words = slices.Delete(words, i, i+1)
				break
			}
		}
	}
	if last := len(words) - 1; part == "" && last > 0 && strings.Trim(words[last], "0123456789") == "" {
		words = words[:last]
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool {
		return addressWords[w] || addressWords[strings.TrimRight(w, "1234")]
	}), " ")
}

// forMail returns 0 for the words of an address where the thing is, such as a practice location, 2 for one that only
// takes its mail, and 1 for others.
func forMail(address string) int {
	rank := 1
	for _, w := range strings.Fields(address) {
		switch {
		case locationWords[w]:
			return 0
		case mailWords[w]:
			rank = 2
		}
	}
	return rank
}

var (
	locationWords = nameSet("location physical practice premises residence residential res situs site")
	mailWords     = nameSet("mail mailing correspondence pobox")
)

// isHome reports whether a column that is named like an attribute has a part of an address.
func (r *recognition) isHome(c sampled) (attribute string, ok bool) {
	uses, _ := r.mapping.resolve(c.name)
	for _, u := range uses {
		if a, known := r.kind.Attribute(u.attribute); known && isOfAddress(&a) && len(c.values) > 0 {
			return a.Name, true
		}
	}
	return "", false
}

// addresses returns for each candidate whose part of an address it is, and for each address its parts.
func (r *recognition) addresses(all []guessed) (of map[int]string, has map[string]map[string]bool) {
	of, has = map[int]string{}, map[string]map[string]bool{}
	note := func(address, attribute string) {
		if has[address] == nil {
			has[address] = map[string]bool{}
		}
		has[address][attribute] = true
	}
	for _, c := range r.columns {
		if attribute, ok := r.isHome(c); ok {
			note("", attribute)
		}
	}
	for _, g := range all {
		if !isOfAddress(g.attribute) {
			continue
		}
		if of[g.column], _ = r.partOf(g); len(r.columns[g.column].values) > 0 {
			note(of[g.column], g.attribute.Name)
		}
	}
	return of, has
}

// sizeOf returns how many parts an address has, with those of the row's own that it lacks.
func sizeOf(address map[string]bool, own map[string]bool) int {
	both := 0
	for part := range own {
		if address[part] {
			return len(address)
		}
		both++
	}
	return len(address) + both
}

// oneAddress leaves out candidates that are parts of another address than that of the row: the city of a card does not
// belong to the street of a delivery. The address of the row is that of the first candidate for a street. Parts with
// other words before them complete it, unless among them is one that it has.
func (r *recognition) oneAddress(all []guessed, of map[int]string, has map[string]map[string]bool) []guessed {
	first := func(is func(g guessed) bool) int {
		return slices.IndexFunc(all, func(g guessed) bool { return is(g) && len(r.columns[g.column].values) > 0 })
	}
	home := ""
	if !slices.ContainsFunc(r.columns, func(c sampled) bool { _, ok := r.isHome(c); return ok }) {
		at := first(func(g guessed) bool { return g.attribute.Type == match.TypeAddress })
		if at < 0 {
			at = first(func(g guessed) bool { return isOfAddress(g.attribute) })
		}
		if at < 0 {
			return all
		}
		home = of[all[at].column]
	}
	parts, other := maps.Clone(has[home]), map[string]bool{home: false}
	if parts == nil {
		parts = map[string]bool{}
	}
	return slices.DeleteFunc(all, func(g guessed) bool {
		if !isOfAddress(g.attribute) {
			return false
		}
		address := of[g.column]
		is, known := other[address]
		if !known {
			for part := range has[address] {
				is = is || parts[part]
			}
			if other[address] = is; !is {
				maps.Copy(parts, has[address])
			}
		}
		return is
	})
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
