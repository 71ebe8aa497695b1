// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// person is the name of a person, prepared for comparison. Either part may be missing.
type person struct {
	given, family part
	generation    string // jr, sr, iii
	whole         string // of a Chinese, Japanese or Korean name: both parts, the family name first
	guessed       bool   // whole was written as one word
}

// part is one part of a name: the words of the family name, or of all given names.
type part struct {
	words   []string
	compact string // without spaces
	sound   string // of the first word
	key     string // the sorted letters of sound, which survive typos
	weight  weight // of the first word, 0 without counts
	second  weight // of the second word, 0 for an initial
}

func (p *part) said() bool { return len(p.words) > 0 }

func (p *part) rare() bool { return p.weight >= rarePart }

// rarePart is the weight from which a part of a name is rare: about one person in 400 has it.
const rarePart weight = 600

func newPart(terms *TermFrequencies, words []string) part {
	words = words[:min(len(words), maxNameTokens)]
	if len(words) == 0 {
		return part{}
	}
	p := part{words: words, compact: strings.Join(words, ""), sound: sound(words[0])}
	p.key = soundKey(p.sound)
	if terms.records > 0 {
		p.weight, _ = terms.weigh(words[0], xxhash.Sum64String(words[0]), 0)
		if len(words) > 1 && len(words[1]) > 1 {
			p.second, _ = terms.weigh(words[1], xxhash.Sum64String(words[1]), 0)
		}
	}
	return p
}

// comparePersons sets the levels of family name and given names, either as given or with the parts swapped
// if that agrees better.
func (m *Matcher) comparePersons(v *Vector, first, second *Record) {
	a, b := &first.person, &second.person
	family, given := compareParts(a, b)
	if family == familyDifferent && given == givenDifferent && (samePart(&a.family, &b.given) || samePart(&a.given, &b.family)) {
		given = givenSwapped // one name is the same, but as the other part
	}
	if family < familyAlike && (given <= givenSounds || given == givenSwapped) && partsSwapped(a, b) {
		family, given = familySwapped, givenSwapped
		if !a.given.said() || !b.given.said() || !a.family.said() || !b.family.said() {
			given = levelNone // each has a single part, one a given and the other a family name
		}
	}
	household, date := v.namesHousehold(), v.level(fieldDate).asDate()
	relatives := household && given == givenDifferent && (family >= familyAlike || date != levelNone && date < dateYear && v.level(fieldEmail) != emailEqual)
	if household && family >= familyAlike && (given == givenSounds || given == givenAlike) && (date == dateDifferent || date == dateTwoOff) {
		relatives = yearsApart(first.dates, second.dates) >= siblings && !mistyped(a.given.words[0], b.given.words[0])
	}
	if a.generation != "" && b.generation != "" && a.generation != b.generation || relatives {
		bornOneDay := v.level(fieldDate) == dateEqual && v.level(fieldEmail) != emailDifferent
		if given = givenHousehold; bornOneDay && a.generation == b.generation && !secondsDiffer(&a.given, &b.given) {
			given = givenTwin
		}
	}
	rare := family == familyEqualRare || given == givenEqualRare
	only := m.onlyOne(*v, first, second, family, given)
	switch {
	case family == familyDifferent && given != levelNone && given != givenDifferent && !rare && (v.neighbours() || v.onlyBorn(m)):
		family = familyLoose
	case given == givenDifferent && family > familyDifferent && (!rare && v.onlyBorn(m) || m.terms.tokens[datesCounted] == 0 && v.neighbours()):
		given = givenLoose
	case only && given >= givenAlike:
		given = givenOnly
	case family >= familyAlike && !only && !v.namesPerson(rare) && !(rare && v.level(fieldDate) == dateTwoOff):
		family = familyAlone
	}
	v.set(fieldName, family)
	v.set(fieldResidual, given)
}

// siblings is the least number of years between the births of relatives in one household whose given names are alike.
const siblings = 2

// yearsApart returns the number of years between two dates of birth.
func yearsApart(a, b []dated) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	x, y := int(a[0].date.year), int(b[0].date.year)
	return max(x-y, y-x)
}

// fewYears is how many years apart two years of birth may be that are computed from ages, or stated from memory.
const fewYears = 3

// bornAbout reports whether two persons are known to be born in a few years, and not on which day.
func bornAbout(v Vector, a, b []dated) bool {
	date := v.level(fieldDate)
	return (date == dateNextYear || date == dateDifferent) && len(a) > 0 && len(b) > 0 &&
		(a[0].date.month == 0 || b[0].date.month == 0) && yearsApart(a, b) <= fewYears
}

// manyPeople is the number of counted records from which two people share a common name and a day of birth by chance.
const manyPeople = 2000

// onlyBorn reports whether two records agree in nothing but the date of birth and one part of their names, or the year
// and the city. Among many people that is chance; a learned prior accounts for it better.
func (v Vector) onlyBorn(m *Matcher) bool {
	whole := v.level(fieldDate).asDate() >= dateOneOff
	if !m.chance || v.level(fieldDate).asDate() < dateYear || whole && (m.terms.records < manyPeople || v.level(fieldCity) >= cityEqual) {
		return false
	}
	v.put(fieldDate, levelNone)
	return !v.namesPerson(true)
}

