// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/spell"
)

// has reports whether an entity has each word of a search, the last as a prefix, or another in its place.
func has(own, words []string, instead [][]string) bool {
	for i, word := range words {
		if !slices.ContainsFunc(own, func(w string) bool {
			return w == word || i == len(words)-1 && strings.HasPrefix(w, word) || slices.Contains(instead[i], w)
		}) {
			return false
		}
	}
	return true
}

// The search finds exactly the same as if every similar word were tried in every cell, also for an entity that was
// added or changed after the words were read.
func TestNear_TriesAllThatCanBeFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 1, 6, -1),
			rapid.SampledFrom([]string{"a1", "94110", "寿司", "aab1"}))
		text := rapid.SliceOfN(word, 1, 3)
		docs := rapid.SliceOfN(text, 1, 12).Draw(t, "entities")
		var base, recent, all []entity.Occurrence
		for i, words := range docs {
			for _, w := range words {
				o := entity.Occurrence{Word: w, Anchor: entity.PUID(i)}
				all = append(all, o)
				if i%3 == 0 {
					recent = append(recent, o)
				} else {
					base = append(base, o)
				}
			}
		}
		k := &known{base: vocabularyOf(base), recent: vocabularyOf(recent)}
		words := text.Draw(t, "words")
		forgiven := make([]int, len(words))
		for i, w := range words {
			forgiven[i] = spell.Edits(w)
		}
		near := k.near(words, forgiven)
		every := vocabularyOf(all).list
		before := make([][]string, len(words))
		found := map[int]bool{}
		for edits := 1; edits <= spell.MaxEdits; edits++ {
			instead := make([][]string, len(words))
			for i, w := range words {
				for _, other := range every.Within(w, min(edits, forgiven[i]), 1000) {
					instead[i] = append(instead[i], other.Text)
				}
			}
			l := near.levels[edits-1]
			for i, own := range docs {
				found[i] = found[i] || has(own, words, before)
				want := !found[i] && has(own, words, instead)
				got := l.instead != nil && has(own, words, l.instead) && !has(own, words, l.except)
				if got != want {
					t.Fatalf("%q with %d errors: %q is found: %v, want %v; tried %q", words, edits, own, got, want, l)
				}
			}
			before = instead
		}
	})
}

// The last word may be the beginning of a word that is not in the list, and another word may be such a word itself.
func TestNear_WordsThatAreNotListed(t *testing.T) {
	t.Parallel()
	all := []entity.Occurrence{{Word: "diner", Anchor: 1}, {Word: "route66", Anchor: 1}, {Word: "corner", Anchor: 2}}
	k := &known{base: vocabularyOf(all)}
	for _, c := range []struct {
		words []string
		found bool
	}{
		{[]string{"dinner", "route"}, true}, {[]string{"route66", "dinner"}, true}, {[]string{"corrner", "route"}, false},
		{[]string{"route", "dinner"}, false},
	} {
		near := k.near(c.words, []int{spell.Edits(c.words[0]), spell.Edits(c.words[1])})
		if found := near.levels[0].instead != nil; found != c.found {
			t.Errorf("%q may be found: %v, want %v", c.words, found, c.found)
		}
	}
}

// A word of more buckets than fit in a list is in a set of them.
func TestVocabulary_WordsInManyBuckets(t *testing.T) {
	t.Parallel()
	var all []entity.Occurrence
	for i := range entity.PUID(3 * many) {
		all = append(all, entity.Occurrence{Word: "pizza", Anchor: i})
		if i%1000 == 0 {
			all = append(all, entity.Occurrence{Word: "zephyr", Anchor: i})
		}
	}
	v := vocabularyOf(all)
	var zephyr, pizza, neither buckets
	v.addWord(&zephyr, "zephyr", false)
	v.addWord(&pizza, "piz", true)
	v.addWord(&neither, "piz", false)
	switch {
	case neither != buckets{}:
		t.Error("a beginning of a word has buckets")
	case !v.anyIn(&zephyr, v.find("pizza")) || !v.anyIn(&pizza, v.find("zephyr")):
		t.Error("words of one entity are in no bucket together")
	case !zephyr.keep(&pizza):
		t.Error("nothing is left of the buckets of both")
	}
}
