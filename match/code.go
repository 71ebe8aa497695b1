// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

const (
	// minCode is the length from which a word with a digit is a model number: sx120, and not s60.
	minCode = 4
	// minDigits is the length from which a word of digits alone is a model number: 64327, and not the year 2007.
	minDigits = 5
	// rareCode is the number of records up to which agreement on a model number has its full weight; above commonCode
	// it has hardly any.
	rareCode   = 4
	commonCode = 10
	// maxCodes limits the model numbers of a record's title and of its other text.
	maxCodes = 8
)

// code is a model number or the like: folded, without spaces and punctuation.
type code struct {
	text string
	held held
}

// held is how many records have a model number.
type held uint8

const (
	heldByMany held = iota
	heldBySome
	heldByFew
)

// isCode reports whether a folded word is a model number. A small number followed by a word is not: 2line, 10way.
func isCode(w string) bool {
	if len(w) < minCode || !hasDigit(w) || !ascii(w) || isDimension(w) {
		return false
	}
	n := len(number(w))
	return (len(w) >= minDigits || n < len(w)) && !(0 < n && n <= 3 && len(w)-n >= 3 && !hasDigit(w[n:])) && !isMeasureWord(w)
}

// isDimension reports whether a word is two lengths or more, which many things have: 1920x1080, m8x100.
func isDimension(w string) bool {
	w = strings.TrimPrefix(w, "m")
	n := number(w)
	for n != "" && len(n) < len(w) && w[len(n)] == 'x' {
		w = w[len(n)+1:]
		if n = number(w); n != "" && n == w {
			return true
		}
	}
	return false
}

// addCode adds a model number to a list. Catalogues write numbers with leading zeros and without.
func addCode(to []code, terms *TermFrequencies, w string) []code {
	if short := strings.TrimLeft(w, "0"); len(short) >= minDigits && digits(short) {
		w = short
	}
	if len(to) == maxCodes || slices.ContainsFunc(to, func(c code) bool { return c.text == w }) {
		return to
	}
	return append(to, code{w, terms.held(w)})
}

// held returns how many records have a model number. Without statistics, a long number counts as one that few have.
func (p *TermFrequencies) held(w string) held {
	if p.texts == 0 {
		if len(w) > minDigits || len(w) == minDigits && !isDigit(w[0]) {
			return heldByFew
		}
		return heldBySome
	}
	switch n := p.tokens[textHash(w)]; {
	case n <= rareCode:
		return heldByFew
	case n <= commonCode:
		return heldBySome
	}
	return heldByMany
}

// sameCode reports whether two model numbers are the same, or one contains the other: dvpfx820 and dvpfx820w, ex32lp
// and mdrex32lpblk. The additional part is letters that stand for a series, a colour or a country. The digits must be
// equal: 4546b001 and 4547b001 are different things in a catalogue.
func sameCode(x, y string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	if x == y {
		return true
	}
	at := strings.Index(y, x)
	if at < 0 || digits(x) && len(x) < minDigits {
		return false
	}
	before, after := y[:at], y[at+len(x):]
	return len(before) <= 4 && len(after) <= 4 && !hasDigit(before) && !hasDigit(after) && (before == "" || !digits(x))
}

// agreement is the result of comparing the model numbers of two records.
type agreement uint8

const (
	// codesSilent: one title has none, or each has numbers of a form that the other lacks, because catalogues number
	// things differently.
	codesSilent      agreement = iota
	codesDiffer                // each title has another number of the same form
	codesBoth                  // one number is the same, and each title has another number of the same form
	codesAgreeCommon           // a number that many records have is the same
	codesAgree                 // a number that some records have is the same
	codesAgreeRare             // a number that few records have is the same
)

// compareCodes compares the model numbers of two titles, and of each title with the text of the other.
func compareCodes(a, b *codes) agreement {
	said := codesSilent
	for _, lists := range [...][2][]code{
		{a.own, b.own}, {a.own, b.told}, {a.told, b.own}, {a.own, b.ids}, {a.ids, b.own}, {a.told, b.ids}, {a.ids, b.told},
		{a.own, b.joined}, {a.joined, b.own}, {a.joined, b.ids}, {a.ids, b.joined},
	} {
		for _, x := range lists[0] {
			for _, y := range lists[1] {
				if sameCode(x.text, y.text) {
					said = max(said, codesAgreeCommon+agreement(min(x.held, y.held)))
				}
			}
		}
	}
	x, y := a.naming(), b.naming()
	if contradict(a, b, x, y) || contradict(a, b, x, b.ids) || contradict(a, b, a.ids, y) {
		if said == codesSilent {
			return codesDiffer
		}
		return codesBoth
	}
	return said
}

