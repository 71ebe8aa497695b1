// SPDX-License-Identifier: Apache-2.0

package identifier

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Problem says what keeps a text from being an identifier of at most so many bytes, "" if nothing does. It is
// the end of a sentence, whose subject is the caller's.
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
