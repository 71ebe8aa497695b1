// SPDX-License-Identifier: Apache-2.0

package locality

import "time"

// NewGeneratorAs makes a generator of a process whose number is what getpid says.
func NewGeneratorAs(opts *Options, getpid func() int) (*Generator, error) {
	return newGenerator(opts, getpid)
}

// SetCounter makes c the counter of the last id of both lanes.
func (g *Generator) SetCounter(c uint32) { g.main.c, g.near.c = c, c }

// SetWindow makes a Sequential generator go on from a position, whatever window it
// is in.
func (g *Generator) SetWindow(ms int64, position uint32) {
	g.main.window, g.main.base, g.main.count = floorDiv(ms, windowMillis), position, 0
}

// SetClocks replaces the machine's two clocks.
func (g *Generator) SetClocks(mono func() time.Duration, wall func() time.Time) {
	for _, l := range []*lane{&g.main, &g.near} {
		l.mono, l.wall = mono, wall
	}
}

// Fork returns a copy of g as a forked process or a cloned machine has it: the same
// memory under another process number.
func (g *Generator) Fork(getpid func() int) *Generator {
	f := &Generator{}
	for _, pair := range [][2]*lane{{&f.main, &g.main}, {&f.near, &g.near}} {
		to, from := pair[0], pair[1]
		to.clock, to.order, to.node, to.near = from.clock, from.order, from.node, from.near
		to.simulated, to.rand, to.getpid = from.simulated, from.rand, getpid
		to.pid, to.y, to.c, to.z, to.span = from.pid, from.y, from.c, from.z, from.span
		to.window, to.base, to.count = from.window, from.base, from.count
	}
	return f
}

// Blocks returns the positions that NewIn may use in s, the size of a block, and
// the number of steps from counter c to the first of them.
func Blocks(s Segment, c uint32) (lo, hi, size, steps uint64) {
	b := s.blocks()
	shift := 32 - 4*b.digits
	return b.first << shift, (b.first + b.n) << shift, 1 << shift, b.steps(c)
}

// Step is what is added to the counter for each id.
const Step = step

// Assemble lays an id out.
func Assemble(w uint32, x uint16, y uint32, z int64) ID { return assemble(w, x, y, z) }
