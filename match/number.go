// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"strconv"
	"strings"
)

// parseNumber parses the first number of a text, ignoring currency and unit: "$1,299.00", "1.299,00 EUR",
// "19 in". The last separator is the decimal one, unless it occurs several times or is a lone comma before
// three digits.
func parseNumber(raw string) (value float64, ok bool) {
	from := strings.IndexFunc(raw, func(r rune) bool { return '0' <= r && r <= '9' })
	if from < 0 {
		return 0, false
	}
	to := from
	for to < len(raw) && (isDigit(raw[to]) || (raw[to] == '.' || raw[to] == ',') && to+1 < len(raw) && isDigit(raw[to+1])) {
		to++
	}
	text := raw[from:to]
	decimal := strings.LastIndexAny(text, ".,")
	if decimal >= 0 {
		mark := text[decimal : decimal+1]
		other := strings.Trim(".,", mark)
		if strings.Count(text, mark) > 1 || len(text)-decimal == 4 && mark == "," && !strings.Contains(text, other) {
			decimal = -1
		}
	}
	whole, rest := text, ""
	if decimal >= 0 {
		whole, rest = text[:decimal], text[decimal+1:]
	}
	whole = strings.NewReplacer(".", "", ",", "").Replace(whole)
	value, err := strconv.ParseFloat(whole+"."+rest, 64)
	if err != nil || math.IsInf(value, 0) {
		return 0, false
	}
	if from > 0 && raw[from-1] == '-' {
		value = -value
	}
	return value, true
}

func normalNumber(raw string) string {
	value, ok := parseNumber(raw)
	if !ok {
		return ""
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// compareQuantities compares the distance of two numbers, relative to the larger.
func compareQuantities(a, b float64) level {
	if a == b {
		return quantityEqual
	}
	switch apart := math.Abs(a-b) / max(math.Abs(a), math.Abs(b)); {
	case apart <= 0.05:
		return quantityClose
	case apart <= 0.25:
		return quantityNear
	case apart <= 0.5:
		return quantityApart
	}
	return quantityFar
}
