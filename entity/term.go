// SPDX-License-Identifier: Apache-2.0

package entity

import "github.com/cespare/xxhash/v2"

// Term returns the search key for "this attribute has exactly this normalised value": the XXH64 of the
// length of the attribute name as one byte, the name, and the value. Names have at most 64 bytes. The empty
// value, which no attribute has, means "this attribute has a value"; the empty name, which no attribute
// has, means the kind.
func Term(attribute, normalised string) uint64 {
	var room [128]byte // on the stack; most terms fit
	b := append(room[:0], byte(len(attribute)))
	return xxhash.Sum64(append(append(b, attribute...), normalised...))
}
