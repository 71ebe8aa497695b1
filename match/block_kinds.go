// SPDX-License-Identifier: Apache-2.0

package match

import "strconv"

// emitPerson emits the sounds of the name's parts, each combined with something specific. Both orders of
// the parts give one blocking key, because the parts are often swapped.
func (r *Record) emitPerson(s *sink, place, wider string) {
	given, family := r.person.given.key, r.person.family.key
	if given != "" && family != "" {
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
}

// emitTitle emits model numbers, and the rarest of the other words: alone if they are rare, in pairs, and with the brand.
// The core of a model number is a blocking key, too: one catalogue writes sx110is, the other sx110.
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
	for _, c := range r.title.codes.ids {
		if !digits(c.text) { // others stand on packages, not in titles
			s.add(KeyModel, c.text)
		}
	}
	var words [3]*token
	n := rarest(r.name.tokens, &words, true)
	if n == 0 {
		n = r.name.rarest(&words)
	}
	if n == 0 {
		return
	}
	counted := r.matcher.terms.records > 0
	for i, t := range words[:n] {
		if t.rare && counted {
			s.add(KeyToken, t.text)
		}
		for _, u := range words[i+1 : n] {
			s.add(KeyTokens, min(t.text, u.text), max(t.text, u.text))
		}
	}
	if n == 1 {
		s.add(KeyToken, words[0].text)
	}
	for _, c := range r.people[:min(len(r.people), keyPeople)] {
		s.add(KeyPersonWord, c.family, words[0].text)
	}
	if r.brand != "" {
		s.add(KeyBrandWord, r.brand, words[0].text)
	}
}

// keyCodes and keyTold bound the model numbers of a title and those of its text that are blocking keys.
const (
	keyCodes = 3
	keyTold  = 1
)
