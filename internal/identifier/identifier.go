// SPDX-License-Identifier: Apache-2.0

package identifier

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Problem returns why s is not a valid identifier of at most most bytes, "" if it is valid. The text is the
// predicate of a sentence; the caller adds the subject.
func Problem(s string, most int) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > most:
		return fmt.Sprintf("has %d bytes, more than %d", len(s), most)
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return "begins or ends with white space"
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("holds the character %U, which cannot be seen", r)
		}
	}
	return ""
}
