// SPDX-License-Identifier: Apache-2.0

package match

import "testing"

// The level is the share of the shorter text, in either order; a short one is not contained for certain, and a rare
// common word raises the level.
func TestCompareText(t *testing.T) {
	t.Parallel()
	of := func(weights ...weight) *bag {
		b := &bag{more: true}
		for i, w := range weights {
			if w > 0 {
				b.words = append(b.words, bagWord{hash: uint64(i), weight: w})
				b.total += w
			}
		}
		return b
	}
	rare := of(500, 500, 0, 500)
	rare.words[0].rare = true
	plain := of(500, 500, 500)
	plain.more = false
	for _, c := range []struct {
		name string
		a, b *bag
		want level
	}{
		{"no text", of(), of(500), levelNone},
		{"titles only", plain, plain, levelNone},
		{"nothing", of(500), of(0, 500), textNothing},
		{"a common word of many", of(20, 500), of(20, 0, 500), textNothing},
		{"a tenth", of(50, 450), of(50, 0, 450), textLittle},
		{"a third", of(500, 500, 500), of(500, 0, 0, 500, 500), textSome},
		{"half", of(500, 500), of(500, 0, 500), textHalf},
		{"two thirds", of(500, 500, 500), of(500, 500, 0, 500), textMuch},
		{"all of a short one", of(500, 500), of(500, 500, 500, 500), textMuch},
		{"all of a long one", of(500, 500, 500), of(500, 500, 500, 500), textMost},
		{"two thirds, one of them rare", rare, of(500, 500, 500), textMost},
		{"all, and a rare one", rare, of(500, 500, 500, 500), textMostRare},
	} {
		if got := compareText(c.a, c.b); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if c.name == "two thirds, one of them rare" || c.name == "all, and a rare one" {
			continue // a word is rare in both texts or in neither
		}
		if got := compareText(c.b, c.a); got != c.want {
			t.Errorf("%s, the other way round: %d, want %d", c.name, got, c.want)
		}
	}
}

// Without statistics model numbers weigh most, and words of business and short ones least.
func TestWeighText_WithoutCounts(t *testing.T) {
	t.Parallel()
	terms := DefaultTermFrequencies()
	for w, want := range map[string]weight{"sx120": 675, "64327": weightCommon, "tv": weightCommon, "2007": weightCommon, "walnut": weightRare, "restaurant": weightCommon} {
		if got, rare := terms.weighText(w, textHash(w), nameWords[w]); got != want || rare {
			t.Errorf("%q weighs %d, rare %v; want %d", w, got, rare, want)
		}
	}
}
