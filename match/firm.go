// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Lists shorten and extend the names of firms in a few ways: Pharma stands for a longer word, and the country or the
// city follows the name.

// alignFirms pairs the words of two names as align does, then abbreviations with their words.
func alignFirms(a, b []token) alignment {
	l := align(a, b)
	l.abbreviations(a, b)
	return l
}

// abbreviations pairs unpaired words where one abbreviates the other, if the names have another word in common.
func (l *alignment) abbreviations(a, b []token) {
	if l.weight == 0 {
		return
	}
	for i := range a {
		if l.usedA&(1<<i) != 0 {
			continue
		}
		for j := range b {
			if l.usedB&(1<<j) == 0 && (shortens(&a[i], &b[j]) || shortens(&b[j], &a[i])) {
				l.usedA |= 1 << i
				l.usedB |= 1 << j
				l.weight += (a[i].weight + b[j].weight) / 2
				break
			}
		}
	}
}

// shortens reports whether a word is an abbreviation of a longer one: a beginning of it, followed by consonants of the
// rest in their order, as in pharma and distrib. A word that more names have than the longer one is a word of its own.
func shortens(short, long *token) bool {
	s, w := short.text, long.text
	if len(s) < 3 || len(w) < len(s)+2 || s[0] != w[0] || short.plain || short.stop || short.weight < long.weight || hasDigit(s) {
		return false
	}
	i := 0
	for i < len(s) && s[i] == w[i] {
		i++
	}
	for at := i; i < len(s); i, at = i+1, at+1 {
		if strings.IndexByte("aeiou", s[i]) >= 0 {
			return false
		}
		next := strings.IndexByte(w[at:], s[i])
		if next < 0 {
			return false
		}
		at += next
	}
	return true
}

// markCountry marks a country at the end of a name, and spells it in one way.
func (n *name) markCountry(p *TermFrequencies) {
	last := len(n.tokens) - 1
	if last < 1 {
		return
	}
	t := &n.tokens[last]
	code := ""
	if len(t.text) > 3 || t.text == "uk" || t.text == "usa" || t.text == "uae" {
		code = countries[t.text]
	}
	if code == "" && last > 1 {
		if code = countries[n.tokens[last-1].text+"_"+t.text]; code != "" {
			n.total -= t.weight
			n.tokens = n.tokens[:last]
			t = &n.tokens[last-1]
		}
	}
	if code == "" || n.tokens[0].stop {
		return
	}
	n.total -= t.weight
	*t = token{text: code, hash: xxhash.Sum64String("country " + code), letters: letters(code), where: true}
	t.weight, _ = p.weigh(code, t.hash, nameFamiliar)
	n.total += t.weight
}

// markCity marks the words of a name that are the city of the thing.
func (n *name) markCity(city string) {
	if city == "" || len(n.tokens) < 2 {
		return
	}
	for i := range n.tokens {
		t := &n.tokens[i]
		t.where = t.where || len(t.text) > 2 && inWords(city, plainVowels(t.text))
	}
}

// inWords reports whether a folded text has a word.
func inWords(text, word string) bool {
	for w := range strings.SplitSeq(text, " ") {
		if w == word {
			return true
		}
	}
	return false
}

// leaveWhere removes the words for the country or the city from the words of one name if the other name keeps none, and
// reports whether both names keep such words. If nothing besides the names agrees, a country stays, because Acme Polska may
// be a subsidiary of Acme.
func (l *alignment) leaveWhere(a, b []token, x, y *residual, alone bool) (elsewhere bool) {
	switch {
	case x.where && y.where:
		return true
	case alone && (keepsCountry(a, l.usedA) || keepsCountry(b, l.usedB)):
	case x.where && !y.any:
		*x, l.whereA = leftWhere(a, l.usedA)
	case y.where && !x.any:
		*y, l.whereB = leftWhere(b, l.usedB)
	}
	return false
}

// keepsCountry reports whether a country is among the unpaired words of a name.
func keepsCountry(tokens []token, used uint32) bool {
	last := len(tokens) - 1
	return used&(1<<last) == 0 && tokens[last].where && countries[tokens[last].text] == tokens[last].text
}

func leftWhere(tokens []token, used uint32) (r residual, left weight) {
	for i := range tokens {
		if t := &tokens[i]; t.where && isKept(tokens, used, i) {
			used |= 1 << i
			left += t.weight
		}
	}
	return residue(tokens, used), left
}

// namesAlone reports whether nothing but the names, cities, regions, countries and postcodes that differ was compared.
func (v Vector) namesAlone() bool {
	if v.level(fieldPostcode) <= postcodeNear {
		v.put(fieldPostcode, levelNone)
	}
	v.put(fieldCity, levelNone)
	v.put(fieldRegion, levelNone)
	return v == 0
}

// namesChain reports whether nothing but what the places of a chain share was compared, and where they are.
func (v Vector) namesChain() bool {
	v.put(fieldCategory, levelNone)
	return v.namesAlone()
}

// compareAlone compares words that the names do not share and that are not enough to separate two things. If only the
// names and cities were compared, other words mean another firm of one family, or a branch. In full names, with their
// legal forms, they mean another firm wherever it is: Barton Capital Ltd, Barton Pharma Ltd.
func compareAlone(x, y *residual, alone, elsewhere, legal bool) level {
	switch {
	case elsewhere, (alone || legal) && x.any && y.any:
		return residualRare
	case alone && (x.own || y.own):
		return residualAlone
	}
	return residualSomething
}
