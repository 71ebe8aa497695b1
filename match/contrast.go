// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
)

// A catalogue tells its variants apart by a word in otherwise equal titles: Soft Cream Aloe, Soft Cream Cocoa, Soft Cream
// Rose. Two spellings of one thing differ in the same way: Trail Shoe, Trail Sneaker. There are seldom three of them,
// though, so where three titles differ in one place, what stands there tells things apart.

const (
	// contrasts is the number of words or phrases that stand in one place from which they tell things apart.
	contrasts = 3
	// maxPhrase is the number of words of a phrase that stands in one place.
	maxPhrase = 3
	// maxOfThing is the number of records up to which a title may be of one thing in a catalogue or two. A thing of many
	// records has any spelling more than once.
	maxOfThing = 3
	// bothRecur is how often titles with and without a word both recur if they are different things, as a share of how
	// often any two titles do.
	bothRecur = 0.5
	// minFrame is the number of words that titles need to have in common.
	minFrame = 2
)

// framed is a phrase of a title, by the hash of the other words in any order.
type framed struct {
	frame    uint64
	title    int32
	from, to uint8
}

// contrast collects the titles of a catalogue.
type contrast struct {
	titles  [][]string
	alls    []uint64         // by title: the hash of its words in any order
	records map[uint64]int32 // by that hash
	places  []framed
	bare    []framed            // single words, by the other words that are no model numbers: each thing has its own
	ids     map[string][]valued // by attribute: the hash of an id in place of the title, and the number of the title
}

func (c *contrast) add(r *Record) {
	t := r.title
	if t.name.cut() {
		return // titles would differ in the words at the cut
	}
	var words []string
	var hashes []uint64
	var bare []uint8                  // the words that are no model numbers
	all, rest := uint64(0), uint64(0) // the sums of the hashes of words, and of bare
	for i := range t.name.tokens {
		if w := &t.name.tokens[i]; !w.stop || hasDigit(w.text) {
			words, hashes = append(words, w.text), append(hashes, w.hash)
			all += w.hash
			if t.coded&(1<<i) == 0 {
				bare = append(bare, uint8(len(words)-1)) //nolint:gosec // at most maxNameTokens
				rest += w.hash
			}
		}
	}
	of := int32(len(c.titles)) //nolint:gosec // at most mostCounted
	c.titles, c.alls = append(c.titles, words), append(c.alls, all)
	if c.records == nil {
		c.records, c.ids = map[uint64]int32{}, map[string][]valued{}
	}
	for _, id := range r.ids {
		if id.world {
			c.ids[id.attribute] = append(c.ids[id.attribute], valued{textHash(id.value), uint64(of)}) //nolint:gosec // not negative
		}
	}
	c.records[all]++
	for _, i := range bare {
		if len(bare) > minFrame {
			c.bare = append(c.bare, framed{rest - hashes[i], of, i, i + 1})
		}
	}
	for from := range words {
		frame := all
		for to := from + 1; to <= min(len(words), from+maxPhrase); to++ {
			frame -= hashes[to-1]
			if len(words)-(to-from) >= minFrame {
				c.places = append(c.places, framed{frame, of, uint8(from), uint8(to)}) //nolint:gosec // at most maxNameTokens
			}
		}
	}
}

// tellsHash is the hash under which a table stores that a word tells things of one title apart.
func tellsHash(word string) uint64 { return textHash("\x00tells" + word) }

// omitsHash is the hash under which a table stores that titles with and without a word are different things.
func omitsHash(word string) uint64 { return textHash("\x00omits" + word) }

// addTo adds the words that tell things apart to a table: first single words, then longer phrases without such a word,
// because the word tells those apart already.
func (c *contrast) addTo(p *TermFrequencies) {
	for _, places := range [...][]framed{c.places, c.bare} {
		slices.SortFunc(places, func(x, y framed) int {
			return cmp.Or(cmp.Compare(x.frame, y.frame), cmp.Compare(x.title, y.title), cmp.Compare(x.from, y.from))
		})
	}
	c.addAlternatives(p)
	c.addShared(p)
	for size := 1; size <= maxPhrase; size++ {
		found := map[string]bool{}
		for of := range eachPlace(c.places) {
			if len(of) >= contrasts {
				c.tell(p, of, size, found)
			}
		}
		for w := range found {
			p.tokens[tellsHash(w)], p.tokens[tellsHash("")] = seriesLeast, seriesLeast
		}
		c.addOmitted(p, size)
	}
}

