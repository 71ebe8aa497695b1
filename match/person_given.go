// SPDX-License-Identifier: Apache-2.0

package match

import "slices"

func compareGivens(a, b *part) level {
	if !a.said() || !b.said() {
		return levelNone
	}
	x, y := a.words[0], b.words[0]
	switch {
	case a.compact == b.compact && a.rare() && b.rare():
		return givenEqualRare
	case a.compact == b.compact:
		return givenEqual
	case len(x) == 1 || len(y) == 1:
		switch {
		case x[0] == y[0] && !secondsDiffer(a, b):
			return givenInitial
		case exchanged(a, b):
			return givenAlike
		}
		return givenDifferent
	case x == y && secondsDiffer(a, b):
		return givenSecond
	case x == y:
		return givenEqual
	case exchanged(a, b):
		return givenAlike
	case secondsDiffer(a, b):
		return givenDifferent
	case likeWord(a.compact, b.compact) || likeWord(x, y):
		return givenAlike
	case nickname(x, y):
		return givenNickname
	case len(b.words) == 1 && slices.Contains(a.words, y), len(a.words) == 1 && slices.Contains(b.words, x):
		return givenAlike // called by the second name
	case nearPart(a, b) && similar(x, y) >= soundsSimilar:
		return givenSounds
	}
	return givenDifferent
}

// soundsSimilar is the least similarity of given names that sound alike: Mary and Ryan have the same sounds.
const soundsSimilar = 0.7

// exchanged reports whether the first two given names of a person are those of the other in the other order: Daniel
// Anthony, Anthony D. At least one of them is written out in both.
func exchanged(a, b *part) bool {
	if len(a.words) < 2 || len(b.words) < 2 {
		return false
	}
	first, second, x, y := a.words[0], a.words[1], b.words[0], b.words[1]
	return first == y && second == x && len(first)+len(second) > 2 ||
		first == y && len(first) > 1 && initialOf(second, x) || second == x && len(second) > 1 && initialOf(first, y)
}

// initialOf reports whether one of two names is the initial of the other.
func initialOf(a, b string) bool { return (len(a) == 1 || len(b) == 1) && a[0] == b[0] }

// secondsDiffer reports whether both have a second given name or a patronymic, and they are certainly different.
func secondsDiffer(a, b *part) bool {
	if len(a.words) < 2 || len(b.words) < 2 {
		return false
	}
	x, y := a.words[1], b.words[1]
	if firstLetters(x, 1) != firstLetters(y, 1) {
		return true
	}
	return patronymic(x) && patronymic(y) && !likeWord(x, y)
}
