// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/spell"
)

// vocabulary is the words of the entities of a cell, and in which buckets each occurs. It does not change. A word takes
// about 20 bytes and two for each of its buckets.
type vocabulary struct {
	list   *spell.List
	ends   []uint32         // of each word of the list in in
	in     []bucket         // the buckets of the first word, then those of the second one
	often  map[int]*buckets // buckets of words in more buckets than many, which are not in the list above
	others buckets          // buckets of all words that are not in the list, such as numbers
}

// bucket is a set of entities of a cell. Entities share buckets, so a hit in a bucket must be verified by a search.
type bucket uint16

// bucketOf returns the bucket of an entity.
func bucketOf(anchor entity.PUID) bucket { return bucket(uint64(anchor) * 0x9e3779b97f4a7c15 >> 48) }

// buckets is a set of buckets.
type buckets [1 << 16 / 64]uint64

// many is about from how many buckets on a set is smaller than a list.
const many = 2048

func (p *buckets) add(at bucket)      { p[at>>6] |= 1 << (at & 63) }
func (p *buckets) has(at bucket) bool { return p[at>>6]&(1<<(at&63)) != 0 }

// addAll adds another set.
func (p *buckets) addAll(others *buckets) {
	for i := range p {
		p[i] |= others[i]
	}
}

// fill adds all buckets.
func (p *buckets) fill() {
	for i := range p {
		p[i] = math.MaxUint64
	}
}

// keep removes the buckets that are not in another set, and reports whether any are left.
func (p *buckets) keep(others *buckets) (any bool) {
	var all uint64
	for i := range p {
		p[i] &= others[i]
		all |= p[i]
	}
	return all != 0
}

// newVocabulary returns the vocabulary of words and their buckets.
func newVocabulary(words map[string][]bucket) *vocabulary {
	v := &vocabulary{often: map[int]*buckets{}}
	var b spell.Builder
	for _, word := range slices.Sorted(maps.Keys(words)) {
		at := words[word]
		into := &v.others
		if b.Add(word) {
			if len(at) <= many {
				v.in = append(v.in, at...)
				at = nil
			} else {
				into = new(buckets)
				v.often[len(v.ends)] = into
			}
			v.ends = append(v.ends, uint32(len(v.in))) //nolint:gosec // a cell has fewer words
		}
		for _, p := range at {
			into.add(p)
		}
	}
	v.list = b.List()
	return v
}

// vocabularyOf returns the vocabulary of occurrences.
func vocabularyOf(all []entity.Occurrence) *vocabulary {
	words := map[string][]bucket{}
	for _, o := range all {
		words[o.Word] = append(words[o.Word], bucketOf(o.Anchor))
	}
	return newVocabulary(words)
}

// of returns the buckets of a word of the list, as a list or as a set.
func (v *vocabulary) of(word int) ([]bucket, *buckets) {
	if often := v.often[word]; often != nil {
		return nil, often
	}
	from := uint32(0)
	if word > 0 {
		from = v.ends[word-1]
	}
	return v.in[from:v.ends[word]], nil
}

// addTo adds the buckets of a word of the list to a set, none if its position is -1.
func (v *vocabulary) addTo(set *buckets, word int) {
	if word < 0 {
		return
	}
	list, often := v.of(word)
	if often != nil {
		set.addAll(often)
	}
	for _, b := range list {
		set.add(b)
	}
}

// anyIn reports whether a word of the list is in any bucket of a set.
func (v *vocabulary) anyIn(set *buckets, word int) bool {
	if word < 0 {
		return false
	}
	list, often := v.of(word)
	if often != nil {
		left := *often
		return left.keep(set)
	}
	return slices.ContainsFunc(list, set.has)
}

// addWord adds the buckets of a word as it is written, or of all words that begin with it.
func (v *vocabulary) addWord(set *buckets, word string, prefix bool) {
	at := v.find(word)
	switch {
	case v == nil:
	case prefix:
		from, to := v.list.Prefixed(word)
		for i := from; i < to; i++ {
			v.addTo(set, i)
		}
		set.addAll(&v.others)
	case at >= 0:
		v.addTo(set, at)
	case spell.Edits(word) == 0: // such as a number, or a short word
		set.addAll(&v.others)
	}
}

// find returns the position of a word in the list, -1 if it is not there. The nil vocabulary has no words.
func (v *vocabulary) find(word string) int {
	if v != nil {
		if at, found := v.list.Find(word); found {
			return at
		}
	}
	return -1
}
