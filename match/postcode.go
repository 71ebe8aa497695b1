// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// parsePostcode parses folded text: spaces removed, ZIP+4 reduced to five digits, "" for common
// placeholders.
func parsePostcode(folded string) string {
	if isNothing(folded) {
		return ""
	}
	code := strings.ReplaceAll(folded, " ", "")
	if digits(code) {
		if len(code) == 9 {
			code = code[:5]
		}
		if len(code) > 2 && strings.Count(code, code[:1]) == len(code) && (code[0] == '0' || code[0] == '9') || code == "0" {
			return ""
		}
	}
	if code == "x" || code == "00" {
		return ""
	}
	return code
}

// comparePostcodes returns the level of two codes. The first three characters name an area in most
// countries.
func comparePostcodes(a, b string) level {
	switch {
	case a == "" || b == "":
		return levelNone
	case a == b:
		return postcodeEqual
	case len(a) >= 3 && len(b) >= 3 && a[:3] == b[:3]:
		return postcodeNear
	default:
		return postcodeDifferent
	}
}