// eachPlace yields the phrases of one frame after another. They are sorted by frame.
func eachPlace(places []framed) iter.Seq[[]framed] {
	return eachGroup(places, func(f framed) uint64 { return f.frame })
}

// addOmitted adds the words that tell a title apart from the same title without them: iPhone 13 Pro, and iPhone 13. They
// may as well be words that one of two catalogues leaves out. Then titles with and without them do not both recur as
// often as titles do.
func (c *contrast) addOmitted(p *TermFrequencies, size int) {
	recurs := func(title uint64) bool { n := c.records[title]; return n > 1 && n <= maxOfThing }
	recurring := 0.0 // titles
	for all := range c.records {
		if recurs(all) {
			recurring++
		}
	}
	least := bothRecur * math.Pow(recurring/float64(max(len(c.records), 1)), 2)
	seen := map[[2]uint64]bool{} // titles without and with the phrase
	both, either := map[string]int{}, map[string]int{}
	for _, of := range c.places {
		phrase := c.titles[of.title][of.from:of.to]
		all := c.alls[of.title]
		if len(phrase) != size || c.records[of.frame] == 0 || seen[[2]uint64{of.frame, all}] || slices.ContainsFunc(phrase, p.omitsWord) {
			continue
		}
		seen[[2]uint64{of.frame, all}] = true
		for _, w := range phrase {
			either[w]++
			if recurs(of.frame) && recurs(all) {
				both[w]++
			}
		}
	}
	for w, n := range both {
		if n >= contrasts && float64(n) >= least*float64(either[w]) {
			p.tokens[omitsHash(w)], p.tokens[tellsHash("")] = seriesLeast, seriesLeast
		}
	}
}

// tell adds the words of the phrases of a size that stand in one place, if enough phrases of that size or shorter ones
// stand there that are not spellings of each other.
func (c *contrast) tell(p *TermFrequencies, places []framed, size int, found map[string]bool) {
	var phrases, different [][]string
	for _, of := range places {
		if phrase := c.titles[of.title][of.from:of.to]; len(phrase) <= size {
			phrases = append(phrases, phrase)
		}
	}
	slices.SortFunc(phrases, slices.Compare) // the order of the titles does not matter
	for _, phrase := range phrases {
		if !slices.ContainsFunc(different, func(d []string) bool { return samePhrase(d, phrase) }) {
			different = append(different, phrase)
		}
		if len(different) == contrasts {
			break
		}
	}
	if len(different) < contrasts {
		return
	}
	for _, phrase := range phrases {
		if len(phrase) == size && !slices.ContainsFunc(phrase, p.tellsWord) {
			for _, w := range phrase {
				found[w] = true
			}
		}
	}
}

// samePhrase reports whether two phrases may be two spellings of one.
func samePhrase(a, b []string) bool {
	if !vary(a, b) {
		return true
	}
	x, y := strings.Join(a, ""), strings.Join(b, "")
	return likeWord(x, y) && !hasDigit(x) && !hasDigit(y)
}

// tellsWord reports whether a word tells titles apart.
func (p *TermFrequencies) tellsWord(w string) bool { return p.tokens[tellsHash(w)] > 0 }

// omitsWord reports whether titles with and without a word are different things.
func (p *TermFrequencies) omitsWord(w string) bool { return p.tokens[omitsHash(w)] > 0 }

// keepsAny reports whether a title keeps one of some words, a bit each, and the other title none that may stand for it.
func (t *title) keepsAny(words, used uint32, other *title, usedOther uint32) bool {
	for i := range t.name.tokens {
		if words&(1<<i) != 0 && isKept(t.name.tokens, used, i) && !stoodFor(t.name.tokens[i].text, other, usedOther) {
			return true
		}
	}
	return false
}

// stoodFor reports whether a title keeps a word that may be another spelling of w.
func stoodFor(w string, t *title, used uint32) bool {
	for i := range t.name.tokens {
		if isKept(t.name.tokens, used, i) && mayBe(w, t.name.tokens[i].text) {
			return true
		}
	}
	return false
}
