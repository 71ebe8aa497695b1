// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"
	"time"
)

// parseInstant parses an RFC 3339 time, strictly. time.Parse also accepts a comma before the fraction, a one-digit
// hour, an offset of 24 hours, and truncates the fraction after nine digits.
func parseInstant(text string) (time.Time, bool) {
	const whole = len("2006-01-02T15:04:05")
	if len(text) <= whole || !shaped(text[:whole], "0000-00-00T00:00:00") {
		return time.Time{}, false
	}
	zone := text[whole:]
	if strings.HasPrefix(zone, ".") {
		digits := 1
		for digits < len(zone) && zone[digits] >= '0' && zone[digits] <= '9' {
			digits++
		}
		if digits == 1 || digits > 1+9 {
			return time.Time{}, false
		}
		zone = zone[digits:]
	}
	if zone != "Z" && (!shaped(zone, "+00:00") && !shaped(zone, "-00:00") || zone[1:3] > "23" || zone[4:6] > "59") {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t.UTC(), err == nil
}

func instantAt(pointer, text string) (time.Time, *Fault) {
	t, ok := parseInstant(text)
	if !ok {
		return t, fault(CodeInvalid, pointer, "%.60q is not a time of RFC 3339 such as 2026-11-20T12:00:00Z", text)
	}
	return t, nil
}

// shaped reports whether a text matches a shape, where 0 means any digit.
func shaped(text, shape string) bool {
	if len(text) != len(shape) {
		return false
	}
	for i := range len(text) {
		digit := text[i] >= '0' && text[i] <= '9'
		if shape[i] == '0' && !digit || shape[i] != '0' && text[i] != shape[i] {
			return false
		}
	}
	return true
}
