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

// surrogates matches surrogate pairs, which are valid escapes in JSON but not in YAML.
var surrogates = regexp.MustCompile(`\\+u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// slashes matches escaped slashes, which are valid in JSON but not in YAML.
var slashes = regexp.MustCompile(`\\+/`)

// FromJSON converts JSON to a text that is valid YAML and JSON with the same meaning. Surrogate pairs and escaped
// slashes are unescaped; characters that YAML refuses or treats as line breaks are escaped.
func FromJSON(text []byte) []byte {
	text = surrogates.ReplaceAllFunc(text, func(m []byte) []byte {
		u := bytes.IndexByte(m, 'u')
		var character string
		if u%2 == 0 || json.Unmarshal(slices.Concat([]byte{'"'}, m[u-1:], []byte{'"'}), &character) != nil {
			return m // an escaped backslash before the u
		}
		return append(m[:u-1:u-1], character...)
	})
	text = slashes.ReplaceAllFunc(text, func(m []byte) []byte {
		if len(m)%2 == 1 {
			return m // an escaped backslash before the slash
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

// foreign reports whether YAML refuses a character in a text or treats it specially.
func foreign(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
