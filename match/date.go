// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// date is a day, a month or a year as written. It is not validated against a calendar: a day that does not
// exist is a typo with mostly correct digits and is compared as such.
type date struct {
	year       uint16
	month, day uint8 // 0: unknown
}

func (d date) valid() bool { return d.year > 0 }

// String returns the normal form: 1969-07-20, 1969-07, 1969.
func (d date) String() string {
	switch {
	case !d.valid():
		return ""
	case d.day > 0:
		return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day)
	case d.month > 0:
		return fmt.Sprintf("%04d-%02d", d.year, d.month)
	}
	return fmt.Sprintf("%04d", d.year)
}

var months = map[string]uint8{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
	"mai": 5, "okt": 10, "dez": 12, "fev": 2, "avr": 4, "ene": 1, "abr": 4, "ago": 8, "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "set": 9, "ott": 10,
}

// Date returns the normal form of a date, as an attribute of type date reads it: 1969-07-20, 1969-07 or 1969.
func Date(value string) (normal string, ok bool) {
	d := parseDate(value)
	return d.String(), d.valid()
}

// parseDate parses a date: 1969-07-20, 19690720, 20.7.1969, 7/20/1969, 20 July 1969, 1969-07, 1969, with or without a
// day of the week before it and a time after it. In 7/8/1969 the month comes first, in 8.7.1969 the day; dates that agree if swapped have a separate
// level. A day may have a year of two digits, 20.7.69, from 1930 to 2029. The first days of 1900 and 1970, which are
// typical defaults of empty fields, are null values.
func parseDate(raw string) date {
	raw = strings.TrimSpace(raw)
	if !ascii(raw) {
		raw = dateSigns.Replace(raw)
	}
	if i := strings.IndexAny(raw, "Tt "); i >= 8 && strings.Contains(raw[i:], ":") {
		raw = raw[:i]
	}
	var numbers [3]string
	n, word, wordAt := 0, uint8(0), -1
	for part := range strings.SplitSeq(fold(raw), " ") {
		switch {
		case n == 2 && wordAt >= 0 && len(numbers[1]) == 4 && (timeWords[part] || digits(part)): // 20 July 1969, 8 pm
			return readDate(numbers[:n], word, false)
		case n == len(numbers):
			return date{}
		case n == 0 && wordAt < 0 && len(part) >= 3 && (weekdays[part[:3]] || weekdays[part]):
		case digits(strings.TrimRight(part, "stndrh")):
			numbers[n] = strings.TrimRight(part, "stndrh")
			n++
		case len(part) >= 3 && months[part[:3]] > 0 && wordAt < 0:
			word, wordAt = months[part[:3]], n
		case part != "" && part != "of" && part != "de":
			return date{}
		}
	}
	d := readDate(numbers[:n], word, strings.Contains(raw, "/"))
	if !d.valid() && !strings.Contains(raw, ":") {
		d = readShort(numbers[:n], word, strings.Contains(raw, "/"))
	}
	switch {
	case d.year < 1000 || d.year > 2999 || d.month == 0 && d.day > 0,
		d == date{1900, 1, 1}, d == date{1970, 1, 1}, d == date{1111, 11, 11}, d == date{2222, 22, 22}:
		return date{}
	}
	return d
}

// weekdays are the beginnings of the days of the week, or the days that begin like a month, in the languages of months.
// timeWords stand beside a time of day.
var (
	weekdays  = wordSet(`mon tue wed thu fri sat sun die mit don fre sam son lun mer jeu ven dim mie jue vie sab dom gio mardi martes martedi`)
	timeWords = wordSet(`at um a las am pm uhr h`)
)

// dateSigns are the signs behind the parts of a date in Chinese, Japanese and Korean: 1969年7月20日.
var dateSigns = strings.NewReplacer("年", " ", "月", " ", "日", " ", "년", " ", "월", " ", "일", " ")

