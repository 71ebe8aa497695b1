// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
)

// Node says where the node bits of a generator's ids come from: 28 of them, 26 in
// Version8. The zero value is RandomNode().
type Node struct {
	kind  nodeKind
	value uint32
}

type nodeKind int

const (
	randomNode nodeKind = iota
	fixedNode
	hardwareNode
)

// RandomNode draws the bits at random, once per lane and again whenever the
// identity must change. Among 1,000 lanes with one process number 0.0019 pairs
// are expected to agree, and such a pair must still meet in counter and
// millisecond to mint one id twice. A draw already taken in this process is drawn
// again.
func RandomNode() Node { return Node{} }

// FixedNode uses v, below 2^27 (2^25 in Version8), in every id: the ordinal of a
// replica, say. No two processes with one process number may share it. Within a
// process, generators that ask for one fixed node are one generator; asking for it
// with other options is an error. The top bit marks the ids minted near something.
func FixedNode(v uint32) Node { return Node{kind: fixedNode, value: v} }

// HardwareNode uses the end of the address of the first network interface that is
// up, as the reference does: for compatibility, since containers often share an
// address. It warns by an Event where that is likely, and where no interface has
// an address it is RandomNode. Within a process it is shared as a fixed node is.
// Ids minted near something have a random node.
func HardwareNode() Node { return Node{kind: hardwareNode} }

// String returns "random", "fixed(v)" or "hardware".
func (n Node) String() string {
	switch n.kind {
	case fixedNode:
		return fmt.Sprintf("fixed(%d)", n.value)
	case hardwareNode:
		return "hardware"
	default:
		return "random"
	}
}

// PIDField says what stands in the 16 bits of the process.
type PIDField int

const (
	// RealPID is the number of the process modulo 65536. It is the default.
	RealPID PIDField = iota
	// RandomPID is drawn at random with the identity: beside a random node it makes 44
	// bits, of which 100,000 lanes expect 3e-4 pairs to agree.
	RandomPID
)

// hardwareAddress returns the first address that a node can be made of.
func hardwareAddress(interfaces []net.Interface) (net.HardwareAddr, bool) {
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 &&
			len(i.HardwareAddr) == 6 && [6]byte(i.HardwareAddr) != [6]byte{} {
			return i.HardwareAddr, true
		}
	}
	return nil, false
}

// doubts says why others may have the same hardware node, or nothing.
func doubts(addr net.HardwareAddr, pid int, order Order) (why string) {
	switch {
	case pid == 1:
		return "the process number is 1, as in every container"
	case addr[0]&2 != 0:
		return "the address is locally administered, as those of virtual machines and containers"
	case order == Sequential:
		return "a restarted process counts through its window again"
	}
	return ""
}

// takeHardware looks the address of a hardware node up, or makes the node random
// if there is none, and tells what is in doubt.
func (o *Options) takeHardware(pid int, interfaces func() ([]net.Interface, error)) {
	doubt := Event{Kind: NodeInDoubt, Node: o.Node}
	all, err := interfaces()
	addr, ok := hardwareAddress(all)
	switch {
	case err != nil:
		doubt.Why = "the network interfaces cannot be read, so the node is random: " + err.Error()
	case !ok:
		doubt.Why = "no network interface has an address, so the node is random"
	default:
		doubt.Why = doubts(addr, pid, o.Order)
	}
	if doubt.Why != "" {
		o.OnEvent(doubt)
	}
	if !ok {
		o.Node = RandomNode()
		return
	}
	o.Node.value = binary.BigEndian.Uint32(addr[2:]) & (1<<o.Envelope.nodeBits() - 1)
}

// sharing holds the generators of this process whose node is not random.
var sharing = struct {
	sync.Mutex
	generators map[Node]*Generator
}{generators: map[Node]*Generator{}}

// sharedNode returns the generator of a node, which it builds for the first who
// asks.
func sharedNode(o *Options, build func() *Generator) (*Generator, error) {
	sharing.Lock()
	defer sharing.Unlock()
	g := sharing.generators[o.Node]
	if g == nil {
		g = build()
		sharing.generators[o.Node] = g
	}
	if was := g.opts; was.Order != o.Order || was.PID != o.PID || was.Envelope != o.Envelope || was.Lease != o.Lease {
		return nil, fmt.Errorf("%w: %v already mints in %v order in this process, or with another PID, Envelope or Lease: take another node, or the same options",
			ErrOptions, o.Node, was.Order)
	}
	return g, nil
}

// identities are those of this process, so that no random draw is used twice. They
// grow by an entry per lane.
var identities = struct {
	sync.Mutex
	taken map[identity]struct{}
}{taken: map[identity]struct{}{}}

// identify returns an identity for a lane of g in process pid, with node y if it
// has a value. One that is drawn is not that of another lane of this process.
func (g *Generator) identify(pid int, y uint32, drawn bool) identity {
	identities.Lock()
	defer identities.Unlock()
	for {
		if drawn {
			y = draw(g.opts.Rand)
		}
		x := uint16(pid)
		if g.opts.PID == RandomPID {
			x = uint16(draw(g.opts.Rand))
		}
		who := g.opts.Envelope.identity(x, y)
		if g.simulated {
			return who // two of them may be meant to agree
		}
		if _, taken := identities.taken[who]; taken && drawn {
			continue
		}
		identities.taken[who] = struct{}{}
		return who
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
