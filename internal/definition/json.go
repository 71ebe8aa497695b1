// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// surrogates are a character as JSON may escape it and YAML may not.
var surrogates = regexp.MustCompile(`\\+u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// slashes are some that JSON may escape and YAML may not.
var slashes = regexp.MustCompile(`\\+/`)

// FromJSON makes of a text in JSON one that says the same in YAML and is JSON still. They differ little:
// characters in two escapes and slashes are written as they are, and those that YAML takes for breaks, or
// refuses, as an escape.
func FromJSON(text []byte) []byte {
	text = surrogates.ReplaceAllFunc(text, func(m []byte) []byte {
		u := bytes.IndexByte(m, 'u')
		var character string
		if u%2 == 0 || json.Unmarshal(slices.Concat([]byte{'"'}, m[u-1:], []byte{'"'}), &character) != nil {
			return m // a backslash, and then a u
		}
		return append(m[:u-1:u-1], character...)
	})
	text = slashes.ReplaceAllFunc(text, func(m []byte) []byte {
		if len(m)%2 == 1 {
			return m // backslashes, and then a slash
		}
		return append(m[:len(m)-2:len(m)-2], '/')
	})
	if !bytes.ContainsFunc(text, foreign) {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if foreign(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// foreign tells whether YAML takes no such character in a text, or not for itself.
func foreign(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
