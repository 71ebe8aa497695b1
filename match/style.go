// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strconv"
	"strings"
)

// Names of persons and titles use the two name fields with other levels.

// The levels of fieldName for a person: the family name.
const (
	familyDifferent level = 1 + iota
	familySounds
	familyPart
	familyAlike
	familySwapped
	familyEqual
	familyEqualRare
	familyAlone // only the name agrees
	familyLoose // different, and only a common given name and a date of birth agree
)

// The levels of fieldResidual for a person: the given names.
const (
	givenHousehold level = 1 + iota
	givenTwin
	givenDifferent
	givenInitial
	givenSounds
	givenAlike
	givenNickname
	givenSwapped
	givenEqual
	givenEqualRare
	givenSecond // the first equal, the second different
	givenLoose  // different, and only a common family name and a date of birth agree
	givenOnly   // equal or alike, and hardly another person has the whole name
)

// The levels of fieldResidual for a title, in addition to those for a business.
const (
	titleModel       = residualNothing + 1 + iota
	titleModelRare   // a model number that few records have
	titleModelCommon // a model number that few records have, and one thing is a part
	titleModelPart   // of few records, and one is a part
	titleNumber      // only one has it
	titleNumbers
	titleModelBoth // another one differs
	titleVolume
	titleVariant  // one has a word that tells the things of the catalogue apart
	titleVariants // both have different ones
)

// styleGrades are the grades of a style that differ from the table.
var styleGrades = map[Style]map[field][]grade{
	StylePerson: {
		fieldName: {
			{},
			{"different", -450},
			{"sounds alike", 50},
			{"one has a part of the other", 200},
			{"alike", 300},
			{"swapped with the given name", 400},
			{"equal", 500},
			{"equal and rare", 700},
			{"alike, and nothing besides the name", -150},
			{"different, and little besides", -900},
			{"not compared, taken as different", -2900},
		},
		fieldResidual: {
			{},
			{"different, in one household", -2000},
			{"different, born on one day", -500},
			{"different", -500},
			{"an initial", 50},
			{"sounds alike", 50},
			{"alike", 200},
			{"a short form", 200},
			{"swapped with the family name", 200},
			{"equal", 350},
			{"equal and rare", 500},
			{"the first equal, the second different", -150},
			{"different, and little besides", -1000},
			{"hardly another has the whole name", 600},
		},
		fieldBox: {{}, {"of a firm, or of many names", -600}},
	},
	StyleTitle: {
		fieldName: func() []grade {
			grades := slices.Clone(table[fieldName])
			grades[nameChain] = grade{"equal, of many records", 300}
			return grades
		}(),
		fieldResidual: {
			{},
			{"model numbers differ", -900},
			{"both keep words of their own", -300},
			{"one is a part or an accessory", -700},
			{"one keeps a word", -30},
			{"nothing is left over", 30},
			{"model numbers agree", 300},
			{"rare model numbers agree", 700},
			{"common model numbers agree", 50},
			{"model numbers agree, one is a part or an accessory", 300},
			{"one keeps a number", -100},
			{"numbers differ", -700},
			{"one model number agrees, others differ", -300},
			{"another part, volume or edition", -1200},
			{"one keeps a word that tells things apart", -150},
			{"words differ that tell things apart", -700},
		},
	},
}

// styleNames are the names of lines of an explanation that differ from fieldNames.
var styleNames = map[Style]map[field]string{
	StylePerson: {fieldName: "family name", fieldResidual: "given name"},
	StyleTitle:  {fieldName: "title", fieldResidual: "title residual"},
}

func (s Style) grades(f field) []grade {
	if grades, ok := styleGrades[s][f]; ok {
		return grades
	}
	return table[f]
}

// fieldName returns the name of a line of an explanation.
func (s Style) fieldName(f field) string {
	if name, ok := styleNames[s][f]; ok {
		return name
	}
	return fieldNames[f]
}

// fieldNames returns the lines whose bits a kind may override.
func (s Style) fieldNames() []string {
	var names []string
	for f := range fieldCount {
		if f != fieldSource && f != fieldRelation {
			names = append(names, s.fieldName(f))
		}
	}
	return names
}

// fieldNamed returns the field with the name of a line, fieldCount if there is none.
func (s Style) fieldNamed(name string) field {
	for f := range fieldCount {
		if s.fieldName(f) == name {
			return f
		}
	}
	return fieldCount
}

// levelWords returns the texts of the levels of a field, without nameSkipped, whose bits follow from the
// others.
func (s Style) levelWords(f field) []string {
	var words []string
	for l, g := range s.grades(f) {
		if g.word != "" && (f != fieldName || level(l) != nameSkipped) {
			words = append(words, g.word)
		}
	}
	return words
}

func (r *Record) readName(given, family, whole string) {
	terms := r.matcher.terms
	switch r.matcher.style {
	case StylePerson:
		r.person = parsePerson(terms, given, family, whole)
		r.name = parseName(terms, strings.Join(append(slices.Clone(r.person.given.words), r.person.family.words...), " "))
	case StyleTitle:
		r.title = parseTitle(terms, r.cutVariants(r.cutCredits(whole)))
		r.title.variants = r.variants
		for _, d := range r.dates {
			r.title.years = append(r.title.years, strconv.Itoa(int(d.date.year)))
		}
		r.name = r.title.name
	}
}

// firstSaid returns the first value that is not a null value.
func firstSaid(values []string) string {
	for _, v := range values {
		if !isNothing(fold(v)) {
			return v
		}
	}
	return ""
}
