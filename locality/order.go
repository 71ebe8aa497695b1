// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"
)

// Order determines how the positions of a generator's successive IDs relate: from spread to gathered. It is fixed when
// the generator is created.
type Order int

const (
	// Variable spreads evenly: any 16^k consecutive IDs hit each prefix of k hex digits exactly once. It is the
	// default. A table that gets only every second ID of a generator reaches only half of the cells: use a generator
	// per table, or Scatter.
	Variable Order = iota
	// Sequential gathers: the IDs of ten minutes (UTC) are consecutive, and all generators begin a window at the same
	// position. It loads one cell at a time, by design.
	Sequential
	// Scatter spreads like random IDs, whatever part of them a table gets, without making repeats more likely: a
	// position is a keyed permutation of the counter. Use it for a generator that must serve several tables.
	Scatter
)

// String returns "variable", "sequential" or "scatter".
func (o Order) String() string {
	switch o {
	case Variable:
		return "variable"
	case Sequential:
		return "sequential"
	case Scatter:
		return "scatter"
	default:
		return fmt.Sprintf("Order(%d)", int(o))
	}
}

const (
	// stride is added to the counter for each ID in Variable order: odd, so all 2^32 values come before one repeats.
	stride uint32 = 198491317
	// strideInverse is the inverse: stride * strideInverse = 1 (mod 2^32).
	strideInverse uint32 = 3127333277
	// cycle is the number of counters.
	cycle = 1 << 32
	// windowMillis is the length of a window of Sequential order.
	windowMillis = 10 * 60 * 1000
)

func (o Order) stride() uint32 {
	if o == Variable {
		return stride
	}
	return 1
}

// position returns the position of the ID with counter c. In Sequential order the counter begins with the base of the
// window.
func (o Order) position(c uint32, key scatterKey) uint32 {
	switch o {
	case Variable:
		return reverseDigits(c)
	case Scatter:
		return key.permute(c)
	default:
		return c
	}
}

func reverseDigits(v uint32) uint32 {
	v = bits.ReverseBytes32(v)
	return v>>4&0x0f0f0f0f | v&0x0f0f0f0f<<4
}

// scatterKey is drawn once per generator, so that generators scatter differently.
type scatterKey struct{ before, after uint32 }

// permute is a bijection of 32 bits, since each of its steps is invertible; so positions repeat no sooner than counters
// do. The steps between the keys are the finalizer of Austin Appleby's MurmurHash3. It hides the counter from casual
// inspection, not from an attacker.
func (k scatterKey) permute(c uint32) uint32 {
	c ^= k.before
	c ^= c >> 16
	c *= 0x85ebca6b
	c ^= c >> 13
	c *= 0xc2b2ae35
	c ^= c >> 16
	return c + k.after
}

// windowBase returns the position before the first one of the window of ms: the first four bytes, little-endian, of the
// MD5 of the first 11 digits of yyyyMMddHHmm in UTC. MD5 is used to spread, not for security.
func windowBase(ms int64) uint32 {
	sum := md5.Sum([]byte(time.UnixMilli(ms).UTC().Format("200601021504")[:11]))
	return binary.LittleEndian.Uint32(sum[:4])
}

// windowEnd returns the first millisecond after the window of ms.
func windowEnd(ms int64) int64 { return (floorDiv(ms, windowMillis) + 1) * windowMillis }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// WindowCount returns the distance of id from the base of its ten-minute window: its number, from 1, if it was minted
// in Sequential order. Whether it was is a guess: the second result is true if the number is below 2^24, which holds by
// chance for one other ID in 256, and the version is b.
func (id ID) WindowCount() (uint32, bool) {
	n := id.Position() - windowBase(id.Millis())
	return n, id.Version() == 0xb && n-1 < 1<<24-1
}

// Steps returns how many IDs the lane of from minted on the way to id, modulo 2^32, if both were minted in Variable
// order. The second result is false if their processes or nodes differ, or their versions are not b, because then they
// do not share a counter.
func (id ID) Steps(from ID) (uint32, bool) {
	same := id.Version() == 0xb && [6]byte(id[4:10]) == [6]byte(from[4:10])
	return (id.Counter() - from.Counter()) * strideInverse, same
}
