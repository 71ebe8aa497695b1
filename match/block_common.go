// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	// commonWords is the number of rarest words of a title of common words that are combined.
	commonWords = 4
	// keyValues is the number of dates, and of numbers, that are combined with such words.
	keyValues = 2
)

// emitCommon emits blocking keys of a title whose words are all common: in a catalogue of few words, or where many
// things are of one model, every word and every pair of words is a stop key. So the keys are all words, three of the
// four rarest, and the two rarest with a date or a number. Words are in order of the alphabet.
func (r *Record) emitCommon(s *sink) {
	var words []*token
	for i := range r.name.tokens {
		t := &r.name.tokens[i]
		if !t.stop && !slices.ContainsFunc(words, func(u *token) bool { return u.hash == t.hash }) {
			words = append(words, t)
		}
	}
	slices.SortFunc(words, func(t, u *token) int { return cmp.Or(cmp.Compare(u.weight, t.weight), cmp.Compare(t.text, u.text)) })
	texts := make([]string, len(words))
	for i, t := range words {
		texts[i] = t.text
	}
	two := sorted(texts[:min(len(texts), 2)])
	for _, d := range r.dates[:min(len(r.dates), keyValues)] {
		s.add(KeyTitle, two, d.date.String())
	}
	for _, q := range r.numbers[:min(len(r.numbers), keyValues)] {
		s.add(KeyTitle, two, q.attribute.Name, strconv.FormatFloat(q.number, 'g', 4, 64))
	}
	s.add(KeyTitle, sorted(texts))
	if rarest := texts[:min(len(texts), commonWords)]; len(rarest) == commonWords {
		for i := range rarest {
			s.add(KeyTitle, sorted(slices.Concat(rarest[:i], rarest[i+1:])))
		}
	}
}

func sorted(words []string) string { return strings.Join(slices.Sorted(slices.Values(words)), " ") }
