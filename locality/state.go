// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"math"
	"sync/atomic"
	"time"
)

// state is one identity with one counter: all that New reads. It is replaced as a whole at a new identity and at a new
// window of Sequential order, by the goroutine that notices. The counter is part of it, so a goroutine that still uses
// an old state mints IDs that the new one cannot.
//
//	New ──► state ──► monotonic time - anchor < 10 ms, before until? ──► counter, id
//	          ▲                       │ no
//	          └────── look: wall clock, process number, Reseed, window
//
// Every 10 ms, and for every ID where time does not simply follow the monotonic clock, a mint goes through look, which
// does under a lock the checks that the fast path omits.
//
// IDs of one state differ in counter or time, because 2^32 of them are not minted in a millisecond. A repeat would
// require a goroutine to stop between its clock reading and its counter step while others mint exactly 2^32.
type state struct {
	identity
	order  Order
	stride uint32
	key    scatterKey
	// until is the first millisecond that is not for this state.
	until int64
	// reign numbers the identities of the generator.
	reign uint64
	// anchor is the monotonic time of the last reading of the wall clock, or never; ahead is what must be added to it.
	// Both are nanoseconds.
	anchor, ahead atomic.Int64

	// The counter has a cache line of its own: it is written for each ID, the rest rarely.
	_       [64]byte
	counter atomic.Uint32
	_       [60]byte
}

// never is an anchor that is far from every monotonic time.
const never = math.MinInt64

// now returns the state to mint n IDs from, and their time in milliseconds.
func (g *Generator) now(n int) (*state, int64) {
	if g.seeded.Load() == reseeds.Load() {
		st := g.state.Load()
		mono := int64(sinceStart())
		// One comparison also catches a monotonic clock before its anchor.
		if uint64(mono-st.anchor.Load()) < uint64(anchorEvery) {
			if ms := (mono + st.ahead.Load()) / int64(time.Millisecond); ms < st.until {
				return st, ms
			}
		}
	}
	return g.look(n, "")
}

// take steps the counter n times and returns its previous value.
func (st *state) take(n int) (before uint32) {
	steps := uint32(n) * st.stride
	return st.counter.Add(steps) - steps
}

// asked is the reason of an identity change by Reseed.
const asked = "it was asked for"

// look is the slow path of now: it reads the clock and updates the state, with a new identity if why is set or if it
// finds a reason itself.
func (g *Generator) look(n int, why string) (*state, int64) {
	g.mu.Lock()
	ms, jump := g.clock.read(n)
	pid, seeds := g.getpid(), reseeds.Load()
	switch {
	case pid != g.pid:
		why = "the process number changed"
	case jump < 0:
		why = "the wall clock went back"
	case jump > 0:
		why = "the wall clock ran ahead of the monotonic clock, as in a machine that slept"
	case seeds != g.seeded.Load():
		why = asked
	}
	was := g.state.Load()
	st := was
	switch {
	case was == nil || why != "":
		st = g.begin(pid, ms, was)
	case ms >= was.until:
		st = g.enter(ms, was.identity, was.reign)
	}
	g.pid = pid
	// A reader that sees the new anchor must see the new ahead, so ahead is stored first.
	if ahead, ok := g.clock.ahead(); ok && g.shortcut {
		st.ahead.Store(int64(ahead))
		st.anchor.Store(int64(g.clock.anchored))
	} else {
		st.anchor.Store(never)
	}
	if st != was {
		g.state.Store(st)
	}
	g.seeded.Store(seeds)
	g.mu.Unlock()
	if was != nil && why != "" {
		g.opts.OnEvent(Event{Kind: IdentityChanged, Why: why, Jump: jump, Node: g.opts.Node})
	}
	return st, ms
}

// begin draws an identity. In Sequential order with a fixed node there is nothing to draw, and counting from the base
// again would repeat the window. So the count continues after a gap, which no late goroutine can have reached, and
// whose random length distinguishes copies of the process.
func (g *Generator) begin(pid int, ms int64, was *state) *state {
	node := g.opts.Node
	g.reigns++
	st := g.enter(ms, g.identify(pid, node.value, node.kind == randomNode), g.reigns)
	if was != nil && g.clock.steady && ms < was.until {
		const gap = 1 << 20
		st.counter.Store(was.counter.Load() + gap + draw(g.opts.Rand)%gap)
	}
	return st
}

// enter returns a state that begins at ms: at the base of its window, or at a counter drawn at random.
func (g *Generator) enter(ms int64, who identity, reign uint64) *state {
	st := &state{identity: who, order: g.opts.Order, stride: g.opts.Order.stride(), key: g.key, reign: reign,
		until: math.MaxInt64}
	if st.order == Sequential {
		st.until = windowEnd(ms)
		st.counter.Store(windowBase(ms))
	} else {
		st.counter.Store(draw(g.opts.Rand))
	}
	return st
}
