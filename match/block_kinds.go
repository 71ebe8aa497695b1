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

// emitTitle emits model numbers and the rarest words: alone if they are rare, in pairs, and with the brand.
func (r *Record) emitTitle(s *sink) {
	for _, m := range r.title.models[:min(len(r.title.models), 3)] {
		if len(m) >= 3 {
			s.add(KeyModel, m)
		}
	}
	var rarest [3]*token
	n := r.name.rarest(&rarest)
	if n == 0 {
		return
	}
	counted := r.matcher.terms.records > 0
	for i, t := range rarest[:n] {
		if t.rare && counted {
			s.add(KeyToken, t.text)
		}
		for _, u := range rarest[i+1 : n] {
			s.add(KeyTokens, min(t.text, u.text), max(t.text, u.text))
		}
	}
	if n == 1 {
		s.add(KeyToken, rarest[0].text)
	}
	if r.brand != "" {
		s.add(KeyBrandWord, r.brand, rarest[0].text)
	}
}
