// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// emitPerson emits the sounds of the name's parts, each combined with something specific. Both orders of
// the parts give one blocking key, because the parts are often swapped.
func (r *Record) emitPerson(s *sink, place, wider string) {
	given, family := r.person.given.key, r.person.family.key
	switch {
	case r.person.whole != "":
		s.add(KeyNames, soundKey(r.person.whole))
	case given != "" && family != "":
		s.add(KeyNames, min(given, family), max(given, family))
	}
	initials := ""
	if r.person.given.said() && r.person.family.said() {
		g, f := firstLetters(r.person.given.words[0], 1), firstLetters(r.person.family.words[0], 1)
		initials = min(g, f) + max(g, f)
	}
	for _, d := range r.dates {
		year := strconv.Itoa(int(d.date.year))
		for _, sounds := range []string{given, family} {
			if sounds == "" {
				continue
			}
			s.add(KeyNameYear, sounds, year)
		}
		if initials != "" {
			s.add(KeyDateInitial, year, initials)
		}
		if r.city != "" && d.date.day > 0 {
			s.add(KeyDatePlace, d.date.String(), soundKey(sound(r.city)))
		}
		for _, p := range []part{r.person.given, r.person.family} {
			if p.said() && d.date.day > 0 {
				s.add(KeyDateInitial, d.date.String(), firstLetters(p.words[0], 1))
			}
		}
	}
	for _, sounds := range []string{given, family} {
		switch {
		case sounds == "":
		case place != "":
			s.add(KeyNamePlace, sounds, place)
		case given == "" || family == "":
			s.add(KeyNames, sounds)
		}
	}
	if family != "" && wider != "" {
		s.add(KeyNamePlace, family, wider)
	}
	if initials != "" && place != "" {
		s.add(KeyInitials, initials, cmp.Or(wider, place))
	}
	for _, e := range r.emails[:min(len(r.emails), keyPages)] {
		if box, _, _ := strings.Cut(e, "@"); len(box) >= keyBox && !officeBoxes[box] {
			s.add(KeyEmail, box)
		}
	}
}

// keyBox is the number of letters before the @ from which they are a blocking key: the rest is misspelt, or that of
// another provider.
const keyBox = 4

// emitTitle emits model numbers, and the rarest of the other words: alone if they are rare, in pairs, and with the
// brand. The core of a model number is a blocking key, too: one catalogue writes sx110is, the other sx110.
func (r *Record) emitTitle(s *sink) {
	own, told := r.title.codes.own, r.title.codes.told
	for _, c := range own[:min(len(own), keyCodes)] {
		s.add(KeyModel, c.text)
		if core := core(c.text); core != "" && core != c.text {
			s.add(KeyModel, core)
		}
	}
	for _, c := range told[:min(len(told), keyTold)] {
		if c.held == heldByFew {
			s.add(KeyModel, c.text)
		}
	}
	for _, c := range r.title.codes.joined[:min(len(r.title.codes.joined), keyTold)] {
		s.add(KeyModel, cmp.Or(core(c.text), c.text))
	}
	for _, c := range r.title.codes.ids {
		if !digits(c.text) { // other codes are printed on packages and rarely in titles
			s.add(KeyModel, c.text)
		}
	}
	r.emitWords(s)
}

// emitWords emits words of a title: alone if they are rare, otherwise in pairs. A word that no other title has, such as
// a typo, does not use up the place of one that others have. The beginning of the title without spaces stays the same
// if words are joined or separated, or if the end is misspelled or cut off.
func (r *Record) emitWords(s *sink) {
	var words, common [3]*token
	without := r.title.coded
	n := rarest(r.name.tokens, &words, without)
	if n == 0 {
		n = r.name.rarest(&words)
	}
	if n == 0 {
		return
	}
	pairs, counted := words[:n], r.matcher.terms.records > 0
	if counted {
		for _, t := range words[:n] {
			if t.rare {
				s.add(KeyToken, t.text)
			}
		}
		for i := range r.name.tokens {
			if r.matcher.terms.tokens[r.name.tokens[i].hash] < 2 {
				without |= 1 << i
			}
		}
		pairs = common[:0]
		for _, t := range common[:rarest(r.name.tokens, &common, without)] {
			if t.rare {
				s.add(KeyToken, t.text)
			} else {
				pairs = append(pairs, t)
			}
		}
	}
	for i, t := range pairs {
		for _, u := range pairs[i+1:] {
			s.add(KeyTokens, min(t.text, u.text), max(t.text, u.text))
		}
	}
	if n == 1 {
		s.add(KeyToken, words[0].text)
	}
	s.add(KeyBeginning, r.name.beginning())
	if r.name.chain && len(r.dates) > 0 { // too many have that beginning
		s.add(KeyBeginning, r.name.beginning(), r.dates[0].date.String())
	}
	for _, c := range r.people[:min(len(r.people), keyPeople)] {
		if len(r.title.years) > 0 {
			s.add(KeyPersonYear, c.family, r.title.years[0])
		}
		r.emitBeside(s, c, words[:n], counted)
	}
	if r.brand != "" {
		s.add(KeyBrandWord, r.brand, words[0].text)
	}
	if counted && !words[0].rare {
		r.emitCommon(s)
	}
}

// emitBeside emits a person with each of the two rarest words of a title that are not the person's name, unless the first
// one is rare and a blocking key of its own. Some catalogues add a word, such as the sort of a drink.
func (r *Record) emitBeside(s *sink, c credit, words []*token, counted bool) {
	found := 0
	for _, t := range words {
		if t.text == c.family || t.text == c.given {
			continue
		}
		if found == 2 || found == 0 && counted && t.rare {
			return
		}
		found++
		s.add(KeyPersonWord, c.family, t.text)
	}
}

// beginning returns the first letters of a name, without spaces and stop words.
func (n *name) beginning() string {
	var buf [64]byte
	b := buf[:0]
	for i := range n.tokens {
		if t := &n.tokens[i]; !t.stop && len(b) < cap(b)-len(t.text) {
			b = append(b, t.text...)
		}
	}
	return firstLetters(plainVowels(string(b)), keyBeginning)
}

// keyBeginning is the number of letters of a title's beginning.
const keyBeginning = 12

// keyCodes and keyTold limit how many model numbers of a title and of its text become blocking keys.
const (
	keyCodes = 3
	keyTold  = 1
)

// rarest fills in the distinct tokens with the highest weight, heaviest first, ties by text, and returns
// their number.
func (n *name) rarest(into *[3]*token) int { return rarest(n.tokens, into, 0) }

// rarest leaves out some tokens, a bit each.
func rarest(tokens []token, into *[3]*token, without uint32) int {
	found := 0
	for i := range tokens {
		t := &tokens[i]
		if t.stop || without&(1<<i) != 0 {
			continue
		}
		if slices.ContainsFunc(into[:found], func(u *token) bool { return u.hash == t.hash }) {
			continue
		}
		at := found
		for at > 0 && (t.weight > into[at-1].weight || t.weight == into[at-1].weight && t.text < into[at-1].text) {
			at--
		}
		if at == len(into) {
			continue
		}
		found = min(found+1, len(into))
		copy(into[at+1:found], into[at:found-1])
		into[at] = t
	}
	return found
}
