// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// termMark begins the words that stand for terms. It is a private-use character, so no word of a name begins
// with it.
const termMark = "\ue000"

// AppendTerm appends a term to b as one word of a search index.
func AppendTerm(b []byte, term uint64) []byte {
	var digits [8]byte
	binary.BigEndian.PutUint64(digits[:], term)
	return hex.AppendEncode(append(b, termMark...), digits[:])
}

// IsWord tells whether a name can be one word of a search index, as words of names are: lower-case letters,
// digits and marks. No entity has another one.
func IsWord(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
}
