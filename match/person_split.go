// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// parsePerson parses the parts of a name if they are given, and fills gaps from the whole name: "Smith,
// John" begins with the family name, "John Smith" ends with it.
func parsePerson(terms *TermFrequencies, given, family, whole string) person {
	var p person
	words := func(text string) []string { return p.words(text) }
	g, f := words(given), words(family)
	if len(g) == 0 || len(f) == 0 {
		wholeGiven, wholeFamily := splitWhole(whole, words)
		switch {
		case len(g) == 0 && len(f) == 0:
			g, f = wholeGiven, wholeFamily
		case len(g) == 0 && slices.Equal(f, wholeFamily):
			g = wholeGiven
		case len(g) == 0:
			g = otherPart(f, whole, words)
		case len(wholeGiven) > 0 && firstLetters(wholeGiven[0], 1) == firstLetters(g[0], 1):
			f = wholeFamily
		default:
			f = otherPart(g, whole, words)
		}
	}
	if all := strings.Join(f, "") + strings.Join(g, ""); isEastern(all) {
		if p.whole = all; len(g) == 0 && len(f) == 1 {
			if guess := easternFamily(all); guess != "" && guess != all {
				p.guessed, f, g = true, []string{guess}, []string{all[len(guess):]}
			}
		}
	}
	p.given, p.family = newPart(terms, g), newPart(terms, f)
	return p
}

// otherPart returns the words of the other part of a name, or of the whole name if there are none: some lists have a
// column for given names or for family names beside a column called name.
func otherPart(part []string, whole string, words func(string) []string) []string {
	all := words(whole)
	if commaAt(whole) >= 0 || slices.ContainsFunc(part, func(w string) bool { return slices.Contains(all, w) }) {
		return nil
	}
	return all
}

// words folds a part of a name and removes titles and generations. An initial stays one letter in Latin script, too.
func (p *person) words(text string) []string {
	if strings.IndexByte(text, '.') >= 0 && len(strings.Fields(text)) <= 2 {
		text = strings.ReplaceAll(text, ".", ". ") // "Tolkien J.R." has two initials and no acronym
	}
	folded := fold(text)
	if isNothing(folded) {
		return nil
	}
	foreign := strings.Fields(folded)
	folded, romanised := romanise(folded)
	all := strings.Fields(folded)
	for i := range all {
		if romanised && len(all) == len(foreign) && utf8.RuneCountInString(foreign[i]) == 1 {
			all[i] = firstLetters(all[i], 1) // Ж. is Zh.
		}
	}
	kept := make([]string, 0, len(all))
	for i, w := range all {
		switch {
		case len(all) > 1 && i > 0 && generations[w] != "":
			p.generation = generations[w]
		case len(all) > 1 && titles[w]:
		default:
			kept = append(kept, w)
		}
	}
	return kept
}

// commaAt returns the position of the first comma of any script, -1 if there is none.
func commaAt(text string) int { return strings.IndexAny(text, ",،，、") }

// splitWhole splits a whole name. The family name is the last word, but the first one before a comma, before a
// patronymic at the end, before initials, and in Chinese, Japanese and Korean.
func splitWhole(whole string, words func(string) []string) (given, family []string) {
	if i := commaAt(whole); i >= 0 && strings.TrimSpace(whole[i:]) != "," {
		_, size := utf8.DecodeRuneInString(whole[i:])
		family, given = words(whole[:i]), words(whole[i+size:])
		if len(family) > 0 && len(given) > 0 {
			return given, family
		}
		whole = whole[:i] // "John Smith, Jr."
	}
	all := words(whole)
	if n := familyWords(all); n > 0 {
		return all[n:], all[:n]
	}
	at := len(all) - 1
	for at > 1 && particles[all[at-1]] {
		at--
	}
	if at < 0 {
		return nil, nil
	}
	return all[:at], all[at:]
}

// familyWords returns how many words at the beginning of a name are the family name, 0 if it is at the end.
func familyWords(all []string) int {
	n := len(all)
	switch {
	case n < 2:
		return 0
	case isEastern(all[0]) && isEastern(all[n-1]):
		return 1
	case n > 2 && patronymic(all[n-1]) && !patronymic(all[n-2]):
		return n - 2 // Достоевский Фёдор Михайлович
	case n > 2 && len(all[0]) > 2 && len(all[n-1]) == 1 && len(all[n-2]) == 1:
		return n - 2 // Tolkien J R
	}
	return 0
}

// patronymic reports whether a name in Latin letters is formed from that of the father in Russian, Ukrainian or
// Belarusian. Family names may have the same form.
func patronymic(w string) bool {
	return len(w) > 5 && slices.ContainsFunc(patronymicEnds, func(end string) bool { return strings.HasSuffix(w, end) })
}

var patronymicEnds = strings.Fields(`ovich evich avich ovych yovych lich mich kich ovna evna avna ivna ichna`)
