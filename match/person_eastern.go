// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names of persons in Chinese, Japanese and Korean begin with the family name, often without a space.

// isEastern reports whether a folded text consists of Chinese, Japanese or Korean characters only.
func isEastern(text string) bool {
	if text == "" || text[0] < utf8.RuneSelf {
		return false
	}
	for _, r := range text {
		if !unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) && r != 'ー' {
			return false
		}
	}
	return true
}

// easternFamily returns the family name that a name without a space probably begins with, "" if it is not certain
// enough. Most Chinese and Korean ones have one character; a Japanese name of four characters has two of each, as a
// rule.
func easternFamily(whole string) string {
	n := utf8.RuneCountInString(whole)
	if kana := strings.IndexFunc(whole, isKana); kana > 0 {
		return whole[:kana]
	} else if kana == 0 || n < 2 || n > 5 {
		return ""
	}
	if two := firstLetters(whole, 2); n > 2 && longFamilies[two] {
		return two
	}
	if r, _ := utf8.DecodeRuneInString(whole); n > 3 && unicode.Is(unicode.Han, r) {
		return firstLetters(whole, 2)
	}
	return firstLetters(whole, 1)
}

func isKana(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) || r == 'ー' }

// longFamilies are the Chinese and Korean family names of two characters, folded.
var longFamilies = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`欧阳 司马 上官 诸葛 夏侯 皇甫 尉迟 公孙 慕容 令狐 长孙 宇文 司徒 端木 东方 独孤 南宫 呼延 钟离 闻人 淳于 申屠 太史 司空
		남궁 황보 제갈 사공 독고 서문 선우`) {
		set[fold(w)] = true
	}
	return set
}()

// compareParts compares both parts of two names. Equal names in Chinese, Japanese or Korean may be divided differently.
func compareParts(a, b *person) (family, given level) {
	family, given = compareFamilies(&a.family, &b.family), compareGivens(&a.given, &b.given)
	switch {
	case a.whole == "" || b.whole == "":
	case a.whole == b.whole:
		return max(family, familyEqual), max(given, givenEqual)
	case a.guessed && !b.guessed:
		return compareGuessed(family, given, a, b)
	case b.guessed && !a.guessed:
		return compareGuessed(family, given, b, a)
	}
	return family, given
}

// compareGuessed compares a name that was written as one word with one whose parts are known.
func compareGuessed(family, given level, guess, known *person) (f, g level) {
	if rest, ok := strings.CutPrefix(guess.whole, known.family.compact); ok && known.family.said() && known.given.said() && rest != "" {
		if likeWord(rest, known.given.compact) {
			return familyEqual, givenAlike
		}
		return familyEqual, givenDifferent
	}
	if rest, ok := strings.CutSuffix(guess.whole, known.given.compact); ok && known.family.said() && known.given.said() && likeWord(rest, known.family.compact) {
		return familyAlike, givenEqual
	}
	return family, given
}
