// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// Node says where the 28 node bits of a generator's ids come from. The zero value
// is RandomNode().
type Node struct {
	fixed bool
	value uint32
}

// nearNode marks the near lane of a fixed node.
const nearNode = 1 << 27

// RandomNode draws the 28 bits at random, once per lane and again whenever the
// identity must change. Among 1,000 lanes with one process number 0.0019 pairs
// are expected to agree, and such a pair must still meet in counter and
// millisecond to mint one id twice. A draw already taken in this process is drawn
// again.
func RandomNode() Node { return Node{} }

// FixedNode uses v, below 2^27, in every id: the ordinal of a replica, say. No
// two processes with one process number may share it. Within a process,
// generators that ask for one fixed node are one generator; asking for it with
// another Order is an error. Its near lane uses v + 2^27.
func FixedNode(v uint32) Node { return Node{fixed: true, value: v} }

// String returns "random" or "fixed(v)".
func (n Node) String() string {
	if !n.fixed {
		return "random"
	}
	return fmt.Sprintf("fixed(%d)", n.value)
}

// inUse knows the identities of this process: random draws are not used twice,
// and fixed nodes share their counters. It grows by a word per lane.
var inUse = struct {
	sync.Mutex
	random map[uint32]struct{}
	fixed  map[uint32]*Generator
}{random: map[uint32]struct{}{}, fixed: map[uint32]*Generator{}}

// drawNode takes 28 random bits that no other lane of this process has.
func drawNode() uint32 {
	inUse.Lock()
	defer inUse.Unlock()
	for {
		y := draw(rand.Reader) & maxNode
		if _, taken := inUse.random[y]; !taken {
			inUse.random[y] = struct{}{}
			return y
		}
	}
}

// draw reads 32 random bits. A reader that fails is replaced by crypto/rand for
// this draw: going on with an identity known to be stale could repeat ids, and
// New has no error to return.
func draw(r io.Reader) uint32 {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		rand.Read(b[:])
	}
	return binary.LittleEndian.Uint32(b[:])
}
