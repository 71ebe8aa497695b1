// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"crypto/md5"
	"encoding/binary"
	"io"
	"math"
	"sync"
	"time"
)

const (
	// step is added to the counter for each id: odd, so all 2^32 values come before
	// one repeats.
	step uint32 = 198491317
	// stepInverse undoes step: step * stepInverse = 1 (mod 2^32).
	stepInverse uint32 = 3127333277
	// cycle is the number of counters.
	cycle = 1 << 32
)

// lane is one counter with one identity (process, node). Everything it mints is
// unique by this rule: ids of one millisecond have counters less than a full
// cycle apart, because a mint that would complete the cycle moves the lane's time
// on first. So they differ in the counter, hence in the position, whatever
// positions were asked for.
type lane struct {
	mu sync.Mutex
	clock

	order Order
	node  Node
	near  bool
	// simulated is set when time or randomness were passed in: such a lane does not
	// count among the identities of the process.
	simulated bool
	rand      io.Reader
	getpid    func() int

	pid int
	y   uint32
	c   uint32
	// z is the time of the last id in milliseconds, span the steps from the first id
	// at z to the last.
	z    int64
	span uint64

	// window is the ten minutes whose base Sequential order counts from, numbered
	// since 1970; base the position before the first one of the window.
	window int64
	base   uint32
	count  uint32
}

// windowMillis is the length of a Sequential window.
const windowMillis = 10 * 60 * 1000

// identify draws the identity: a new node and counter, or the counter alone if
// the node is fixed. Time may begin anywhere under a new identity. A Sequential
// lane with a fixed node has nothing to draw that its ids depend on, so its time
// holds: going back would count through an old window again.
func (l *lane) identify() {
	l.pid = l.getpid()
	switch {
	case l.node.fixed && l.near:
		l.y = l.node.value | nearNode
	case l.node.fixed:
		l.y = l.node.value
	case l.simulated:
		l.y = draw(l.rand) & maxNode
	default:
		l.y = drawNode()
	}
	l.c = draw(l.rand)
	if l.node.fixed && l.order == Sequential {
		return
	}
	l.z, l.span, l.window = math.MinInt64, 0, math.MinInt64
}

// now reads the clock, and draws the identity again if the process is another one
// or the clock jumped.
func (l *lane) now() int64 {
	ms, looked, jumped := l.read()
	if jumped || looked && l.getpid() != l.pid {
		l.identify()
	}
	return ms
}

// at returns the time that an id m steps on must carry, and the span after it;
// the caller commits them. now and from are milliseconds.
func (l *lane) at(m uint64, now, from int64) (z int64, span uint64) {
	z = max(now, from, l.z)
	if z > l.z {
		return z, 0
	}
	if span = l.span + m; span >= cycle {
		return z + 1, 0
	}
	return z, span
}

// variable mints the next id in Variable order.
func (l *lane) variable(now int64) ID {
	l.z, l.span = l.at(1, now, math.MinInt64)
	l.c += step
	return l.assemble(reverseDigits(l.c))
}

// sequential mints the next id of the window that its own time falls in.
func (l *lane) sequential(now int64) ID {
	l.z, l.span = l.at(1, now, math.MinInt64)
	if window := floorDiv(l.z, windowMillis); window != l.window {
		l.window, l.base, l.count = window, windowBase(l.z), 0
	}
	l.count++
	return l.assemble(l.base + l.count)
}

// assemble lays an id out at a position, with the lane's identity and time.
func (l *lane) assemble(position uint32) ID { return assemble(position, uint16(l.pid), l.y, l.z) }

// windowBase is the position before the first one of the window of ms: the first
// four bytes, little-endian, of the MD5 of the first 11 digits of yyyyMMddHHmm in
// UTC. MD5 spreads here and protects nothing.
func windowBase(ms int64) uint32 {
	sum := md5.Sum([]byte(time.UnixMilli(ms).UTC().Format("200601021504")[:11]))
	return binary.LittleEndian.Uint32(sum[:4])
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
