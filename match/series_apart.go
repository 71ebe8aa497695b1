// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strings"
)

// In a file without duplicates no value recurs among the records of a title, and yet the evenings of a tour are its
// things. Two signs show it. Things of one title avoid a value that another of them has: no size of a shirt is listed
// twice. And a date of the thing is no more often equal among the records of one title than among any others: these are
// not one thing.

const (
	// apartTitles is the number of titles of several records from which they show either.
	apartTitles = 20
	// apartLeast is the number of pairs that have one value by chance from which fewer show that values are avoided,
	// and the number of pairs of one title from which their dates show that they are of different things.
	apartLeast, apartPairs = 20, 100
	// avoided is the share of the pairs that have one value by chance up to which values are avoided.
	avoided = 0.25
	// seldom is the share of the pairs of one title, beyond chance, up to which one value is no sign of one thing.
	seldom = 0.05
	// manyOfTitle is the number of records from which a title is left out, such as Editorial.
	manyOfTitle = 64
)

// meeting is how often records of one title have values a gap apart, and how often any two records have.
type meeting struct {
	titles int
	pairs  float64
	found  [gapFar + 1]float64
	chance [gapFar + 1]float64
}

// avoids reports whether far fewer pairs have one value than by chance.
func (m meeting) avoids() bool {
	return m.titles >= apartTitles && m.chance[gapNone] >= apartLeast && m.found[gapNone] <= avoided*m.chance[gapNone]
}

// seldom reports whether pairs are hardly more often a gap apart, or less, than by chance.
func (m meeting) seldom(most gap) bool {
	var found, chance float64
	for g := range most + 1 {
		found, chance = found+m.found[g], chance+m.chance[g]
	}
	return m.titles >= apartTitles && m.pairs >= apartPairs && found-chance <= seldom*(m.pairs-chance)
}

// steps are how far apart in the list of all values, as a share of it, those are that stand for two by chance.
var steps = [...]float64{0.5, 0.29, 0.37, 0.43, 0.13}

// meet counts how the sorted values of an attribute meet. The pairs of a title have at most the weight of the pairs of
// mostOfTitle records.
func (s series) meet(a *Attribute) (m meeting) {
	var all []uint64 // of the titles that count
	for of := range eachTitle(s.values[a]) {
		n := len(of)
		if n < 2 || n > manyOfTitle {
			continue
		}
		m.titles++
		one := min(1, mostOfTitle/float64(n)*(mostOfTitle-1)/float64(n-1))
		for i, x := range of {
			all = append(all, x.value)
			for _, y := range of[:i] {
				m.found[s.gap(a, x.value, y.value)] += one
				m.pairs += one
			}
		}
	}
	tries := 0.0
	for _, step := range steps {
		by := int(step * float64(len(all)))
		for i, x := range all {
			m.chance[s.gap(a, x, all[(i+by)%len(all)])]++
			tries++
		}
	}
	for g := range m.chance {
		m.chance[g] *= m.pairs / max(tries, 1)
	}
	return m
}

// apart returns the attributes whose values are of different things in a file without duplicates, with the gaps. A
// number tells things apart where a date does, and prices never do: those of one thing differ.
func (s series) apart() map[*Attribute]gaps {
	found, meetings, dated := map[*Attribute]gaps{}, map[*Attribute]meeting{}, false
	if s.identified() {
		return found
	}
	for a := range s.values {
		m := s.meet(a)
		meetings[a] = m
		near, far := m.avoids(), m.avoids() && a.Role != RoleVariant // see Avoided
		if a.Type == TypeDate {
			near, far = near || m.seldom(gapNear), far || m.seldom(gapNone)
			dated = dated || far
		}
		if near {
			found[a] |= 1 << gapNear
		}
		if far {
			found[a] |= 1 << gapFar
		}
	}
	for a, m := range meetings {
		switch {
		case a.Type != TypeNumber:
		case isPrice(a):
			delete(found, a)
		case dated && m.seldom(gapNear):
			found[a] |= 1 << gapFar
		}
	}
	return found
}

// identified reports whether records of one title often have one identifier. So there are duplicates, and a date that
// they do not share is no date of the thing.
func (s series) identified() bool {
	for _, values := range s.ids {
		slices.SortFunc(values, func(x, y valued) int { return cmp.Or(cmp.Compare(x.title, y.title), cmp.Compare(x.value, y.value)) })
		pairs, equal := 0, 0
		for of := range eachTitle(values) {
			for i, x := range of[:min(len(of), manyOfTitle)] {
				for _, y := range of[:i] {
					if pairs++; x.value == y.value {
						equal++
					}
				}
			}
		}
		if equal >= apartLeast && float64(equal) > seldom*float64(pairs) {
			return true
		}
	}
	return false
}

// isPrice reports whether an attribute is named like a price.
func isPrice(a *Attribute) bool { return a.hasWord(priceNames) }

// hasWord reports whether the name of an attribute has one of some words.
func (a *Attribute) hasWord(words map[string]bool) bool {
	return slices.ContainsFunc(strings.Split(a.Name, "_"), func(w string) bool { return words[w] })
}

var priceNames = wordSet(`price prices cost costs amount value fee msrp rrp uvp preis kosten prix precio prezzo preco prijs cena pris hinta`)
