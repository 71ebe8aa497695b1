// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"maps"
	"net"
	"time"
)

// NewGeneratorAs returns a generator of a process whose number is returned by getpid.
func NewGeneratorAs(opts *Options, getpid func() int) (*Generator, error) {
	return newGenerator(opts, getpid, net.Interfaces)
}

// NewGeneratorOn returns a generator on a machine with these network interfaces.
func NewGeneratorOn(opts *Options, pid int, interfaces []net.Interface, err error) (*Generator, error) {
	return newGenerator(opts, func() int { return pid }, func() ([]net.Interface, error) { return interfaces, err })
}

// SetCounter sets the counter of the last ID of the main lane and of the near one to c.
func (g *Generator) SetCounter(c uint32) {
	g.state.Load().counter.Store(c)
	g.lockSide()
	defer g.side.Unlock()
	g.nearLane().c = c
}

// SetSpent sets the number of IDs minted since the clock in Options.Now moved, and since the lane of dated IDs was
// created.
func (g *Generator) SetSpent(n uint64) {
	g.clock.spent = n
	if g.side.dated != nil {
		g.side.dated.span = n
	}
}

// SetClocks replaces the machine's two clocks. The first ones reset the generator; later ones look to it as they do to
// a copy of the machine.
func (g *Generator) SetClocks(mono func() time.Duration, wall func() time.Time) {
	g.clock.mono, g.clock.wall = mono, wall
	if g.shortcut {
		g.shortcut, g.clock.started = false, false
	}
	g.state.Load().anchor.Store(never)
}

// Fork returns a copy of g as in a forked process or a cloned machine: the same memory under another process number.
func (g *Generator) Fork(getpid func() int) *Generator {
	f := &Generator{opts: g.opts, key: g.key, getpid: getpid, simulated: g.simulated, shortcut: g.shortcut}
	f.clock, f.pid, f.reigns = g.clock, g.pid, g.reigns
	f.seeded.Store(g.seeded.Load())
	was := g.state.Load()
	st := &state{identity: was.identity, order: was.order, stride: was.stride, key: was.key, until: was.until,
		reign: was.reign}
	st.ahead.Store(was.ahead.Load())
	st.anchor.Store(was.anchor.Load())
	st.counter.Store(was.counter.Load())
	f.state.Store(st)
	f.side.reign, f.side.past = g.side.reign, maps.Clone(g.side.past)
	for p, l := range f.side.past {
		copied := *l
		f.side.past[p] = &copied
	}
	for _, pair := range [][2]**lane{{&f.side.near, &g.side.near}, {&f.side.dated, &g.side.dated}} {
		if l := *pair[1]; l != nil {
			copied := *l
			*pair[0] = &copied
		}
	}
	return f
}

// Blocks returns the positions that NewIn may use in s, the size of a block, and the number of steps from counter c to
// the first of them.
func Blocks(s Segment, c uint32) (lo, hi, size, steps uint64) {
	b := s.blocks()
	shift := 32 - 4*b.digits
	return b.first << shift, (b.first + b.n) << shift, 1 << shift, b.steps(c)
}

// Step is added to the counter for each ID in Variable order.
const Step = stride

// Assemble encodes an ID of version b.
func Assemble(w uint32, x uint16, y uint32, z int64) (id ID) {
	VersionB.identity(x, y).put(&id, w, z)
	return id
}

// EveryNth returns every n-th of the next n*m IDs, and does not mint the others.
func (g *Generator) EveryNth(n, m int) []ID {
	ids := make([]ID, m)
	st, ms := g.now(1)
	for i := range ids {
		st.put(&ids[i], st.order.position(st.counter.Add(uint32(n)*st.stride), st.key), ms)
	}
	return ids
}

// Late begins to mint as New does, and ends when the returned function is called, like a goroutine that is suspended in
// between.
func (g *Generator) Late() (end func() ID) {
	st, ms := g.now(1)
	return func() (id ID) {
		st.put(&id, st.order.position(st.counter.Add(st.stride), st.key), ms)
		return id
	}
}

// Permute returns the position of a counter in Scatter order.
func Permute(before, after, c uint32) uint32 {
	return scatterKey{before: before, after: after}.permute(c)
}
