// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// parseNumber reads a decimal number in units of its last digit: "1.5" at scale 2 is 150. It reports false for
// more than scale digits after the point (trailing zeros are ignored) and for numbers that do not fit into 64
// bits.
func parseNumber(s string, scale int) (int64, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	frac = strings.TrimRight(frac, "0")
	if !isDecimal(s) || len(frac) > scale {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", scale-len(frac)), 10, 64)
	return n, err == nil
}

// isDecimal reports whether s is a decimal number without exponent, such as -12.50.
func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, frac, point := strings.Cut(s, ".")
	return isDigits(whole) && (!point || isDigits(frac))
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// formatNumber is the inverse of parseNumber.
func formatNumber(n int64, scale int) string {
	return point(strconv.FormatInt(n, 10), scale)
}

// point inserts the decimal point.
func point(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	whole, frac := digits[:len(digits)-scale], strings.TrimRight(digits[len(digits)-scale:], "0")
	if frac == "" {
		return sign + whole
	}
	return sign + whole + "." + frac
}

// bound is an end of a range of numbers or dates.
type bound struct {
	text string
	date bool
}

// parseBound reads a decimal number, or the day of a date.
func parseBound(s string) (bound, bool) {
	if isDecimal(s) {
		return bound{text: s}, true
	}
	if len(s) > len(time.DateOnly) && s[len(time.DateOnly)] == 'T' {
		s = s[:len(time.DateOnly)]
	}
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return bound{}, false
	}
	return bound{text: s, date: true}, true
}

// compare orders two bounds of the same form.
func (b bound) compare(c bound) int {
	if b.date {
		return cmp.Compare(b.text, c.text)
	}
	x, y := b.text, c.text
	minusX, minusY := isBelow(x), isBelow(y)
	switch {
	case minusX && !minusY:
		return -1
	case minusY && !minusX:
		return 1
	case minusX:
		return compareDigits(y[1:], x[1:])
	}
	return compareDigits(strings.TrimPrefix(x, "-"), strings.TrimPrefix(y, "-"))
}

// isBelow reports whether a number is below zero; -0 is not.
func isBelow(s string) bool { return s[0] == '-' && strings.Trim(s, "-0.") != "" }

// compareDigits orders non-negative numbers of any length.
func compareDigits(x, y string) int {
	wholeX, fracX, _ := strings.Cut(strings.TrimLeft(x, "0"), ".")
	wholeY, fracY, _ := strings.Cut(strings.TrimLeft(y, "0"), ".")
	return cmp.Or(
		cmp.Compare(len(wholeX), len(wholeY)), cmp.Compare(wholeX, wholeY),
		cmp.Compare(strings.TrimRight(fracX, "0"), strings.TrimRight(fracY, "0")))
}

// appendOrdered appends a number such that byte order is numeric order.
func appendOrdered(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n)^1<<63)
}

func readOrdered(b []byte) (int64, bool) {
	if len(b) != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63), true
}