// madeFor reports whether the titles share no model number of their own, but one that a title or text mentions, as that
// of the thing that an accessory is made for.
func (c *codes) madeFor(other *codes) bool {
	return compareCodes(&codes{own: c.own}, &codes{own: other.own}) < codesAgreeCommon
}

// contradict reports whether two lists, one of each record, contain model numbers of one form that the other record
// lacks.
func contradict(a, b *codes, of, with []code) bool {
	for _, x := range of {
		for _, y := range with {
			if sameForm(x.text, y.text) && b.lacks(x.text) && a.lacks(y.text) {
				return true
			}
		}
	}
	return false
}

// naming returns the model numbers that name the thing: those in its title, or otherwise the only one in its text.
func (c *codes) naming() []code {
	if len(c.own) == 0 && len(c.told) == 1 {
		return c.told
	}
	return c.own
}

// bothModels reports whether both records have a model number, one of them in its title. Numbers that packages carry
// are no model numbers: they have more than ten digits.
func bothModels(a, b *codes) bool {
	models := func(c *codes) bool {
		return len(c.own) > 0 || slices.ContainsFunc(c.ids, func(x code) bool { return !digits(x.text) || len(x.text) <= 10 })
	}
	return len(a.own)+len(b.own) > 0 && models(a) && models(b)
}

// lacks reports whether no model number is the same as w.
func (c *codes) lacks(w string) bool {
	same := func(x code) bool { return sameCode(x.text, w) }
	return !slices.ContainsFunc(c.own, same) && !slices.ContainsFunc(c.told, same) && !slices.ContainsFunc(c.ids, same) &&
		!slices.ContainsFunc(c.joined, same)
}

// compareModelIDs compares the global ids of titles. Model numbers are never one sign off; long numbers without
// letters, which are typed from a package, may be. An id that the other record has in its title or text is no different
// one.
func compareModelIDs(a, b *Record) level {
	best := levelNone
	for _, x := range a.ids {
		for _, y := range b.ids {
			if !x.world || x.attribute != y.attribute {
				continue
			}
			l := idWorldDifferent
			switch {
			case x.value == y.value && (a.matcher.terms.crowded(x.value) || a.matcher.shared[x.attribute]):
				l = idCommon
			case x.value == y.value:
				return idEqual
			case isCode(x.value) && isCode(y.value) && sameCode(x.value, y.value):
				l = idContained
			case len(x.value) >= minTyped && digits(x.value) && digits(y.value) && slip(x.value, y.value):
				l = idMistyped
			case !b.title.codes.lacks(x.value) || !a.title.codes.lacks(y.value):
				continue
			case isCode(x.value) && isCode(y.value) && (!digits(x.value) || len(x.value) < minTyped) && sameForm(x.value, y.value):
				l = idSeries
			}
			if best == levelNone || best == idWorldDifferent || best == idSeries {
				best = l
			}
		}
	}
	return best
}

// minTyped is the length of the shortest number of an article.
const minTyped = 8

// crowded reports whether many records have an id.
func (p *TermFrequencies) crowded(id string) bool { return p.tokens[textHash(id)] > rareToken }

// codes are the model numbers of a record.
type codes struct {
	own  []code // of its title
	told []code // codes of the text, or of what the thing is made for, such as the camera of a battery
	ids  []code // global ids, which are compared with each other separately
	// joined are two words of the title as one, which is a model number if the other record has it: PSLX 350.
	joined []code
}

// sameForm reports whether two model numbers are of one series: letters and digits at the same places, or the same
// letters before different digits.
func sameForm(x, y string) bool {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] && !isDigit(x[i]) {
		i++
	}
	if i >= 2 && i < min(len(x), len(y)) && isDigit(x[i]) && isDigit(y[i]) && number(x[i:]) != number(y[i:]) {
		return true
	}
	if len(x) != len(y) {
		return false
	}
	for i := range len(x) {
		if isDigit(x[i]) != isDigit(y[i]) {
			return false
		}
	}
	return true
}

// number returns the digits at the beginning of a text.
func number(s string) string {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return s[:i]
}

// core returns the part of a model number that its longer forms contain, too: up to two letters, and the first digits
// after them. It is "" if that is short.
func core(w string) string {
	from := 0
	for from < len(w) && !isDigit(w[from]) {
		from++
	}
	to := from + len(number(w[from:]))
	c := w[max(0, from-2):to]
	if len(c) < minCode || digits(c) {
		return ""
	}
	return c
}
