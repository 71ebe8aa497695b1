// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"math"
	"sync"
)

// lane is one counter with one identity, advanced by any number of steps under a lock, in Variable arithmetic. Its IDs
// are unique by this rule: IDs of one millisecond have counters less than a full cycle apart, because a mint that would
// complete the cycle first advances the lane's time. So they differ in the counter, hence in the position, whatever
// positions were requested.
type lane struct {
	identity
	c uint32
	// z is the time of the last ID in milliseconds, span the number of steps from the first ID at z to the last.
	z    int64
	span uint64
}

// lane returns a new lane, with node y, or a drawn one if drawn is set.
func (g *Generator) lane(y uint32, drawn bool) *lane {
	return &lane{identity: g.identify(g.getpid(), y, drawn), c: draw(g.opts.Rand), z: math.MinInt64}
}

// at returns the time of an ID that is m steps further, not before ms, and the span after it.
func (l *lane) at(m uint64, ms int64) (z int64, span uint64) {
	if ms > l.z {
		return ms, 0
	}
	if span = l.span + m; span >= cycle {
		return l.z + 1, 0
	}
	return l.z, span
}

// in mints inside s, whose blocks are b, not before ms. Nothing changes if it fails.
func (l *lane) in(s Segment, b blocks, ms int64) (id ID, err error) {
	m := b.steps(l.c)
	z, span := l.at(m, max(ms, s.From))
	if s.Until != 0 && z >= s.Until {
		return ID{}, ErrSegmentOver
	}
	l.c += uint32(m) * stride
	l.z, l.span = z, span
	l.put(&id, reverseDigits(l.c), z)
	return id, nil
}

// side holds the lanes of a generator other than its main one, each created on first use. They last for one reign of
// the main lane, whose clock they follow.
type side struct {
	sync.Mutex
	reign uint64
	// near mints in a segment now, past in a period that is over, dated at times given by the caller.
	near  *lane
	past  map[period]*lane
	dated *lane
}

// lockSide locks the side lanes, renewing them if the reign changed, and returns the time in milliseconds.
func (g *Generator) lockSide() int64 {
	for {
		st, ms := g.now(0)
		g.side.Lock()
		if st.reign > g.side.reign {
			g.side.reign, g.side.near, g.side.past, g.side.dated = st.reign, nil, nil, nil
		}
		if st.reign == g.side.reign {
			return ms
		}
		g.side.Unlock() // the identity has changed, and the clock with it
	}
}

// nearLane returns the lane of NewIn and Near. The side must be locked.
func (g *Generator) nearLane() *lane {
	if g.side.near == nil {
		node := g.opts.Node
		g.side.near = g.lane(node.value|g.opts.nearNode(), node.kind != fixedNode)
	}
	return g.side.near
}
