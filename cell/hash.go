// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"crypto/sha256"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// MaxSource is the length of the longest source, in bytes: its length is hashed as one byte.
const MaxSource = 255

// Key is the form of an external key that a cell's directory stores: 24 bytes, and no text that would have to be
// erased. Different external keys have equal Keys in one map with probability 2^-128 per pair.
type Key struct {
	// Ring is the hash of the external key XOR 2^63, so that a signed database column sorts in ring order.
	Ring int64
	// Digest is the start of the SHA-256 of the map's salt and the external key.
	Digest [16]byte
}

// Position returns the key's position on the ring of cells.
func (k Key) Position() uint32 { return Position(k.Hash()) }

// Hash returns the hash of the external key, as Hash computes it.
func (k Key) Hash() uint64 { return uint64(k.Ring) ^ 1<<63 }

// KeyOf returns the directory key of an external key. It panics if the source is longer than MaxSource, which would
// make the encoding ambiguous.
func (m *Map) KeyOf(source, key string) Key {
	var stack [keyBuffer]byte
	b := append(stack[:0], m.spec.Salt[:]...)
	b = appendKey(b, source, key)
	sum := sha256.Sum256(b)
	return Key{
		Ring:   int64(xxhash.Sum64(b[len(m.spec.Salt):]) ^ 1<<63),
		Digest: [16]byte(sum[:16]),
	}
}

// Hash returns the 64-bit hash of an external key, or of a blocking key, whose kind takes the place of the source:
// XXH64 with seed 0 over one length byte of source, source and key, without normalisation. It determines where keys
// live and is stored, so it never changes. It panics if the source is longer than MaxSource.
func Hash(source, key string) uint64 {
	var stack [keyBuffer]byte
	return xxhash.Sum64(appendKey(stack[:0], source, key))
}

// Position returns the position of a hash on the ring of cells: its upper 32 bits.
func Position(hash uint64) uint32 { return uint32(hash >> 32) }

// keyBuffer fits salt, length byte, source and key of all but unusual external keys, which avoids an allocation.
const keyBuffer = 128

func appendKey(b []byte, source, key string) []byte {
	if len(source) > MaxSource {
		panic(fmt.Sprintf("cell: source of %d bytes, at most %d", len(source), MaxSource))
	}
	b = append(b, byte(len(source)))
	b = append(b, source...)
	return append(b, key...)
}
