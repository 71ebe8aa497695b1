// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"
	"time"
)

// ErrOptions says that a generator cannot be made as asked; the text says why.
var ErrOptions = errors.New("locality: invalid options")

// Order says how the positions of a generator's successive ids relate.
type Order int

const (
	// Variable spreads: any 16^k consecutive ids hit each prefix of k hex digits
	// exactly once. It is the default.
	Variable Order = iota
	// Sequential gathers: the ids of ten minutes (UTC) follow each other, and all
	// generators begin a window at the same position. It loads one cell at a time, by
	// design.
	Sequential
)

// String returns "variable" or "sequential".
func (o Order) String() string {
	switch o {
	case Variable:
		return "variable"
	case Sequential:
		return "sequential"
	default:
		return fmt.Sprintf("Order(%d)", int(o))
	}
}

// Options configure a Generator; nil means all defaults.
type Options struct {
	// Order of the ids that New and Fill mint. Defaults to Variable.
	Order Order
	// Node is the source of the 28 node bits. Defaults to RandomNode().
	Node Node
	// Now replaces the clock and is read for each id, milliseconds counting. A
	// generator with a clock or randomness of its own stands apart from the others of
	// the process: giving two of them one identity is up to the caller. Defaults to
	// the machine's clock.
	Now func() time.Time
	// Rand is where identities are drawn from. It is read under the generator's lock,
	// when the generator is made and when the identity must change, never per id.
	// Defaults to crypto/rand.
	Rand io.Reader
}

// Generator mints ids. It is safe for many goroutines, never changes its
// configuration and must not be copied. Use one per table: see the package
// documentation.
type Generator struct {
	main lane
	near lane // always in Variable order
}

// fillRun is how many ids of Fill share one reading of the clock.
const fillRun = 4096

// NewGenerator returns a generator, or ErrOptions. The identity is drawn here, so
// that a source of randomness that fails is noticed now.
func NewGenerator(opts *Options) (*Generator, error) { return newGenerator(opts, os.Getpid) }

func newGenerator(opts *Options, getpid func() int) (*Generator, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Order != Variable && o.Order != Sequential {
		return nil, fmt.Errorf("%w: order %d is not known: take Variable or Sequential", ErrOptions, int(o.Order))
	}
	if o.Node.fixed && o.Node.value >= nearNode {
		return nil, fmt.Errorf("%w: node %d needs more than 27 bits: take one below %d", ErrOptions, o.Node.value, nearNode)
	}
	simulated := o.Now != nil || o.Rand != nil
	if !o.Node.fixed || simulated {
		return build(o, simulated, getpid)
	}

	inUse.Lock()
	defer inUse.Unlock()
	if g := inUse.fixed[o.Node.value]; g != nil {
		if g.main.order != o.Order {
			return nil, fmt.Errorf("%w: node %d already mints in %v order in this process: take another node", ErrOptions, o.Node.value, g.main.order)
		}
		return g, nil
	}
	g, err := build(o, simulated, getpid)
	if err == nil {
		inUse.fixed[o.Node.value] = g
	}
	return g, err
}

func build(o Options, simulated bool, getpid func() int) (*Generator, error) {
	if o.Rand == nil {
		o.Rand = rand.Reader
	} else if _, err := io.ReadFull(o.Rand, make([]byte, 4)); err != nil {
		return nil, fmt.Errorf("%w: read randomness: %w", ErrOptions, err)
	}
	g := &Generator{}
	g.main.order = o.Order
	for _, l := range []*lane{&g.main, &g.near} {
		l.clock = newClock(o.Now)
		l.node, l.near, l.simulated = o.Node, l == &g.near, simulated
		l.rand, l.getpid = o.Rand, getpid
		l.z, l.window = math.MinInt64, math.MinInt64
		l.identify()
	}
	return g, nil
}

// New mints an id.
func (g *Generator) New() ID {
	l := &g.main
	l.mu.Lock()
	defer l.mu.Unlock()
	return g.next(l.now())
}

// Fill mints len(ids) ids into ids, reading the clock once for up to 4096 of
// them. They follow each other: no other goroutine mints between the ids of such
// a run.
func (g *Generator) Fill(ids []ID) {
	for run := range slices.Chunk(ids, fillRun) {
		g.fill(run)
	}
}

func (g *Generator) fill(ids []ID) {
	l := &g.main
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range ids {
		ids[i] = g.next(now)
	}
}

// next mints in the order of the generator, whose main lane is locked.
func (g *Generator) next(now int64) ID {
	if g.main.order == Sequential {
		return g.main.sequential(now)
	}
	return g.main.variable(now)
}

// shared is the generator of the package function New.
var shared = sync.OnceValue(func() *Generator {
	g, err := NewGenerator(nil)
	if err != nil {
		panic(err)
	}
	return g
})

// New mints an id with a generator of the process that has all defaults. Programs
// with several tables should make a Generator for each.
func New() ID { return shared().New() }
