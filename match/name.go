// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"

	"github.com/cespare/xxhash/v2"
)

// maxNameTokens bounds the work of a comparison; further tokens are dropped.
const maxNameTokens = 16

// token is one word of a name, prepared for comparison.
type token struct {
	text    string
	hash    uint64
	letters uint32 // set of its letters
	weight  weight
	rare    bool  // rare enough to be a blocking key on its own
	stop    bool  // the, inc, gmbh: a stop word
	title   bool  // dr, md: part of a person's name
	plain   bool  // describes what the thing is, like many names
	general bool  // a word of trades or addresses, which identifies nothing
	parts   parts // atm, pharmacy: the name of a part of a place
	number  bool  // digits, or a word that distinguishes siblings as they do
	where   bool  // names the country or the city of the thing
}

type name struct {
	compact string // folded, without spaces
	hash    uint64 // of the folded text, with spaces
	tokens  []token
	total   weight // of all tokens
	counts  counts // of compact
	latin   bool   // has a Latin letter or a digit
	foreign bool   // has a letter of another script
	roman   bool   // written in another script and romanised
	ascii   bool
	chain   bool  // shared by many places
	parts   parts // of all tokens
	form    legalForm
}

// parseBusiness parses the folded name of a business, with its words in their usual spelling.
func parseBusiness(p *TermFrequencies, folded string) name {
	spelled := spellWords(folded)
	n := parseFirm(p, spelled)
	n.chain = n.chain || spelled != folded && p.chain(xxhash.Sum64String(folded))
	return n
}

// parseFirm keeps the legal form of a name apart from its words.
func parseFirm(p *TermFrequencies, folded string) name {
	roman, changed := romanise(folded)
	if rest, ok := strings.CutPrefix(roman, "ao "); ok && changed {
		roman = "pao " + rest // АО; in Latin letters the word has other meanings
	}
	rest, form := cutForms(roman)
	if form.text == "" {
		n := parseName(p, folded)
		n.markCountry(p)
		return n
	}
	n := parseName(p, rest)
	n.markCountry(p)
	n.form, n.roman = form, changed
	n.hash = xxhash.Sum64String(folded)
	n.chain = p.chain(n.hash) || p.chain(xxhash.Sum64String(rest))
	return n
}

func parseName(p *TermFrequencies, folded string) name {
	if isNothing(folded) {
		return name{}
	}
	n := name{hash: xxhash.Sum64String(folded)}
	folded, n.roman = romanise(folded)
	n.compact, n.ascii = folded, ascii(folded)
	count := strings.Count(folded, " ") + 1
	if count > 1 {
		n.compact = strings.ReplaceAll(folded, " ", "")
	}
	n.tokens = make([]token, 0, min(count, maxNameTokens))
	for word := range strings.SplitSeq(folded, " ") {
		if ascii(word) {
			n.add(newToken(p, word))
			continue
		}
		for _, w := range splitEastern(word) {
			n.add(newToken(p, w))
		}
	}
	for i := range len(folded) {
		switch c := folded[i]; {
		case isLetter(c) || isDigit(c):
			n.latin = true
		case c >= 0x80:
			n.foreign = true
		}
	}
	n.counts = countLetters(n.compact)
	n.chain = p.chain(n.hash)
	return n
}

func (n *name) add(t token) {
	if len(n.tokens) == maxNameTokens {
		return
	}
	n.tokens = append(n.tokens, t)
	n.total += t.weight
	n.parts |= t.parts
}

// cut reports whether a name has, or had, more words than are compared.
func (n *name) cut() bool { return len(n.tokens) == maxNameTokens }

func newToken(p *TermFrequencies, text string) token {
	role := nameWords[text]
	t := token{
		text: text, hash: xxhash.Sum64String(text), letters: letters(text), stop: role&nameStop != 0, title: role&nameTitle != 0,
		plain: role&nameBusiness != 0, parts: partsOf[text],
		number: role&nameOrdinal != 0 || digits(text),
	}
	t.general = t.plain || t.stop || t.parts != 0 || text == "saint" || lookStreet(text).role&streetType != 0
	t.weight, t.rare = p.weigh(text, t.hash, role)
	return t
}

// NameTokens returns the words of a name as a search compares them: folded, in order, at most 16, without
// stop words unless there are no others.
func NameTokens(text string) []string { return nameTokens(fold(text)) }

func nameTokens(folded string) []string {
	words := strings.Fields(folded)
	kept := make([]string, 0, len(words))
	for _, w := range words {
		if nameWords[w]&nameStop == 0 {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		kept = words
	}
	return kept[:min(len(kept), maxNameTokens)]
}
