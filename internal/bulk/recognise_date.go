// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/match"
)

// dateParts are the names of a year, a month and a day, without "_".
var dateParts = [...]map[string]bool{
	nameSet(`year yr yyyy y jahr annee an ano anno anio jaar rok ar год`),
	nameSet(`month mon mm m monat mois mes mese maand miesiac manad maned мес месяц`),
	nameSet(`day dd d tag jour dia giorno dag dzien den день`),
}

// births are the parts of a column name that mean a birth, the longest first.
var births = strings.Fields("dateofbirth birthdate birthday geburtsdatum dob birth born geburts geburt naissance nacimiento nascita nascimento geboorte b")

// datePartOf returns which part of a date a column name means, from 0, and whether it is part of a date of birth:
// birth_year, year of birth, Geburtsjahr, by.
func datePartOf(plain string) (part int, birth, ok bool) {
	name := joined(plain)
	for i, words := range dateParts {
		if words[name] {
			return i, false, true
		}
		for _, of := range births {
			before, isPrefix := strings.CutPrefix(name, of)
			after, isSuffix := strings.CutSuffix(name, of)
			for _, middle := range []string{"of", "de", "di"} {
				after = strings.TrimSuffix(after, middle)
			}
			if isPrefix && words[before] || isSuffix && len(of) > 1 && words[after] {
				return i, true, true
			}
		}
	}
	return 0, false, false
}

// fitsPart reports whether nearly all values may be the years, months or days of dates.
func fitsPart(part int, values []string) bool {
	return nearlyAll(values, func(value string) bool {
		n, err := strconv.Atoi(strings.TrimSpace(value))
		limit := [...]int{2999, 12, 31}[part]
		return err == nil && n >= 1 && n <= limit && (part > 0 || n >= 1000) || err != nil && part == 1 && len(value) >= 3 && formOf(value) == formWords
	})
}

// completeDate composes the date of birth of columns with its year, month and day, unless a column has the whole date.
// Without the word birth the rows need a name: year and month also are what a table is partitioned by.
func (r *recognition) completeDate() {
	at := -1
	for i, a := range r.kind.Attributes {
		if a.Type == match.TypeDate {
			if at >= 0 {
				return
			}
			at = i
		}
	}
	if at < 0 || r.kind.Style() != match.StylePerson || r.mapping.isSet(r.kind.Attributes[at].Name) {
		return
	}
	a := &r.kind.Attributes[at]
	columns, named := [3]int{-1, -1, -1}, r.hasName()
	for i, c := range r.columns {
		if part, birth, ok := datePartOf(c.plain); ok && (birth || named) && fitsPart(part, c.values) {
			if columns[part] < 0 || birth {
				columns[part] = i
			}
		} else if aliasOf(r.kind, a, c.plain) != noAlias && fits(a, c.values) {
			return
		}
	}
	if columns[0] < 0 || columns[1] < 0 {
		return
	}
	whole := columns[:]
	if columns[2] < 0 {
		whole = columns[:2]
	}
	r.composeWith(a, "-", "year, month and day", whole...)
}

// hasName reports whether a column is called like a name of the kind.
func (r *recognition) hasName() bool {
	return slices.ContainsFunc(r.columns, r.isCalledName)
}

// isCalledName reports whether a column is called like a name of the kind.
func (r *recognition) isCalledName(c sampled) bool {
	return slices.ContainsFunc(r.kind.Attributes, func(a match.Attribute) bool {
		return a.Type == match.TypeName && aliasOf(r.kind, &a, c.plain) != noAlias
	})
}