func readDate(n []string, month uint8, monthFirst bool) (d date) {
	switch {
	case month > 0 && len(n) == 1 && len(n[0]) == 4:
		d.year, d.month = small(n[0]), month
	case month > 0 && len(n) == 2 && len(n[1]) == 4 && len(n[0]) <= 2:
		d.year, d.month, d.day = small(n[1]), month, uint8(small(n[0]))
	case month > 0 && len(n) == 2 && len(n[0]) == 4 && len(n[1]) <= 2:
		d.year, d.month, d.day = small(n[0]), month, uint8(small(n[1]))
	case month > 0:
	case len(n) == 1 && len(n[0]) == 8:
		d = date{small(n[0][:4]), uint8(small(n[0][4:6])), uint8(small(n[0][6:]))}
	case len(n) == 1 && len(n[0]) == 4:
		d.year = small(n[0])
	case len(n) == 2 && len(n[0]) == 4 && len(n[1]) <= 2:
		if d.year, d.month = small(n[0]), uint8(small(n[1])); d.month > 12 {
			d.month = 0 // a day without its month
		}
	case len(n) == 2 && len(n[1]) == 4 && len(n[0]) <= 2:
		d.year, d.month = small(n[1]), uint8(small(n[0]))
	case len(n) == 3 && len(n[0]) == 4 && len(n[1]) <= 2 && len(n[2]) <= 2:
		d = date{small(n[0]), uint8(small(n[1])), uint8(small(n[2]))}
	case len(n) == 3 && len(n[2]) == 4 && len(n[0]) <= 2 && len(n[1]) <= 2:
		d = date{small(n[2]), uint8(small(n[1])), uint8(small(n[0]))}
		if monthFirst && d.day <= 12 || d.month > 12 && d.day <= 12 {
			d.month, d.day = d.day, d.month
		}
	}
	return d
}

// readShort reads a day of a year of two digits.
func readShort(n []string, month uint8, monthFirst bool) date {
	if month > 0 && len(n) == 2 {
		n = []string{n[0], fmt.Sprint(month), n[1]}
		monthFirst = false
	}
	if len(n) != 3 || slices.ContainsFunc(n, func(s string) bool { return len(s) > 2 }) {
		return date{}
	}
	if small(n[0]) > 31 { // 69-07-20
		n = []string{n[2], n[1], n[0]}
		monthFirst = false
	}
	if len(n[2]) != 2 {
		return date{}
	}
	d := date{1900 + small(n[2]), uint8(small(n[1])), uint8(small(n[0]))}
	if d.year < 1930 {
		d.year += 100
	}
	if monthFirst && d.day <= 12 || d.month > 12 {
		d.month, d.day = d.day, d.month
	}
	if d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 {
		return date{}
	}
	return d
}

func small(digits string) (n uint16) {
	for i := range min(len(digits), 4) {
		n = 10*n + uint16(digits[i]-'0')
	}
	return n
}

func compareDates(a, b date) level {
	switch {
	case !a.valid() || !b.valid():
		return levelNone
	case a.day > 0 && b.day > 0:
		return compareDays(a, b)
	case a.year+1 == b.year, b.year+1 == a.year:
		return dateNextYear
	case a.year != b.year, a.month > 0 && b.month > 0 && a.month != b.month:
		return dateDifferent
	case a.month > 0 && b.month > 0:
		return dateMonth
	}
	return dateYear
}

func compareDays(a, b date) level {
	switch {
	case a == b:
		return dateEqual
	case a.year == b.year && a.month == b.day && a.day == b.month:
		return dateSwapped
	case slip(a.String(), b.String()):
		return dateOneOff
	case digitsApart(a.String(), b.String()) == 2:
		return dateTwoOff
	case a.year == b.year:
		return dateOtherDay
	}
	return dateDifferent
}

// slip reports whether two texts differ in one letter, or in two neighbours that are swapped.
func slip(a, b string) bool {
	i := equalLetters(a, b)
	x, sizeX := utf8.DecodeRuneInString(a[i:])
	y, sizeY := utf8.DecodeRuneInString(b[i:])
	if sizeX == 0 || sizeY == 0 {
		return false
	}
	a, b = a[i+sizeX:], b[i+sizeY:]
	if a == b {
		return true
	}
	return strings.HasPrefix(a, string(y)) && strings.HasPrefix(b, string(x)) && a[sizeY:] == b[sizeX:]
}

// equalLetters returns the length of the letters that two texts begin with.
func equalLetters(a, b string) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	for i > 0 && i < len(a) && !utf8.RuneStart(a[i]) || i > 0 && i < len(b) && !utf8.RuneStart(b[i]) {
		i--
	}
	return i
}

// digitsApart counts the bytes where two texts of equal length differ.
func digitsApart(a, b string) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
