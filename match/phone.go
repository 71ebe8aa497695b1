// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/bits"
	"strings"
)

// phone is a phone number, reduced to its last digits for comparison. Country codes and trunk prefixes come
// first and are often omitted; the last nine digits identify nearly every line in the world.
type phone struct {
	text string // normal form: digits, with "+" and country code if that is certain
	bcd  uint64 // last 10 digits, four bits each
	n    int    // digits of the normal form
	// blocking key is the blocking key of the number, 0 beyond the first featurePhones numbers of a record.
	key uint64
}

const (
	nineDigits  = 1<<36 - 1
	sevenDigits = 1<<28 - 1
	lastTwo     = 1<<8 - 1 // mask of the last two digits, which vary within one house
	oneOfEach   = 0x1111111111
	minPhone    = 7  // digits; shorter numbers are service numbers or errors
	maxPhone    = 15 // digits, E.164
	maxPhones   = 8  // numbers of a record to compare
)

// parsePhone parses one raw value. If a value has several numbers, only the first counts. ok is false for
// null values: too few digits, one repeated digit, a keyboard run.
func parsePhone(raw string) (p phone, ok bool) {
	var buf [maxPhone + 1]byte
	n, plus := 0, false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '0' && plus && i > 0 && i+1 < len(raw) && raw[i-1] == '(' && raw[i+1] == ')':
			// "+44 (0) 20": the trunk prefix in brackets
		case isDigit(c):
			if n == len(buf) {
				i = len(raw)
				break
			}
			buf[n] = c
			n++
		case c == '+' && n == 0:
			plus = true
		case n >= minPhone && (isLetter(c) || c == '#' || c == ';' || c == ',' || c == '/' && n >= 10):
			i = len(raw) // an extension, or another number
		}
	}
	d := buf[:n]
	if plus || n > 2 && d[0] == '0' && d[1] == '0' {
		if !plus {
			d = d[2:]
		}
		plus = true
	}
	if len(d) == 11 && d[0] == '1' && northAmerican(d[1:]) {
		d, plus = d[1:], false
	}
	if len(d) < minPhone || len(d) > maxPhone || dummy(d) {
		return phone{}, false
	}
	p.n = len(d)
	for _, c := range d[max(0, len(d)-10):] {
		p.bcd = p.bcd<<4 | uint64(c-'0')
	}
	switch {
	case plus:
		p.text = "+" + string(d)
	case len(d) == 10 && northAmerican(d):
		p.text = "+1" + string(d)
	default:
		p.text = string(d)
	}
	return p, true
}

// northAmerican reports whether ten digits are an area code, an exchange and a line.
func northAmerican(d []byte) bool {
	return len(d) == 10 && d[0] >= '2' && d[3] >= '2'
}

// dummy reports whether digits are a placeholder: one repeated digit, with or without an area code, or
// ascending digits.
func dummy(d []byte) bool {
	same := func(d []byte) bool { return strings.Count(string(d), string(d[:1])) == len(d) }
	return same(d) || len(d) >= minPhone && same(d[len(d)-minPhone:]) || strings.Contains("01234567890123456789", string(d))
}

// number returns the digits that all spellings of a number share.
func (p *phone) number() uint64 {
	if p.n >= 9 {
		return p.bcd & nineDigits
	}
	return p.bcd & sevenDigits
}

// digits returns the digits used in the blocking key: the last nine, or all if fewer.
func (p *phone) digits() string {
	d := strings.TrimPrefix(p.text, "+")
	return d[max(0, len(d)-9):]
}

// comparePhones returns the level of the best pair of numbers. Among equal ones that is the one with the
// fewest names.
func (m *Matcher) comparePhones(a, b *Record) level {
	best, names := levelNone, Crowd
	for i := range a.phones {
		for j := range b.phones {
			x, y := &a.phones[i], &b.phones[j]
			l := comparePhone(x, y)
			if l == phoneEqual {
				n := max(m.terms.names(x.number()), m.terms.names(y.number()))
				// Identical records share the name, too, and are the same thing whatever the weight of the
				// number.
				if x.key == y.key && (a.equal == 0 || a.equal != b.equal) {
					n = max(n, m.among[x.key])
				}
				names = min(names, n)
			}
			best = max(best, l)
		}
	}
	if best == phoneEqual {
		return sharedBy(names)
	}
	return best
}

func comparePhone(a, b *phone) level {
	x := a.bcd ^ b.bcd
	switch {
	case a.n >= 9 && b.n >= 9:
		if x&nineDigits == 0 {
			return phoneEqual
		}
	case x&sevenDigits == 0:
		return phoneEqual
	}
	if x&sevenDigits == 0 {
		return phoneSeven
	}
	if a.n == b.n {
		x |= x >> 1
		x |= x >> 2
		if x &= oneOfEach; bits.OnesCount64(x) == 1 {
			if x&lastTwo != 0 {
				return phoneNear
			}
			return phoneOneOff
		}
	}
	return phoneDifferent
}
