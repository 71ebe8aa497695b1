// SPDX-License-Identifier: Apache-2.0

package entity

import "github.com/cespare/xxhash/v2"

// Term is the stored form of "this attribute has exactly this normalised value": the 64-bit
// XXH64 of the length of the attribute's name in one byte, the name, and the value.
// Names are at most 64 bytes long. No attribute has the empty value, which therefore stands for "this
// attribute has a value"; and no attribute has the empty name, which stands for the kind.
func Term(attribute, normalised string) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write([]byte{byte(len(attribute))})
	_, _ = d.WriteString(attribute)
	_, _ = d.WriteString(normalised)
	return d.Sum64()
}
