// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// maxBag limits the words of a bag, and with them the cost of a comparison.
const maxBag = 96

// bag holds the different words of all text of a record whose name is a title: the title, ids, categories, people, and
// the attributes that the kind declares as text.
type bag struct {
	words []bagWord // ordered by hash
	total weight    // of all words
	more  bool      // has words of a text that are not in the title
}

type bagWord struct {
	hash   uint64
	weight weight
	rare   bool // few records have the word; never set for model numbers, which are compared separately
}

// maxNothing is the length from which a text is no null value, in any notation.
const maxNothing = 64

// textSalt distinguishes the words of a text from the words of a name, because their counts are in one table.
const textSalt = 0x7465787400000000

// textCounted is the hash under which a table stores the number of titles whose text it counts. Older tables lack it.
var textCounted = textHash("")

func textHash(w string) uint64 { return xxhash.Sum64String(w) ^ textSalt }

// readText fills in the bag of a title, and the model numbers among its ids and in its text.
func (r *Record) readText(texts []string) {
	terms, t := r.matcher.terms, r.title
	t.bag.words = make([]bagWord, 0, min(len(t.words)+16*len(texts), maxBag))
	for _, w := range t.words {
		t.bag.add(terms, w)
	}
	for _, id := range r.ids {
		if id.world {
			t.bag.add(terms, id.value)
			if isCode(id.value) {
				t.codes.ids = addCode(t.codes.ids, terms, id.value)
			}
		}
	}
	for _, a := range r.matcher.read {
		if a.Type == TypeCategory || a.Type == TypePeople {
			t.bag.addValues(terms, r.attributes[a.Name])
		}
	}
	for _, a := range r.matcher.labels {
		t.bag.addValues(terms, r.attributes[a.Name])
	}
	for _, q := range r.numbers {
		if q.measure.unit != "" {
			t.addMeasures(terms, q.measure)
		}
	}
	declared := len(t.bag.words)
	for _, raw := range texts {
		if len(raw) < maxNothing && isNothing(fold(raw)) {
			continue
		}
		words, measures := splitTitle(raw)
		// a text that is only a size gives the size of the thing, as if it were in the title
		if len(words) == len(measures) {
			t.addMeasures(terms, measures...)
			continue
		}
		for _, w := range words {
			t.bag.add(terms, w)
			if len(t.codes.told) < maxCodes && isCode(w) {
				t.codes.told = addCode(t.codes.told, terms, w)
			}
		}
	}
	t.bag.more = len(t.bag.words) > declared
	slices.SortFunc(t.bag.words, func(x, y bagWord) int { return cmp.Compare(x.hash, y.hash) })
}

// addMeasures adds sizes to those in the title.
func (t *title) addMeasures(terms *TermFrequencies, sizes ...measure) {
	for _, m := range sizes {
		if len(t.measures) < maxMeasures && !slices.Contains(t.measures, m) {
			t.measures = append(t.measures, m)
		}
		t.bag.add(terms, m.word())
	}
}

// addValues adds the words of values that are no text.
func (b *bag) addValues(terms *TermFrequencies, values []string) {
	for _, raw := range values {
		for w := range strings.FieldsSeq(fold(raw)) {
			b.add(terms, w)
		}
	}
}

func (b *bag) add(terms *TermFrequencies, w string) {
	if len(b.words) == maxBag {
		return
	}
	h := textHash(w)
	if slices.ContainsFunc(b.words, func(o bagWord) bool { return o.hash == h }) {
		return
	}
	role := nameWords[w]
	if role&nameStop != 0 {
		return
	}
	weight, rare := terms.weighText(w, h, role)
	b.words = append(b.words, bagWord{h, weight, rare && !isCode(w)})
	b.total += weight
}

// weighText returns the weight of a folded word of a text, and whether few records have the word. Without statistics no
// word counts as rare.
func (p *TermFrequencies) weighText(w string, hash uint64, role nameRole) (of weight, rare bool) {
	if p.texts > 0 {
		n := max(p.tokens[hash], 1)
		of = weight(math.Round(100 * math.Log(float64(p.texts+1)/float64(n))))
		return min(max(of, 10), weightMax), n <= rareCode
	}
	switch {
	case isCode(w) && !digits(w):
		return weightRare * 3 / 2, false
	case role&nameBusiness != 0, len(w) <= 2, digits(w):
		return weightCommon, false
	case role&nameFamiliar != 0:
		return weightFamiliar, false
	}
	return weightRare, false
}

// has reports whether a folded word is in the bag.
func (b *bag) has(w string) bool { return b.holds(textHash(w)) }

func (b *bag) holds(hash uint64) bool {
	_, found := slices.BinarySearchFunc(b.words, hash, func(x bagWord, h uint64) int { return cmp.Compare(x.hash, h) })
	return found
}

// tells reports whether the bag contains every word of a folded text.
func (b *bag) tells(folded string) bool {
	for w := range strings.FieldsSeq(folded) {
		if !b.has(w) && nameWords[w]&nameStop == 0 {
			return false
		}
	}
	return folded != ""
}

// fewWords is the least weight of the shared words for which a text can count as contained in another: a shorter text
// may be contained by chance.
const fewWords weight = 1500

// compareText grades how much of the shorter text the other contains, by the weight of the words. A shared rare word
// raises the grade. Records with no text but the title are compared by name only.
func compareText(a, b *bag) level {
	if len(a.words) == 0 || len(b.words) == 0 || !a.more && !b.more {
		return levelNone
	}
	common, rare := a.overlap(b)
	l := textNothing
	switch contained := float64(common) / float64(min(a.total, b.total)); {
	case contained >= 0.8 && common >= fewWords:
		l = textMost
	case contained >= 0.6:
		l = textMuch
	case contained >= 0.4:
		l = textHalf
	case contained >= 0.2:
		l = textSome
	case contained >= 0.05:
		l = textLittle
	}
	if rare {
		l++
	}
	return l
}

// gradeBags grades two titles by all of their words, as far as these are written alike.
func gradeBags(a, b *bag) level {
	common, _ := a.overlap(b)
	return gradeCommon(common, a.total, b.total)
}

// overlap returns the weight of the shared words, and whether one of them is rare.
func (b *bag) overlap(other *bag) (common weight, rare bool) {
	for i, j := 0, 0; i < len(b.words) && j < len(other.words); {
		switch x, y := &b.words[i], &other.words[j]; {
		case x.hash < y.hash:
			i++
		case x.hash > y.hash:
			j++
		default:
			common += x.weight
			rare = rare || x.rare
			i++
			j++
		}
	}
	return common, rare
}
