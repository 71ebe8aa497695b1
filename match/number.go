// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// parseNumber parses the first number of a text, ignoring currency and unit: "$1,299.00", "1.299,00 EUR",
// "19 in", "9.0%". The last separator is the decimal one, unless it occurs several times or is a lone comma before
// three digits. A duration such as 3:41, 3m 41s or 1:02:03 is read in its smallest unit.
func parseNumber(raw string) (value float64, ok bool) {
	raw = latinDigits(raw)
	from := strings.IndexFunc(raw, func(r rune) bool { return '0' <= r && r <= '9' })
	if from < 0 {
		return 0, false
	}
	to := from
	for to < len(raw) && (isDigit(raw[to]) || (raw[to] == '.' || raw[to] == ',') && to+1 < len(raw) && isDigit(raw[to+1])) {
		to++
	}
	if value, ok = parseDuration(raw[from:]); ok {
		return value, true
	}
	if value, ok = parseSpelled(raw[from:]); ok {
		return value, true
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

// parseDuration parses two or three numbers with colons between them, of which all but the first have two digits and
// are below 60. 3:41 is 221, seconds or minutes.
func parseDuration(raw string) (value float64, ok bool) {
	first := number(raw)
	rest, n := raw[len(first):], 1
	value, err := strconv.ParseFloat(first, 64)
	for ; n <= 3 && len(rest) >= 3 && rest[0] == ':' && '0' <= rest[1] && rest[1] < '6' && isDigit(rest[2]); n++ {
		value = 60*value + float64(10*(rest[1]-'0')+rest[2]-'0')
		rest = rest[3:]
	}
	whole := rest == "" || !isDigit(rest[0]) && rest[0] != ':'
	return value, err == nil && (n == 2 || n == 3) && whole
}

// parseSpelled parses two numbers with their units.
func parseSpelled(raw string) (value float64, ok bool) {
	if parts := spelledDuration.FindStringSubmatch(raw); parts != nil {
		return parseDuration(parts[1] + ":" + fmt.Sprintf("%02s", parts[2]))
	}
	return 0, false
}

// spelledDuration is two numbers with their units: 1h 53m, 3 min 41 s.
var spelledDuration = regexp.MustCompile(`(?i)^(\d{1,4}) ?(?:h|hr|hrs|hours?|std|m|min|mins|minutes?|minuten)\.?,? ?([0-5]?\d) ?(?:m|min|mins|minutes?|minuten|s|sec|secs|seconds?|sekunden)\.?$`)

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
