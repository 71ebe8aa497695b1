// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"cmp"
	"slices"

	"github.com/locus-db/locus/internal/spell"
)

// nearby are the words of a cell that the words of a search may stand for.
type nearby struct {
	words  [][]candidate // for each word its alternatives, the nearest first
	levels [spell.MaxEdits]level
}

// candidate is a word, with its positions in the lists; -1 where it is not.
type candidate struct {
	spell.Word
	base, recent int
}

// level is a search with up to some typing errors in a word: instead has alternatives for each word, except those of
// the levels before, whose results are left out. Both are nil if the cell has nothing more.
type level struct{ instead, except [][]string }

// near returns the words that may have been meant. It returns only similar words that occur in a bucket that may
// contain an entity with an alternative for every word. Mostly there are none, otherwise few. That matters because each
// returned word is looked up in the index of the cell.
func (k *known) near(words []string, forgiven []int) *nearby {
	n := &nearby{words: make([][]candidate, len(words))}
	var possible [spell.MaxEdits + 1]buckets // by errors in a word
	for edits := range possible {
		possible[edits].fill()
	}
	for _, i := range longestFirst(words) {
		var has buckets // the word, or something in its place
		for _, v := range []*vocabulary{k.base, k.recent} {
			v.addWord(&has, words[i], i == len(words)-1)
		}
		if forgiven[i] > 0 {
			n.words[i] = k.within(words[i], forgiven[i])
		}
		any := false
		for edits, near := 0, n.words[i]; edits < len(possible); edits++ {
			for ; len(near) > 0 && near[0].Edits == edits; near = near[1:] {
				k.base.addTo(&has, near[0].base)
				k.recent.addTo(&has, near[0].recent)
			}
			any = possible[edits].keep(&has)
		}
		if !any && !k.stale {
			return n
		}
	}
	before := make([][]string, len(words))
	for edits := 1; edits < len(possible); edits++ {
		if instead, more := k.instead(n.words, edits, &possible[edits]); more {
			n.levels[edits-1], before = level{instead, before}, instead
		}
	}
	return n
}

// longestFirst returns the indexes of words. The fewer entities have something in place of a word, the sooner it is
// known that a cell has none.
func longestFirst(words []string) []int {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(words[b]), len(words[a])) })
	return order
}

// maxWords is about how many corrections of all words of a search are tried in a cell, at least minWords for each.
const (
	maxWords = 240
	minWords = 16
)

// instead returns for each word the alternatives with up to so many errors that occur in possible buckets, and whether
// any has exactly as many.
func (k *known) instead(words [][]candidate, edits int, possible *buckets) (instead [][]string, more bool) {
	instead = make([][]string, len(words))
	most := max(minWords, maxWords/len(words))
	for i := range words {
		for _, c := range words[i] {
			if c.Edits > edits || len(instead[i]) == most {
				break
			}
			if k.stale || k.base.anyIn(possible, c.base) || k.recent.anyIn(possible, c.recent) {
				instead[i] = append(instead[i], c.Text)
				more = more || c.Edits == edits
			}
		}
	}
	return instead, more
}

// within returns the words near another one, the nearest first.
func (k *known) within(word string, edits int) (near []candidate) {
	const limit = 1000
	for _, w := range k.base.list.Within(word, edits, limit) {
		near = append(near, candidate{w, w.At, k.recent.find(w.Text)})
	}
	if k.recent != nil {
		for _, w := range k.recent.list.Within(word, edits, limit) {
			if k.base.find(w.Text) < 0 {
				near = append(near, candidate{w, -1, w.At})
			}
		}
		slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.Edits, b.Edits) })
	}
	return slices.DeleteFunc(near, func(c candidate) bool { return c.Edits == 0 })
}
