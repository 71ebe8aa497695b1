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

// someNumbers are those of these names that columns of other numbers have, too. Only beside a street they are its
// house numbers.
var someNumbers = nameSet("number nr numero no")

// streetParts are names of columns with the type of a street, its direction, or what follows its number, without "_".
// Files have them in the order in which an address has them.
var streetParts = nameSet(`streettype streetsuffix sttype stsuffix typevoie typedevoie naturevoie tipovia tipodevia tipologradouro
	streetdirection streetdir predir predirection streetpredir streetprefix streetdirprefix streetpredirection postdir streetpostdir streetdirsuffix streetpostdirection
	housenumbersuffix streetnumbersuffix hausnummerzusatz hausnrzusatz indicerepetition huisletter toevoeging huisnummertoevoeging`)

// flats are names of columns with the number of a flat or a suite, without "_".
var flats = nameSet(`apartment apartmentno apartmentnumber apt aptno aptnumber flat flatno flatnumber unit unitno unitnumber suite suiteno wohnung wohnungsnr appartement apartamento departamento interno`)

func (c *sampled) isHouseNumber() bool { return houseNumbers[joined(c.plain)] }

func (c *sampled) isStreetPart() bool { return streetParts[joined(c.plain)] && len(c.values) > 0 }

// houseOf returns the column with the house numbers of the streets in another one: next to it, or the only one of that
// name with the same word before it, such as addr:housenumber for addr:street; -1 if there is none.
func (r *recognition) houseOf(street int) int {
	for _, step := range []int{-1, 1} {
		beside := street + step
		for beside >= 0 && beside < len(r.columns) && r.columns[beside].isStreetPart() {
			beside += step
		}
		if beside == 0 && keyRank(r.columns[0].plain) > 0 { // "no" in the first column counts the rows
			continue
		}
		if beside >= 0 && beside < len(r.columns) && r.columns[beside].isHouseNumber() {
			return beside
		}
	}
	if !hardlyNumbered(r.columns[street].values) {
		return -1
	}
	found := -1
	tagged := func(c sampled) bool { return strings.HasPrefix(c.plain, "addr_") }
	for i, c := range r.columns {
		if !c.isHouseNumber() || someNumbers[joined(c.plain)] || tagged(c) != tagged(r.columns[street]) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// composeAddress composes an address of a street, its house number and the like, the number of the flat, and further
// lines.
func (r *recognition) composeAddress(g guessed) bool {
	street, why := r.streetOf(g.column), "address"
	if len(street) > 1 {
		why = "street and number"
	}
	parts := make([]joint, len(street))
	for i, column := range street {
		parts[i] = joint{column, " "}
	}
	flat := slices.IndexFunc(r.columns, func(c sampled) bool {
		return flats[joined(c.plain)] && !hasWords(c.values) && len(c.values) > 0
	})
	lines := r.linesAfter(g.column)
	switch {
	case len(lines) > 0:
		why += " and further lines"
		for _, line := range lines {
			parts = append(parts, joint{line, ", "})
		}
	case flat >= 0 && flat != g.column:
		if why = "address and flat"; len(street) > 1 {
			why = "street, number and flat"
		}
		if r.composeParts(g.attribute, why, append(parts, joint{flat, " "})) {
			return true
		}
		why = "street and number"
	}
	return len(parts) > 1 && r.composeParts(g.attribute, why, parts)
}

// streetOf returns the columns of which a street consists, in the order of the file: its number, type and direction.
func (r *recognition) streetOf(street int) []int {
	columns := []int{street}
	if r.columns[street].isHouseNumber() {
		return columns
	}
	if of := r.houseOf(street); of >= 0 {
		columns = append(columns, of)
	}
	if mostly(numberedStreet, r.columns[street].values) { // it has whole addresses
		return columns
	}
	for i, c := range r.columns {
		if c.isStreetPart() {
			columns = append(columns, i)
		}
	}
	slices.Sort(columns)
	return columns
}

// nextLine is the end of a plain name of a second or later line of an address.
var nextLine = regexp.MustCompile(`(?:^|_)(?:address|addr|street|line|adresse|adresregel|indirizzo|direccion|endereco|strasse)_?[2-4]$|(?:^|_)(?:second|third)_line_.*address$`)

// linesAfter returns the columns with further lines of the address in a column: Address Line 2 after Address Line 1.
// There are none if both are streets with numbers, which are two addresses.
func (r *recognition) linesAfter(first int) (lines []int) {
	of := addressOf(r.columns[first].name, "")
	for i, c := range r.columns {
		before, _, _ := strings.Cut(c.name, "/")
		named := nextLine.MatchString(c.plain) || nextLine.MatchString(plainName(before))
		if i == first || len(c.values) == 0 || !named || addressOf(before, "") != of || slices.Contains(r.o.Ignore, c.name) {
			continue
		}
		if mostly(numberedStreet, c.values) && mostly(numberedStreet, r.columns[first].values) {
			return nil
		}
		lines = append(lines, i)
	}
	return lines
}

// letterLine is the plain name of a line of an address as it is printed on a letter: Bill to 3.
var letterLine = regexp.MustCompile(`^(bill|invoice|sold|ship|deliver)_?to_[1-6]$`)

// completeLetter composes an address of the lines of a letter from the street on, if no other column has one. The lines
// above it have names, and hardly a number. Of several letters in a row the first counts.
func (r *recognition) completeLetter() {
	at := slices.IndexFunc(r.kind.Attributes, func(a match.Attribute) bool { return a.Type == match.TypeAddress })
	if at < 0 || r.mapping.isSet(r.kind.Attributes[at].Name) {
		return
	}
	a, letter, lines := &r.kind.Attributes[at], "", []int(nil)
	for i, c := range r.columns {
		if aliasOf(r.kind, a, c.plain) != noAlias && len(c.values) > 0 {
			return
		}
		if line := letterLine.FindStringSubmatch(c.plain); line != nil && (letter == "" || letter == line[1]) {
			if letter = line[1]; len(lines) > 0 && len(c.values) > 0 || hasWords(c.values) && !hardlyNumbered(c.values) {
				lines = append(lines, i)
			}
		}
	}
	if len(lines) > 1 {
		r.composeWith(a, ", ", "lines of an address", lines...)
	}
}

// numberedStreet begins with the number of a house: 12 High Street, and not 4th floor.
var numberedStreet = regexp.MustCompile(`^\d+[A-Za-z]? \pL{3,}`)

// mostly reports whether more than half of the values have a form.
func mostly(form *regexp.Regexp, values []string) bool {
	n := 0
	for _, v := range values {
		if form.MatchString(strings.TrimSpace(v)) {
			n++
		}
	}
	return 2*n > len(values)
}
