// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Two words that stand in one place of otherwise equal titles, more than once and each time beside a third word, and
// hardly ever together in a title, are values of one property: Midnight and Sand, Pro and Max. Titles with one each are
// of two things, even if they share a model number, which all colours may have.

const (
	// alternativePlaces is the number of places from which two words are alternatives.
	alternativePlaces = 2
	// mostInPlace is the number of words above which a place may have any word.
	mostInPlace = 24
	// together is the share of the titles expected by chance up to which two words do not stand together.
	together = 0.25

	// sharedLeast is the number of pairs of records with one id from which the ids of an attribute are judged.
	sharedLeast = 20
	// sharedShare is the share of these pairs with alternatives in their titles from which an id is of a series.
	sharedShare = 0.2
	// mostShared is the number of records of an id that are counted.
	mostShared = 8
)

// alternativeHash is the hash under which a table stores that two words are alternatives, from the hashes of the words.
// With 0 as the second it is that the word has alternatives.
func alternativeHash(x, y uint64) uint64 { return (x + y) * 0x9e3779b97f4a7c15 }

// sharedHash is the hash under which a table stores that things of a series share the ids of an attribute.
func sharedHash(attribute string) uint64 { return textHash("\x00shared" + attribute) }

// alternatives reports whether two words, by their hashes, are values of one property.
func (p *TermFrequencies) alternatives(x, y uint64) bool { return p.tokens[alternativeHash(x, y)] > 0 }

// pair is two words in order of the alphabet.
type pair struct{ x, y string }

func pairOf(x, y string) pair { return pair{min(x, y), max(x, y)} }

// addAlternatives adds the alternatives to a table. The places are sorted by their frames.
func (c *contrast) addAlternatives(p *TermFrequencies) {
	places := map[pair]int{}
	for of := range eachPlace(c.bare) {
		c.countPairs(of, places)
	}
	found := map[string]bool{}
	for of, n := range places {
		if n >= alternativePlaces {
			found[of.x], found[of.y] = true, true
		}
	}
	titles, both := c.countTogether(found)
	for of, n := range places {
		chance := float64(titles[of.x]) * float64(titles[of.y]) / float64(len(c.titles))
		if n < alternativePlaces || float64(both[of]) > together*chance {
			continue
		}
		x, y := xxhash.Sum64String(of.x), xxhash.Sum64String(of.y)
		for _, h := range [...]uint64{alternativeHash(x, y), alternativeHash(x, 0), alternativeHash(y, 0), tellsHash("")} {
			p.tokens[h] = seriesLeast
		}
	}
}

// countPairs counts a place for the pairs of words that stand there. Sizes are compared with their units. Two words
// alone may be two spellings, unless they name two colours.
func (c *contrast) countPairs(of []framed, places map[pair]int) {
	var words []string
	for _, f := range of {
		if w := c.titles[f.title][f.from]; !slices.Contains(words, w) && !isMeasureWord(w) {
			words = append(words, w)
		}
		if len(words) > mostInPlace {
			return
		}
	}
	slices.Sort(words) // the order of the titles does not matter
	for i, w := range words {
		for _, o := range words[:i] {
			known := colourOf(w) != 0 && colourOf(o) != 0
			if (known || len(words) >= contrasts) && !samePhrase([]string{w}, []string{o}) {
				places[pairOf(w, o)]++
			}
		}
	}
}

// countTogether counts the titles that have each of some words, and two of them.
func (c *contrast) countTogether(of map[string]bool) (titles map[string]int, both map[pair]int) {
	titles, both = map[string]int{}, map[pair]int{}
	for _, words := range c.titles {
		var found []string
		for _, w := range words {
			if !of[w] || slices.Contains(found, w) {
				continue
			}
			for _, o := range found {
				both[pairOf(w, o)]++
			}
			found = append(found, w)
			titles[w]++
		}
	}
	return titles, both
}

// addShared adds the attributes whose ids are shared by things that their titles tell apart, as the sizes of a shoe
// share an article number.
func (c *contrast) addShared(p *TermFrequencies) {
	for attribute, ids := range c.ids {
		slices.SortFunc(ids, func(x, y valued) int {
			return cmp.Or(cmp.Compare(x.title, y.title), cmp.Compare(c.alls[x.value], c.alls[y.value]))
		})
		pairs, apart := 0, 0
		for of := range eachTitle(ids) {
			of = of[:min(len(of), mostShared)]
			for i, x := range of {
				for _, y := range of[:i] {
					pairs++
					if p.apart(c.titles[x.value], c.titles[y.value]) {
						apart++
					}
				}
			}
		}
		if pairs >= sharedLeast && float64(apart) >= sharedShare*float64(pairs) {
			p.tokens[sharedHash(attribute)] = seriesLeast
		}
	}
}

// apart reports whether two titles, by their words, have alternatives.
func (p *TermFrequencies) apart(a, b []string) bool {
	for _, x := range a {
		h := xxhash.Sum64String(x)
		if slices.Contains(b, x) || !p.alternatives(h, 0) {
			continue
		}
		for _, y := range b {
			if !slices.Contains(a, y) && p.alternatives(h, xxhash.Sum64String(y)) {
				return true
			}
		}
	}
	return false
}

// alternates reports whether each title keeps a word that is an alternative of the other's, and is nowhere in the
// other's text.
func (t *title) alternates(other *title, used, usedOther uint32) bool {
	if t.varied == 0 || other.varied == 0 {
		return false
	}
	for i := range t.name.tokens {
		if !t.varies(i, used, other) {
			continue
		}
		for j := range other.name.tokens {
			if other.varies(j, usedOther, t) && t.terms.alternatives(t.name.tokens[i].hash, other.name.tokens[j].hash) {
				return true
			}
		}
	}
	return false
}

// varies reports whether a title keeps a word with alternatives that the other has nowhere in its text.
func (t *title) varies(i int, used uint32, other *title) bool {
	return t.varied&(1<<i) != 0 && isKept(t.name.tokens, used, i) && !other.bag.holds(t.name.tokens[i].hash^textSalt)
}
