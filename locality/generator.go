// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrOptions means that a generator cannot be created with the options; the text gives the reason.
var ErrOptions = errors.New("locality: invalid options")

// Options configure a Generator; nil means all defaults.
type Options struct {
	// Order of the IDs that New, Fill and Append mint. Defaults to Variable.
	Order Order
	// Node is the source of the node bits. Defaults to RandomNode().
	Node Node
	// PID is the source of the process bits. Defaults to RealPID.
	PID PIDField
	// Envelope is the version of the IDs. Defaults to VersionB.
	Envelope Envelope
	// Lease is how many counters New takes at once for each processor, up to 65536, so that goroutines on different
	// processors do not contend; see Local for the cost. Defaults to 0: one counter shared by all.
	Lease int
	// Now replaces the clock and is read for each ID under a lock, with millisecond resolution: for simulations, and to
	// mint IDs of the past in Sequential order. The identity of a generator with its own clock or randomness is not
	// compared with those of the process's other generators: uniqueness is up to the caller. Defaults to the machine's
	// clock.
	Now func() time.Time
	// Rand is the source of identities. It is read under a lock, when the generator is created and when its identity
	// changes, never per ID. Defaults to crypto/rand.
	Rand io.Reader
	// OnEvent is called for changed identities and for nodes in doubt, from the goroutine that noticed, with no lock
	// held. Defaults to log/slog at level Warn.
	OnEvent func(Event)
}

func (o *Options) check() error {
	switch {
	case o.Order != Variable && o.Order != Sequential && o.Order != Scatter:
		return fmt.Errorf("%w: order %d is not known: take Variable, Sequential or Scatter", ErrOptions, int(o.Order))
	case o.PID != RealPID && o.PID != RandomPID:
		return fmt.Errorf("%w: process field %d is not known: take RealPID or RandomPID", ErrOptions, int(o.PID))
	case o.Envelope != VersionB && o.Envelope != Version8:
		return fmt.Errorf("%w: envelope %d is not known: take VersionB or Version8", ErrOptions, int(o.Envelope))
	case o.Lease < 0 || o.Lease > maxLease:
		return fmt.Errorf("%w: a lease of %d counters: take 0 to %d", ErrOptions, o.Lease, maxLease)
	case o.Node.kind == fixedNode && o.Node.value >= o.nearNode():
		return fmt.Errorf("%w: %v needs more than %d bits: take a node below %d", ErrOptions, o.Node, o.Envelope.nodeBits()-1,
			o.nearNode())
	}
	if o.Rand != rand.Reader {
		if _, err := io.ReadFull(o.Rand, make([]byte, 4)); err != nil {
			return fmt.Errorf("%w: read randomness: %w", ErrOptions, err)
		}
	}
	return nil
}

// nearNode returns the bit that marks the IDs of a fixed node minted near something.
func (o *Options) nearNode() uint32 { return 1 << (o.Envelope.nodeBits() - 1) }

// Generator mints IDs. It is safe for concurrent use, never changes its configuration and must not be copied. Use one
// per table: see the package documentation.
//
// New takes no lock: see state.
type Generator struct {
	state atomic.Pointer[state]
	// seeded is the value of reseeds that the state reflects. It is stored after the state and loaded before it.
	seeded atomic.Uint64

	opts   Options
	key    scatterKey
	getpid func() int
	// simulated is set if Now or Rand was given: such a generator does not count among the identities of the process.
	simulated bool
	// shortcut is set if New may use its fast path.
	shortcut bool

	mu     sync.Mutex // guards the fields below, and writing of state and seeded
	clock  clock
	pid    int
	reigns uint64

	side   side
	locals sync.Pool // of Locals, if Options.Lease asks for them
}

// fillRun is how many IDs of Fill share one clock reading.
const fillRun = 4096

var reseeds atomic.Uint64

// NewGenerator returns a generator, or ErrOptions. It draws the identity, so that a failing source of randomness is
// noticed here.
func NewGenerator(opts *Options) (*Generator, error) {
	return newGenerator(opts, os.Getpid, net.Interfaces)
}

func newGenerator(opts *Options, getpid func() int, interfaces func() ([]net.Interface, error)) (*Generator, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	simulated := o.Now != nil || o.Rand != nil
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.OnEvent == nil {
		o.OnEvent = logEvent
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Node.kind == hardwareNode {
		o.takeHardware(getpid(), interfaces)
	}
	build := func() *Generator {
		g := &Generator{opts: o, getpid: getpid, simulated: simulated, shortcut: o.Now == nil}
		if o.Order == Scatter {
			g.key = scatterKey{before: draw(o.Rand), after: draw(o.Rand)}
		}
		g.clock = clock{own: o.Now, mono: sinceStart, wall: time.Now, steady: o.Node.kind != randomNode &&
			o.Order == Sequential}
		g.locals.New = func() any { return &Local{g: g, size: o.Lease} }
		g.look(0, "")
		return g
	}
	if o.Node.kind == randomNode || simulated {
		return build(), nil
	}
	return sharedNode(&o, build)
}

// New mints an ID.
func (g *Generator) New() (id ID) {
	if g.opts.Lease > 0 {
		l := g.locals.Get().(*Local)
		id = l.New()
		g.locals.Put(l)
		return id
	}
	st, ms := g.now(1)
	st.put(&id, st.order.position(st.counter.Add(st.stride), st.key), ms)
	return id
}

// Fill fills ids with new IDs, at the cost of one clock reading and one counter step for up to 4096 of them. The IDs of
// such a run are consecutive: no other goroutine mints in between.
func (g *Generator) Fill(ids []ID) {
	for run := range slices.Chunk(ids, fillRun) {
		st, ms := g.now(len(run))
		c := st.take(len(run))
		for i := range run {
			c += st.stride
			st.put(&run[i], st.order.position(c, st.key), ms)
		}
	}
}

// Append mints n IDs as Fill does, appends them to ids and returns the result. It panics if n is negative.
func (g *Generator) Append(ids []ID, n int) []ID {
	ids = slices.Grow(ids, n)[:len(ids)+n]
	g.Fill(ids[len(ids)-n:])
	return ids
}

// Reseed gives the generator a new identity: a random node is drawn again. With a fixed node the counter is drawn
// again, and in Sequential order a part of the window is skipped.
func (g *Generator) Reseed() { g.look(0, asked) }

// Reseed gives every generator of the process a new identity before the next ID that it mints. Call it where a copy of
// the process may have started to run: in the hook that runs after a snapshot of a virtual machine was taken or
// restored. No check of the clock detects a copy that was resumed at once.
func Reseed() { reseeds.Add(1) }

// shared is the generator of the package function New.
var shared = sync.OnceValue(func() *Generator {
	g, err := NewGenerator(nil)
	if err != nil {
		panic(err) // nil options are valid, and crypto/rand does not fail
	}
	return g
})

// New mints an ID with a process-wide generator that has all defaults. Programs with several tables should create a
// Generator for each.
func New() ID { return shared().New() }
