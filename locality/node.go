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

// Node is the source of the node bits of a generator's IDs: 28 of them, 26 in Version8. The zero value is RandomNode().
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

// RandomNode draws the bits at random, once per lane and again whenever the identity changes. Among 1,000 lanes with
// one process number 0.0019 pairs are expected to agree, and such a pair must also agree in counter and millisecond to
// mint a duplicate ID. An identity already used in this process is redrawn.
func RandomNode() Node { return Node{} }

// FixedNode uses v, below 2^27 (2^25 in Version8), in every ID: the ordinal of a replica, for example. Processes with
// the same process number must not share it. Within a process, generators with the same fixed node are one generator;
// requesting it with other options is an error. The top bit marks the IDs minted near something.
func FixedNode(v uint32) Node { return Node{kind: fixedNode, value: v} }

// HardwareNode uses the end of the address of the first network interface that is up, as the reference does. It exists
// for compatibility: containers often share an address. An Event warns where that is likely. If no interface has an
// address, it is RandomNode. Within a process it is shared like a fixed node. IDs minted near something have a random
// node.
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

// PIDField is the source of the 16 process bits.
type PIDField int

const (
	// RealPID is the process number modulo 65536. It is the default.
	RealPID PIDField = iota
	// RandomPID is drawn at random with the identity: together with a random node that makes 44 bits, and 3e-4 pairs of
	// 100,000 lanes are expected to agree.
	RandomPID
)

// hardwareAddress returns the first address usable as a node.
func hardwareAddress(interfaces []net.Interface) (net.HardwareAddr, bool) {
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 &&
			len(i.HardwareAddr) == 6 && [6]byte(i.HardwareAddr) != [6]byte{} {
			return i.HardwareAddr, true
		}
	}
	return nil, false
}

// doubts returns why other processes may have the same hardware node, "" if that is unlikely.
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

// takeHardware sets the value of a hardware node, or makes the node random if there is no address, and reports doubts.
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

// sharedNode returns the generator of a node, and builds it on the first call.
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

// identities are the identities used in this process, so that no random draw is used twice. The list grows by one entry
// per lane.
var identities = struct {
	sync.Mutex
	taken map[identity]struct{}
}{taken: map[identity]struct{}{}}

// identify returns an identity for a lane of g in process pid, with node y unless drawn. A drawn identity differs from
// the identities of all other lanes of this process.
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
			return who // two simulated generators may be meant to agree
		}
		if _, taken := identities.taken[who]; taken && drawn {
			continue
		}
		identities.taken[who] = struct{}{}
		return who
	}
}

// draw reads 32 random bits. If the reader fails, crypto/rand is used for this draw: continuing with a stale identity
// could repeat IDs, and New has no error to return.
func draw(r io.Reader) uint32 {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		rand.Read(b[:])
	}
	return binary.LittleEndian.Uint32(b[:])
}
