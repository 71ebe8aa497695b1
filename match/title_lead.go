// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"regexp"
	"strings"
)

// A list may number its episodes, issues or tracks before their titles: Ep. 7 - X, #7: X, 7. X, S2E7 X. Other lists
// have X alone, so such a number is no part of the title. Two different numbers are two things.

// cutLead cuts the number off the beginning of a title. A number without a word for an episode or a chapter needs a
// sign behind it.
func cutLead(raw string) (lead, title string) {
	if parts := zeroLead.FindStringSubmatch(raw); parts != nil {
		return withoutZeros(parts[1]), parts[2]
	}
	word, rest, more := cutWord(raw)
	of := volumeWords[fold(word)]
	if leadWords[of] {
		word, rest, more = cutWord(rest)
	}
	lead, own, ended := leadNumber(word)
	title = strings.TrimLeft(rest, " -–—|:.")
	if of = cmp.Or(own, of); !ended && title == rest && (!leadWords[of] || of == "no") {
		return "", raw
	}
	if !more || lead == "" || strings.Trim(fold(title), " 0123456789") == "" {
		return "", raw
	}
	return lead, title
}

// zeroLead is a title behind a number with leading zeros, as in the name of a file: 007-X, 03_X.
var zeroLead = regexp.MustCompile(`^\s*(0\d{1,2})\s*[-–._)]\s*(\pL.*)$`)

func cutWord(text string) (word, rest string, more bool) {
	word, rest, more = strings.Cut(strings.TrimSpace(text), " ")
	return word, strings.TrimSpace(rest), more
}

// leadNumber returns the number in a word before a title, without leading zeros, and what is numbered if the word says
// it: Ep7, S2E7. It reports whether a sign ends the number, as in #7: and 7.
func leadNumber(word string) (lead, of string, ended bool) {
	w := strings.TrimRight(word, ".:)|")
	ended = w != word
	w = strings.ToLower(strings.TrimLeft(w, "#("))
	at := strings.IndexAny(w, "0123456789")
	if at < 0 {
		return "", "", false
	}
	prefix, n := strings.TrimRight(w[:at], ".#"), w[at:]
	if season, episode, ok := strings.Cut(n, "e"); prefix == "s" && ok && digits(season) && digits(episode) {
		return withoutZeros(season) + "x" + withoutZeros(episode), "episode", ended
	}
	of = volumeWords[prefix]
	if !digits(n) || len(n) > 4 || prefix != "" && !leadWords[of] {
		return "", "", false
	}
	return withoutZeros(n), of, ended
}

func withoutZeros(n string) string { return strings.TrimLeft(n[:len(n)-1], "0") + n[len(n)-1:] }

// leadWords are the spellings of volumeWords for what has a title of its own. The parts and volumes of a work may have
// that of the work.
var leadWords = wordSet(`episode chapter no`)

// leadsDiffer reports whether two titles have different numbers before them, counted in the same way.
func leadsDiffer(a, b *title) bool {
	return a.lead != "" && b.lead != "" && a.lead != b.lead && strings.Contains(a.lead, "x") == strings.Contains(b.lead, "x")
}
