// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// copies is the number of records of ten consecutive places: 2.2 on average.
var copies = [10]int{1, 1, 1, 1, 2, 2, 2, 3, 4, 5}

// block is the number of records of ten places.
const block = 22

// slots holds the place of each record of a block, and which of its records it is.
var slots = func() (s [block]struct{ place, copy int }) {
	i := 0
	for place, n := range copies {
		for c := range n {
			s[i].place, s[i].copy = place, c
			i++
		}
	}
	return s
}()

// Generator generates records. It is immutable and safe for concurrent use.
type Generator struct {
	seed   uint64
	n      int64
	stride int64
	steady bool
}

// Record is the content of a source about a place.
type Record struct {
	Source     string
	Key        string
	Attributes map[string][]string
	// Place is the truth: records of the same place have the same number.
	Place int64
}

// New returns a generator of n records from a seed, n from 1 to 2^31. Another n gives other data.
func New(seed uint64, n int64) *Generator {
	g := &Generator{seed: seed, n: n, stride: n*618/1000 + 1}
	for gcd(g.stride, n) != 1 {
		g.stride++
	}
	return g
}

// lags are how many blocks after the first record of a place its further records come in a steady stream: from a
// thousand to a million records later. If a place's earlier records would precede the stream, it starts with a later
// one.
var lags = func() (l [block]int64) {
	further := 0.0
	for i, s := range slots {
		if s.copy > 0 {
			l[i] = int64(lastLag * math.Pow(1.0/1000, further/11))
			further++
		}
	}
	return l
}()

const lastLag = 45_000

// Steady returns an endless stream whose shape does not depend on its length: new places keep coming, each hundred
// thousand of them in their own cities, and their further records follow a thousand to a million records later.
func Steady(seed uint64) *Generator { return &Generator{seed: seed, n: math.MaxInt64, steady: true} }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// place returns the number of the place of a slot, and which of its records the slot holds.
func (g *Generator) place(slot int64) (n int64, nth int) {
	i := slot % block
	from := slot / block
	if g.steady {
		from += lastLag - lags[i]
	}
	return from*int64(len(copies)) + int64(slots[i].place), slots[i].copy
}

// PlaceOf returns the place of a record key.
func (g *Generator) PlaceOf(key string) (int64, error) {
	slot, err := strconv.ParseInt(strings.TrimLeft(key, "cdnoeL-/0"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("demo: %q is the key of no record: %w", key, err)
	}
	n, _ := g.place(slot - 1)
	return n, nil
}

// Len returns the number of records.
func (g *Generator) Len() int64 { return g.n }

// Record returns the i-th record. From Len() on, records are about further places.
func (g *Generator) Record(i int64) Record { return g.render(g.slot(i), 0) }

// Update returns a later version of the i-th record. Revisions 1, 2, ... differ from the record and from each other in
// details that change at a place, but not in its identity.
func (g *Generator) Update(i int64, revision int) Record { return g.render(g.slot(i), revision) }

// All returns the records in order.
func (g *Generator) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for i := range g.n {
			if !yield(g.Record(i)) {
				return
			}
		}
	}
}

// slot scatters the records, so that records of one place are far apart.
func (g *Generator) slot(i int64) int64 {
	if i >= g.n || g.steady {
		return i
	}
	return (i*g.stride + int64(g.seed%uint64(g.n))) % g.n
}
