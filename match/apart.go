// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// Words that are written as one or as two: Bladerunner and Blade Runner, PSLX350 and PSLX 350.

// apart pairs a word of one name with two neighbouring words of the other that are the same word written apart, such as
// Blade Runner. It returns the paired words.
func (l *alignment) apart(one, two []token, usedOne, usedTwo uint32) (ones, twos uint32) {
	var lengths uint64 // of the unpaired words
	for i := range one {
		if usedOne&(1<<i) == 0 && len(one[i].text) > 3 {
			lengths |= 1 << (len(one[i].text) & 63)
		}
	}
	for j := range len(two) - 1 {
		x, y := &two[j], &two[j+1]
		if usedTwo>>j&3 != 0 || lengths&(1<<((len(x.text)+len(y.text))&63)) == 0 || x.number || y.number {
			continue
		}
		for i := range one {
			w := &one[i]
			if usedOne&(1<<i) == 0 && len(w.text) == len(x.text)+len(y.text) && w.text[:len(x.text)] == x.text && w.text[len(x.text):] == y.text {
				usedOne |= 1 << i
				usedTwo |= 3 << j
				l.weight += (w.weight + x.weight + y.weight) / 2
				l.named = l.named || !w.general
				break
			}
		}
	}
	return usedOne, usedTwo
}

// joinedCode returns two words of a title as one, if that may be a model number: letters, and digits behind them.
func joinedCode(letters, w string) string {
	if len(letters) < 2 || len(letters) > maxLetters || hasDigit(letters) || !isDigit(w[0]) || isYear(w) || nameWords[letters]&nameStop != 0 || isMeasureWord(w) {
		return ""
	}
	if joined := letters + w; isCode(joined) {
		return joined
	}
	return ""
}

// maxLetters is the number of letters before the digits of a model number that is written apart.
const maxLetters = 5

// spacedCode returns the groups of digits at the beginning of words as one model number, with the letter before them,
// as in "0 986 479 098". There have to be three or more, because two numbers may be of two things.
func spacedCode(letter string, words []string) string {
	n, size := 0, 0
	for n < len(words) && digits(words[n]) && !isYear(words[n]) {
		size += len(words[n])
		n++
	}
	if n < minGroups || size < minTyped {
		return ""
	}
	joined := strings.Join(words[:n], "")
	if len(letter) == 1 && isLetter(letter[0]) {
		joined = letter + joined
	}
	return joined
}

// minGroups is the number of groups of digits from which they are one number.
const minGroups = 3
