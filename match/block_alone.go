// SPDX-License-Identifier: Apache-2.0

package match

import "unicode/utf8"

// emitAlone emits further blocking keys of a name without a location: the whole name, without spaces. If nothing else
// identifies the thing either, no other key makes up for a word that is misspelt or left out. So each rare word that
// other names have is one, and so are the beginning and the end of the rarest word, one of which a typo leaves
// unchanged.
func (r *Record) emitAlone(s *sink) {
	var words [3]*token
	n := r.name.rarest(&words)
	if n > 1 || words[0].rare || !words[0].general {
		s.add(KeyBeginning, plainVowels(r.name.compact))
	}
	r.emitInitials(s, words[:n])
	if r.point.valid() || len(r.phones)+len(r.pages)+len(r.emails)+len(r.ids) > 0 {
		return
	}
	counts := r.matcher.terms
	for i, t := range words[:n] {
		word := plainVowels(t.text)
		switch {
		case !t.rare:
		case counts.records == 0:
			s.add(KeyBeginning, word) // it may be as common as any
		case i > 0 && counts.tokens[t.hash] > 1:
			s.add(KeyToken, word)
		}
		if first := firstLetters(word, keyEnd); i == 0 && first != word {
			s.add(KeyBeginning, first, "")
			s.add(KeyBeginning, "", lastLetters(word, keyEnd))
		}
	}
}

// emitInitials emits each word that is no key alone, with the initial of another: all that an abbreviation always
// keeps.
func (r *Record) emitInitials(s *sink, words []*token) {
	for _, t := range words {
		if t.rare || t.number {
			continue
		}
		for _, u := range words {
			if u != t && !u.number {
				s.add(KeyTokens, plainVowels(t.text), firstLetters(u.text, 1), "")
			}
		}
	}
}

// keyEnd is the number of letters of the beginning and of the end of a word.
const keyEnd = 5

func lastLetters(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}