// namesPerson reports whether a field other than the name and the city ties two records to one person. A year alone
// does not if the name is common and the cities differ; a mistyped postcode does if the cities agree.
func (v Vector) namesPerson(rare bool) bool {
	date, email, id := v.level(fieldDate).asDate(), v.level(fieldEmail), v.level(fieldID)
	if v.level(fieldBox) != levelNone {
		email = levelNone
	}
	if date == dateYear && !rare && v.level(fieldCity) == cityDifferent {
		date = levelNone
	}
	postcode := v.level(fieldPostcode)
	return date >= dateYear || v.level(fieldPhone) >= phoneSeven || v.level(fieldAddress) >= addressStreet ||
		postcode == postcodeEqual || postcode == postcodeOneOff && v.level(fieldCity) >= cityEqual || v.level(fieldDistance) >= distance100 ||
		email == emailEqual || email == emailAlike || id == idEqual || id == idMistyped || v.level(fieldWeb) == webPage
}

// neighbours reports whether two records agree in the address and in nothing else that ties them to one person.
func (v Vector) neighbours() bool {
	if v.level(fieldAddress) < addressStreet && v.level(fieldPostcode) != postcodeEqual && v.level(fieldDistance) < distance100 {
		return false
	}
	email, id := v.level(fieldEmail), v.level(fieldID)
	return v.level(fieldDate).asDate() < dateTwoOff && v.level(fieldPhone) < phoneSeven && email != emailEqual && email != emailAlike &&
		id != idEqual && id != idMistyped && v.level(fieldWeb) != webPage
}

// namesHousehold reports whether two records share a home or a phone, or a mailbox and no date of birth. People there
// with one family name and different given names are probably relatives.
func (v Vector) namesHousehold() bool {
	return v.level(fieldAddress) == addressBoth || v.level(fieldPhone) >= phoneEqual ||
		v.level(fieldEmail) == emailEqual && v.level(fieldDate).asDate() < dateYear
}

func partsSwapped(a, b *person) bool {
	one, two := samePart(&a.family, &b.given), samePart(&a.given, &b.family)
	switch {
	case one && two, one && nearPart(&a.given, &b.family), two && nearPart(&a.family, &b.given):
		return true
	case one:
		return !a.given.said() || !b.family.said()
	case two:
		return !a.family.said() || !b.given.said()
	}
	return false
}

func samePart(a, b *part) bool {
	return a.said() && b.said() && (a.compact == b.compact || likeWord(a.words[0], b.words[0]))
}

func nearPart(a, b *part) bool {
	return a.said() && b.said() && (a.key == b.key || similar(a.words[0], b.words[0]) >= 0.8)
}

func compareFamilies(a, b *part) level {
	switch {
	case !a.said() || !b.said():
		return levelNone
	case a.compact == b.compact && a.rare() && b.rare():
		return familyEqualRare
	case a.compact == b.compact:
		return familyEqual
	case likeWord(a.compact, b.compact):
		return familyAlike
	case slices.ContainsFunc(a.words, func(w string) bool { return len(w) > 2 && !particles[w] && slices.Contains(b.words, w) }):
		return familyPart
	case nearPart(a, b) || similar(a.compact, b.compact) >= 0.8:
		return familySounds
	}
	return familyDifferent
}

// likeWord reports whether two words are equal or differ by a probable typo.
func likeWord(a, b string) bool {
	if a == b {
		return true
	}
	switch min(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) {
	case 0, 1, 2:
		return false
	case 3:
		return firstLetters(a, 1) == firstLetters(b, 1) && !isEastern(a) && mistyped(a, b)
	}
	return slip(a, b) || similar(a, b) >= softSimilar
}

// added reports whether long is short with one more letter.
func added(short, long string) bool {
	if len(long) <= len(short) {
		return false
	}
	i := equalLetters(short, long)
	_, size := utf8.DecodeRuneInString(long[i:])
	return short[i:] == long[i+size:]
}

// lookCloser tolerates typos in fields that persons often type themselves: mailbox, city and postcode.
func (v *Vector) lookCloser(a, b *Record) {
	if v.level(fieldEmail) == levelNone {
		v.set(fieldEmail, compareMailboxes(a.emails, b.emails))
	}
	if v.level(fieldCity) == cityDifferent && likeWord(a.city, b.city) {
		v.put(fieldCity, cityAlike)
	}
	if v.level(fieldPostcode) <= postcodeNear && v.level(fieldPostcode) != levelNone && mistypedPostcode(a.postcode, b.postcode) {
		v.put(fieldPostcode, postcodeOneOff)
	}
}

// mistypedPostcode reports whether two postcodes differ by a slip: an additional digit or a wrong one. Postcodes that
// differ in the last digit are neighbours and not slips.
func mistypedPostcode(a, b string) bool {
	return slip(a, b) && a[len(a)-1] == b[len(b)-1] || added(a, b) || added(b, a)
}

// mistyped reports whether two words differ by one slip.
func mistyped(a, b string) bool { return slip(a, b) || added(a, b) || added(b, a) }

// compareMailboxes is compareEmails with the levels for persons.
func compareMailboxes(a, b []string) level {
	best := levelNone
	for _, x := range a {
		for _, y := range b {
			switch {
			case x == y:
				return emailEqual
			case (mistyped(x, y) || similar(x, y) >= 0.93) && !numberedBoxes(x, y):
				best = emailAlike
			case best == levelNone:
				best = emailDifferent
			}
		}
	}
	return best
}

// numberedBoxes reports whether two mailboxes differ in nothing but their number, as those of namesakes do:
// ann.smith2@example.org and ann.smith31@example.org.
func numberedBoxes(a, b string) bool {
	stem := func(mailbox string) (box, host string) {
		box, host, _ = strings.Cut(mailbox, "@")
		return strings.TrimRight(box, "0123456789"), host
	}
	box, host := stem(a)
	other, at := stem(b)
	return box == other && host == at
}
