// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// houseNumbers are names of columns with house numbers, without "_".
var houseNumbers = nameSet(`houseno housenumber streetnumber hausnummer hausnr hnr huisnummer numerocivico civico numerovoie streetno addrhousenumber number nr numero no
	nrdomu numerdomu husnummer husnr cislopopisne cislodomu дом номердома будинок номербудинку binano kapino kapıno hazszam talonumero 건물번호`)

func isHouseNumber(name string) bool { return houseNumbers[joined(plainName(name))] }

// someNumbers are those of these names that columns of other numbers have, too. Only beside a street they are its
// house numbers.
var someNumbers = nameSet("number nr numero no")

// houseOf returns the column with the house numbers of the streets in another one: next to it, or the only one of that
// name with the same word before it, such as addr:housenumber for addr:street; -1 if there is none.
func (r *recognition) houseOf(street int) int {
	for _, beside := range []int{street - 1, street + 1} {
		if beside == 0 && keyRank(plainName(r.columns[0].name)) > 0 { // "no" in the first column counts the rows
			continue
		}
		if beside >= 0 && beside < len(r.columns) && isHouseNumber(r.columns[beside].name) {
			return beside
		}
	}
	if !hardlyNumbered(r.columns[street].values) {
		return -1
	}
	found := -1
	tagged := func(name string) bool { return strings.HasPrefix(plainName(name), "addr_") }
	for i, c := range r.columns {
		if !isHouseNumber(c.name) || someNumbers[joined(plainName(c.name))] {
			continue
		}
		if tagged(c.name) != tagged(r.columns[street].name) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// flats are names of columns with the number of a flat or a suite, without "_".
var flats = nameSet(`apartment apartmentno apartmentnumber apt aptno aptnumber flat flatno flatnumber unit unitno unitnumber suite suiteno wohnung wohnungsnr appartement apartamento departamento interno`)

// composeAddress composes an address of a street, its house number and the number of the flat.
func (r *recognition) composeAddress(g guessed) bool {
	flat := slices.IndexFunc(r.columns, func(c sampled) bool {
		return flats[joined(plainName(c.name))] && !hasWords(c.values) && len(c.values) > 0
	})
	if of := r.houseOf(g.column); of >= 0 && !isHouseNumber(r.columns[g.column].name) {
		house := []int{min(g.column, of), max(g.column, of)}
		if flat >= 0 && r.compose(g.attribute, "street, number and flat", append(house, flat)...) || r.compose(g.attribute, "street and number", house...) {
			return true
		}
	}
	return flat >= 0 && flat != g.column && r.compose(g.attribute, "address and flat", g.column, flat)
}

// middleNames are names of columns with the middle names, without "_".
var middleNames = nameSet(`middle mid middlename middlenames middleinitial midinitial mi mname midname zweitervorname zweitname weiterevornamen deuxiemeprenom autresprenoms
	segundonombre secondonome tweedevoornaam drugieimie отчество otchestvo побатькові`)

// generations are names, without "_", of columns for what follows a family name, such as Jr.
var generations = nameSet(`suffix namesuffix generation generationalsuffix suffixname nameextension`)

// nameParts are the attributes that compose a person's name, and the names of columns that continue each.
var nameParts = map[match.Role]map[string]bool{match.RoleGiven: middleNames, match.RoleFamily: generations}

// composeName composes the given names, or the family names, of columns with one part each: first and middle name, or
// numbered parts such as lname_c1 and lname_c2. Parts with the same number keep the order of the columns.
func (r *recognition) composeName(g guessed) bool {
	parts, more := []int{g.column}, nameParts[g.attribute.Role]
	own, counted := numberless(plainName(r.columns[g.column].name))
	for i, c := range r.columns {
		plain := plainName(c.name)
		other, numbered := numberless(plain)
		follows := more[joined(plain)] || numbered && (counted || i > g.column) && other == own
		if i != g.column && follows && (fits(g.attribute, c.values) || generations[joined(plain)]) {
			parts = append(parts, i)
		}
	}
	return len(parts) > 1 && r.compose(g.attribute, map[match.Role]string{match.RoleGiven: "given names", match.RoleFamily: "family names"}[g.attribute.Role], parts...)
}

// partNumber is the number of a part in a column name: first_name_2, fname_c1.
var partNumber = regexp.MustCompile(`_?(?:c|component|part)?_?[1-4]$`)

// numberless returns the plain name of a part of a name without its number.
func numberless(plain string) (stem string, numbered bool) {
	stem = partNumber.ReplaceAllString(plain, "")
	return stem, stem != plain && stem != ""
}

// compose joins the values of several columns, with a space between them, into an attribute, unless one of the columns
// has another meaning.
func (r *recognition) compose(a *match.Attribute, why string, columns ...int) bool {
	return r.composeWith(a, " ", why, columns...)
}

func (r *recognition) composeWith(a *match.Attribute, between, why string, columns ...int) bool {
	var names []string
	for _, i := range columns {
		name := r.columns[i].name
		if uses, _ := r.mapping.resolve(name); len(uses) > 0 && name != a.Name || strings.ContainsAny(name, "{}") || slices.Contains(r.o.Ignore, name) {
			return false
		}
		names = append(names, name)
	}
	if r.mapping.assign(Assignment{a.Name, "{" + strings.Join(names, "}"+between+"{") + "}"}, nil) != nil {
		return false
	}
	for _, name := range names {
		r.reasons[name] = why
	}
	return true
}
