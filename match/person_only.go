// SPDX-License-Identifier: Apache-2.0

package match

import "math"

// A full name in a list of people says as much as it is rare: of 10,000 records hardly two have a family name of one in 3,000
// and a given name of one in 500 by chance. Family name, given names and city are weighed by their counts as if they were
// independent, and the records are so many chances of a namesake. Relatives share the family name and the city, so it
// takes a given name, and a date of birth that differs outweighs the name.

const (
	// likeGiven is the weight of an initial, or of given names that sound alike: one person in twelve has it by chance.
	likeGiven weight = 250
	// otherCity is what a name has to be rarer by in two cities.
	otherCity weight = 100
)

// citySalt distinguishes the counts of cities from those of the words of names.
const citySalt = 0xd6e8feb86659fd93

func cityHash(city string) uint64 { return textHash(city) ^ citySalt }

// citiesCounted is the hash under which a table of persons has the number of records with a city.
var citiesCounted = cityHash("")

// addCity counts the city of a person.
func (p *TermFrequencies) addCity(city string) {
	if city != "" {
		p.tokens[citiesCounted]++
		p.tokens[cityHash(city)]++
	}
}

// ofCity returns the weight of a city of persons, 0 if fewer than two counted records have it.
func (p *TermFrequencies) ofCity(city string) weight {
	n := p.tokens[cityHash(city)]
	if n == 0 || city == "" {
		return 0
	}
	return weight(math.Round(100 * math.Log(float64(p.tokens[citiesCounted])/float64(n))))
}

// onlyOne reports whether hardly another person among the counted records has the given and family names that two
// records have in common, in their city.
func (m *Matcher) onlyOne(v Vector, a, b *Record, family, given level) bool {
	date := v.level(fieldDate)
	born := date != levelNone && date != dateFewYears
	if m.terms.records == 0 || family < familyAlike || born && date.asDate() < dateTwoOff {
		return false
	}
	common := min(a.person.family.weight, b.person.family.weight)
	x, y := &a.person.given, &b.person.given
	switch given {
	case givenInitial, givenSounds:
		common += likeGiven
	case givenAlike, givenNickname, givenEqual, givenEqualRare:
		common += min(x.weight, y.weight)
		if len(x.words) > 1 && len(y.words) > 1 && x.words[1] == y.words[1] {
			common += min(x.second, y.second)
		}
	default:
		return false
	}
	switch v.level(fieldCity) {
	case cityEqual, cityAlike:
		common += max(a.cityWeight, b.cityWeight) // of the one that is not misspelt
	case cityDifferent:
		common -= otherCity
	}
	return common >= m.terms.onlyName
}
