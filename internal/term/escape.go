// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text of unknown origin safe to print on one line: control characters, format
// characters (which turn or hide what follows), line separators, private-use characters and bytes
// that are not UTF-8 become \n, \t, \r, \xNN, \uNNNN or \UNNNNNNNN. All else stays.
func Escape(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// hidden tells whether a character does something other than being seen.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// Clip escapes s and cuts it to at most n characters, the last being an ellipsis where something
// was cut; n is at least 1.
func Clip(s string, n int) string {
	s = Escape(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
