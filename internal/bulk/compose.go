// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// houseNumbers are names of columns with house numbers, without "_".
var houseNumbers = nameSet(`houseno housenumber streetnumber hausnummer hausnr hnr huisnummer numerocivico civico numerovoie streetno addrhousenumber number nr numero no
	nrdomu numerdomu husnummer husnr cislopopisne cislodomu дом номердома будинок номербудинку binano kapino kapıno hazszam talonumero 건물번호`)

func isHouseNumber(name string) bool { return houseNumbers[joined(plainName(name))] }

// composeAddress composes an address of a street and the house number in the column beside it.
func (r *recognition) composeAddress(g guessed) bool {
	for _, beside := range []int{g.column - 1, g.column + 1} {
		if beside == 0 && keyRank(plainName(r.columns[0].name)) > 0 { // "no" in the first column counts the rows
			continue
		}
		if beside < 0 || beside >= len(r.columns) || isHouseNumber(r.columns[g.column].name) || !isHouseNumber(r.columns[beside].name) {
			continue
		}
		if r.compose(g.attribute, min(g.column, beside), max(g.column, beside), "street and number") {
			return true
		}
	}
	return false
}

// middleNames are names of columns with the middle names, without "_".
var middleNames = nameSet(`middle mid middlename middlenames middleinitial midinitial mi mname midname zweitervorname zweitname weiterevornamen deuxiemeprenom autresprenoms
	segundonombre secondonome tweedevoornaam drugieimie отчество otchestvo побатькові`)

// composeGiven composes the given names of the first name and the middle names in a column of their own.
func (r *recognition) composeGiven(g guessed) bool {
	for i, c := range r.columns {
		if i != g.column && middleNames[joined(plainName(c.name))] && fits(g.attribute, c.values) {
			return r.compose(g.attribute, g.column, i, "given names")
		}
	}
	return false
}

// compose makes one attribute of two columns, unless one has another meaning.
func (r *recognition) compose(a *match.Attribute, first, second int, why string) bool {
	names := []string{r.columns[first].name, r.columns[second].name}
	for _, name := range names {
		if uses, _ := r.mapping.resolve(name); len(uses) > 0 && name != a.Name || strings.ContainsAny(name, "{}") || slices.Contains(r.o.Ignore, name) {
			return false
		}
	}
	if r.mapping.assign(Assignment{a.Name, "{" + names[0] + "} {" + names[1] + "}"}, nil) != nil {
		return false
	}
	r.reasons[names[0]], r.reasons[names[1]] = why, why
	return true
}
