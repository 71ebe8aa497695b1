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
	free bool   // of a firm and not of a place: free of charge, or at one rate in a whole country
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

// parsePhone parses one raw value. Only the first of several numbers counts. ok is false for null values: too few
// digits, one repeated digit, a keyboard run.
func parsePhone(raw string) (p phone, ok bool) {
	var buf [maxPhone + 1]byte
	raw = latinDigits(raw)
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
	if plus {
		d = withoutTrunk(d)
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
	p.free = isFree(p.text)
	return p, true
}

// trunkCodes are the country codes whose numbers are dialled with a zero before them within the country, and never have
// one behind the code. In Italy the zero belongs to the number; elsewhere there is none, or no zero.
var trunkCodes = func() map[string]bool {
	codes := map[string]bool{}
	for code := range strings.FieldsSeq(`20 27 31 32 33 40 41 43 44 46 49 54 55 58 60 61 62 63 64 66 81 82 84 86 90 91 92 93 94 95 98
		211 212 213 218 233 234 243 249 251 254 255 256 260 263 353 355 358 359 380 381 382 385 386 387 389 421 855 856
		880 886 961 962 963 964 966 967 970 971 972 976 977 994 995 996`) {
		codes[code] = true
	}
	return codes
}()

// withoutTrunk removes the zero that some write between a country code and a number: +49 030 for +49 30.
func withoutTrunk(d []byte) []byte {
	for n := 2; n <= 3 && n < len(d); n++ {
		if d[n] == '0' && trunkCodes[string(d[:n])] {
			return append(d[:n:n], d[n+1:]...)
		}
	}
	return d
}

// isFree reports whether a number is free of charge or has one rate in a whole country: all branches of a firm have it.
func isFree(number string) bool {
	if number[0] != '+' {
		return len(number) >= 9 && (strings.HasPrefix(number, "0800") || strings.HasPrefix(number, "0808"))
	}
	for _, prefix := range freePrefixes[number[1]-'0'] {
		if strings.HasPrefix(number[1:], prefix) {
			return true
		}
	}
	return false
}

// freePrefixes are the prefixes of free numbers with their country code, by its first digit.
var freePrefixes = func() (by [10][]string) {
	for prefix := range strings.FieldsSeq(`
		1800 1833 1844 1855 1866 1877 1888 31800 31900 32800 33800 33801 33802 33803 33804 33805 33809 3381 3382 34800 34900 34901 34902
		351707 351800 351808 353818 353850 353890 353180 358800 39199 39800 39840 39848 41800 41840 41842 41844 41848 43800 43810 43820
		443 44800 44808 44843 44844 44845 44870 44871 45808 4680 4620 47800 48800 48801 49180 49800 611300 611800 64800 64508 81120 86400
		86800 911800`) {
		by[prefix[0]-'0'] = append(by[prefix[0]-'0'], prefix)
	}
	return by
}()

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

// localPart returns the digits of a normal form without a country code that the same number has with one: the last nine
// at most, without the zeros of a trunk prefix. It is "" for a number with its country code.
func localPart(number string) string {
	if strings.HasPrefix(number, "+") {
		return ""
	}
	for len(number) > minPhone && number[0] == '0' {
		number = number[1:]
	}
	return number[max(0, len(number)-9):]
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

// comparePhones returns the level of the best pair of numbers. Among equal numbers the one with the fewest names
// counts.
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
				if x.free || y.free {
					n = Crowd
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
