// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strings"
)

// spellWords writes the words of a folded name in one of their usual spellings: brothers for bros, 2 for two, saint for
// st. Names that differ only in these are equal, and have the same blocking keys.
func spellWords(folded string) string {
	for word := range strings.SplitSeq(folded, " ") {
		if _, ok := wordSpellings[word]; ok || word == "st" || firstLetterOf[word] != "" {
			words := joinLetters(strings.Split(folded, " "))
			for i, w := range words {
				words[i] = spellWord(words, i, w)
			}
			return strings.Join(words, " ")
		}
	}
	return folded
}

// firstLetterOf has the ends of words that are abbreviated to the first letter and the end, with that letter: F.lli,
// H.nos.
var firstLetterOf = map[string]string{"lli": "f", "nos": "h"}

// joinLetters joins such abbreviations: f lli is flli.
func joinLetters(words []string) []string {
	for i := 1; i < len(words); i++ {
		if words[i-1] == firstLetterOf[words[i]] {
			words = slices.Replace(words, i-1, i+1, words[i-1]+words[i])
		}
	}
	return words
}

func spellWord(words []string, i int, word string) string {
	switch {
	case word != "st":
		return cmp.Or(wordSpellings[word], word)
	case i > 0 && (i+1 == len(words) || nameWords[words[i+1]]&nameBusiness != 0): // Main St Cafe
		return "street"
	}
	return "saint"
}

// plainVowels writes the vowels with dots as they are written without: Müller, which folding makes muller, and Mueller
// are one blocking key.
func plainVowels(s string) string {
	for i := 1; i < len(s); i++ {
		if s[i] == 'e' && strings.IndexByte("aou", s[i-1]) >= 0 {
			if nameWords[s] != 0 { // blue
				return s
			}
			return vowels.Replace(s)
		}
	}
	return s
}

var vowels = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// wordSpellings maps the other spellings of a word to the first one.
var wordSpellings = spellings(spellingsOfNames)

// spellings reads a table with a word and its other spellings in a line.
func spellings(table string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		for _, w := range words[min(1, len(words)):] {
			m[w] = words[0]
		}
	}
	return m
}

// spellingsOfNames has a word and its other spellings in a line, folded. Words that also mean something else, such as
// med or tech, are left out; numbers are those up to twelve, and ordinals are words.
const spellingsOfNames = `
1 one
2 two ii
3 three iii
4 four iv
5 five
6 six vi
7 seven vii
8 eight viii
9 nine ix
10 ten
11 eleven
12 twelve
first 1st
second 2nd
third 3rd
fourth 4th
fifth 5th
sixth 6th
seventh 7th
eighth 8th
ninth 9th
tenth 10th
saint sankt
avenue ave
road rd
boulevard blvd
square sq
highway hwy
parkway pkwy
mount mt
fort ft
academy acad
american amer
association assn assoc
brothers bros
building bldg
center centre ctr
compagnie cie
construction constr
delicatessen deli
department dept
distribution distr
electric elec
engineering engg engrg
equipment equip
fratelli flli
freres frs
gebruder gebrueder gebr
general gen
government govt
group grp
hermanos hnos
holdings hldgs
hospital hosp
institute inst
insurance ins
international intl
irmaos irms
junior jr
laboratory lab
laboratories labs
management mgmt mgt
manufacturer mfr
manufacturing mfg
market mkt
memorial mem
national natl
products prods
school sch
senior sr
service svc
services svcs serv
technologies techs
transport transp
university univ
`
