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

// ErrOptions says that a generator cannot be made as asked; the text says why.
var ErrOptions = errors.New("locality: invalid options")

// Options configure a Generator; nil means all defaults.
type Options struct {
	// Order of the ids that New, Fill and Append mint. Defaults to Variable.
	Order Order
	// Node is the source of the node bits. Defaults to RandomNode().
	Node Node
	// PID is what stands in the bits of the process. Defaults to RealPID.
	PID PIDField
	// Envelope is the version of the ids. Defaults to VersionB.
	Envelope Envelope
	// Lease is how many counters New takes at once for each processor, up to 65536, so
	// that goroutines on several do not wait for each other; see Local for the price.
	// Defaults to 0: one counter that all share.
	Lease int
	// Now replaces the clock and is read for each id under a lock, milliseconds
	// counting: for simulations, and to mint ids of the past in Sequential order. A
	// generator with a clock or randomness of its own stands apart from the others of
	// the process: giving two of them one identity is up to the caller. Defaults to
	// the machine's clock.
	Now func() time.Time
	// Rand is where identities are drawn from. It is read under a lock, when the
	// generator is made and when an identity must change, never per id. Defaults to
	// crypto/rand.
	Rand io.Reader
	// OnEvent hears of identities that changed and of nodes in doubt, from the
	// goroutine that happened to notice, under no lock. Defaults to log/slog at level
	// Warn.
	OnEvent func(Event)
}

// check reports the first thing that is wrong.
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
		return fmt.Errorf("%w: %v needs more than %d bits: take a node below %d", ErrOptions, o.Node, o.Envelope.nodeBits()-1, o.nearNode())
	}
	if o.Rand != rand.Reader {
		if _, err := io.ReadFull(o.Rand, make([]byte, 4)); err != nil {
			return fmt.Errorf("%w: read randomness: %w", ErrOptions, err)
		}
	}
	return nil
}

// nearNode is the bit that marks the ids of a fixed node minted near something.
func (o *Options) nearNode() uint32 { return 1 << (o.Envelope.nodeBits() - 1) }

// Generator mints ids. It is safe for many goroutines, never changes its
// configuration and must not be copied. Use one per table: see the package
// documentation.
//
// New takes no lock: see state.
type Generator struct {
	state atomic.Pointer[state]
	// seeded is the value of reseeds that the state has taken notice of. It is stored
	// after the state and loaded before it.
	seeded atomic.Uint64

	opts   Options
	key    scatterKey
	getpid func() int
	// simulated is set when time or randomness were passed in: such a generator does
	// not count among the identities of the process.
	simulated bool
	// shortcut is set where the short way of New may be taken.
	shortcut bool

	mu     sync.Mutex // guards the following, and writing of state and seeded
	clock  clock
	pid    int
	reigns uint64

	side   side
	locals sync.Pool // of Locals, if Options.Lease asks for them
}

// fillRun is how many ids of Fill share one reading of the clock.
const fillRun = 4096

// reseeds counts the calls of Reseed.
var reseeds atomic.Uint64

// NewGenerator returns a generator, or ErrOptions. The identity is drawn here, so
// that a source of randomness that fails is noticed now.
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
		g.clock = clock{own: o.Now, mono: sinceStart, wall: time.Now, steady: o.Node.kind != randomNode && o.Order == Sequential}
		g.locals.New = func() any { return &Local{g: g, size: o.Lease} }
		g.look(0, "")
		return g
	}
	if o.Node.kind == randomNode || simulated {
		return build(), nil
	}
	return sharedNode(&o, build)
}

// New mints an id.
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

// Fill mints len(ids) ids into ids, at the cost of one reading of the clock and one
// step of the counter for up to 4096 of them. They follow each other: no other
// goroutine mints between the ids of such a run.
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

// Append mints n ids as Fill does, appends them to ids and returns the result. It
// panics if n is negative.
func (g *Generator) Append(ids []ID, n int) []ID {
	ids = slices.Grow(ids, n)[:len(ids)+n]
	g.Fill(ids[len(ids)-n:])
	return ids
}

// Reseed gives the generator a new identity: a random node is drawn again, for a
// fixed one the counter is, and one in Sequential order leaves a part of its window
// out.
func (g *Generator) Reseed() { g.look(0, asked) }

// Reseed gives every generator of the process a new identity, before the next id
// that it mints. Call it where a copy of the process may have begun to run: after
// a snapshot of a virtual machine was taken or restored, in the hook that says so.
// No check of the clock finds a copy that was resumed at once.
func Reseed() { reseeds.Add(1) }

// shared is the generator of the package function New.
var shared = sync.OnceValue(func() *Generator {
	g, err := NewGenerator(nil)
	if err != nil {
		panic(err) // nil options are valid, and crypto/rand does not fail
	}
	return g
})

// New mints an id with a generator of the process that has all defaults. Programs
// with several tables should make a Generator for each.
func New() ID { return shared().New() }
