// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/bits"
	"unicode/utf8"
)

// similarWindow is the maximum number of letters to compare.
const similarWindow = 64

// similar returns the Jaro-Winkler similarity of two strings, 0 to 1, with the usual prefix scale of 0.1
// over at most four letters. It compares the first 64 letters and does not allocate. In rare cases it is
// not symmetric, so callers order the pair. Folded ASCII takes a path with one bit per position.
//
// M. A. Jaro (1989), W. E. Winkler (1990).
func similar(a, b string) float64 {
	if a == b {
		return 1
	}
	if ascii(a) && ascii(b) {
		return similarASCII(a, b)
	}
	var bufA, bufB [similarWindow]rune
	ra, rb := runes(&bufA, a), runes(&bufB, b)
	return similarRunes(ra, rb)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func runes(buf *[similarWindow]rune, s string) []rune {
	n := 0
	for _, r := range s {
		if n == similarWindow {
			break
		}
		buf[n] = r
		n++
	}
	return buf[:n]
}

// similarASCII duplicates the end of similarRunes, because sharing it needs a copy of the letters, which
// makes the comparison of records 2 % slower.
func similarASCII(a, b string) float64 {
	if len(a) > similarWindow {
		a = a[:similarWindow]
	}
	if len(b) > similarWindow {
		b = b[:similarWindow]
	}
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	var where [128]uint64 // per letter: its positions in b, one bit each
	for i := range len(b) {
		where[b[i]&127] |= 1 << i
	}
	window := max(len(a), len(b))/2 - 1
	window = max(window, 0)
	var usedA, usedB uint64
	for i := range len(a) {
		near := uint64(1)<<(i+window)<<1 - 1 // bits 0 to i + window
		if i > window {
			near &^= uint64(1)<<(i-window) - 1
		}
		if free := where[a[i]&127] & near &^ usedB; free != 0 {
			usedB |= free & -free
			usedA |= 1 << i
		}
	}
	matched := bits.OnesCount64(usedA)
	if matched == 0 {
		return 0
	}
	moved := 0
	for x, y := usedA, usedB; x != 0; x, y = x&(x-1), y&(y-1) {
		if a[bits.TrailingZeros64(x)] != b[bits.TrailingZeros64(y)] {
			moved++
		}
	}
	prefix := 0
	for prefix < min(4, len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	return winkler(len(a), len(b), matched, moved, prefix)
}

func similarRunes(a, b []rune) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	window := max(max(len(a), len(b))/2-1, 0)
	var usedA, usedB uint64
	for i, r := range a {
		for j := max(0, i-window); j < min(len(b), i+window+1); j++ {
			if b[j] == r && usedB&(1<<j) == 0 {
				usedA, usedB = usedA|1<<i, usedB|1<<j
				break
			}
		}
	}
	matched := bits.OnesCount64(usedA)
	if matched == 0 {
		return 0
	}
	moved := 0
	for x, y := usedA, usedB; x != 0; x, y = x&(x-1), y&(y-1) {
		if a[bits.TrailingZeros64(x)] != b[bits.TrailingZeros64(y)] {
			moved++
		}
	}
	prefix := 0
	for prefix < min(4, len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	return winkler(len(a), len(b), matched, moved, prefix)
}

// winkler computes the similarity from lengths, matched letters, matched letters out of order, and the
// length of the common prefix (0 to 4).
func winkler(la, lb, matched, moved, prefix int) float64 {
	m := float64(matched)
	jaro := (m/float64(la) + m/float64(lb) + (m-float64(moved/2))/m) / 3
	return jaro + 0.1*float64(prefix)*(1-jaro)
}

// letters returns the set of letters of a string, one bit for each of 32 classes.
func letters(s string) uint32 {
	var set uint32
	for i := range len(s) {
		set |= 1 << (s[i] & 31)
	}
	return set
}

// counts holds how often each of 32 classes of bytes occurs in a string.
type counts [32]uint8

func countLetters(s string) (c counts) {
	for i := range min(len(s), 255) {
		c[s[i]&31]++
	}
	return c
}

// similarBound returns an upper bound of similar(a, b) from the counts of letters.
func similarBound(a, b string, ca, cb *counts) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	common := 0
	for i := range ca {
		common += int(min(ca[i], cb[i]))
	}
	la, lb := min(len(a), similarWindow), min(len(b), similarWindow)
	common = min(common, la, lb)
	if common == 0 {
		return 0
	}
	prefix := 0
	for prefix < min(4, la, lb) && a[prefix] == b[prefix] {
		prefix++
	}
	return winkler(la, lb, common, 0, prefix)
}
