// SPDX-License-Identifier: Apache-2.0

package match

import "strconv"

// emitPerson names how the parts of a name sound, each with something that few share. Both orders of
// the parts give one feature, since they are swapped often enough.
func (r *Record) emitPerson(s *sink, place, wider string) {
	given, family := r.person.given.sound, r.person.family.sound
	if given != "" && family != "" {
		s.add(FeatureNames, min(given, family), max(given, family))
	}
	for _, d := range r.dates {
		year := strconv.Itoa(int(d.date.year))
		for _, sounds := range []string{given, family} {
			if sounds == "" {
				continue
			}
			s.add(FeatureNameYear, sounds, year)
			if d.date.day > 0 {
				s.add(FeatureDateInitial, d.date.String(), sounds[:1])
			}
		}
	}
	for _, sounds := range []string{given, family} {
		if sounds == "" {
			continue
		}
		switch {
		case place != "":
			s.add(FeatureNamePlace, sounds, place)
		case wider != "":
			s.add(FeatureNamePlace, sounds, wider)
		case given == "" || family == "":
			s.add(FeatureNames, sounds)
		}
	}
}

// emitTitle names model numbers, and the words that tell most: alone where they are rare, by twos, and
// with the brand.
func (r *Record) emitTitle(s *sink) {
	for _, m := range r.title.models[:min(len(r.title.models), 3)] {
		if len(m) >= 3 {
			s.add(FeatureModel, m)
		}
	}
	var rarest [3]*token
	n := r.name.rarest(&rarest)
	if n == 0 {
		return
	}
	counted := r.matcher.pack.records > 0
	for i, t := range rarest[:n] {
		if t.rare && counted {
			s.add(FeatureToken, t.text)
		}
		for _, u := range rarest[i+1 : n] {
			s.add(FeatureTokens, min(t.text, u.text), max(t.text, u.text))
		}
	}
	if n == 1 {
		s.add(FeatureToken, rarest[0].text)
	}
	if r.brand != "" {
		s.add(FeatureBrandWord, r.brand, rarest[0].text)
	}
}
