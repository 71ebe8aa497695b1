// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// copies are the records of ten places that follow each other: 2.2 on the average.
var copies = [10]int{1, 1, 1, 1, 2, 2, 2, 3, 4, 5}

// block is the number of records of ten places.
const block = 22

// slots say of each record of a block which place it is about, and which of its records it is.
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

// Generator makes records up. It is immutable and safe for many goroutines.
type Generator struct {
	seed   uint64
	n      int64
	stride int64
	steady bool
}

// Record is what a source says of a place.
type Record struct {
	Source     string
	Key        string
	Attributes map[string][]string
	// Place is the truth: records of one place have one number.
	Place int64
}

// New prepares n records of a seed, n from 1 to 2^31. Other numbers of records tell other stories.
func New(seed uint64, n int64) *Generator {
	g := &Generator{seed: seed, n: n, stride: n*618/1000 + 1}
	for gcd(g.stride, n) != 1 {
		g.stride++
	}
	return g
}

// lags are how many blocks after a place's first record its further ones come, in a steady stream: from a thousand
// records later to a million. A record of a place that is older than the stream is its first there.
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

// Steady prepares a stream without an end whose shape does not depend on how long it is: places keep coming, each
// hundred thousand of them in cities of their own, and their further records after a thousand to a million others.
func Steady(seed uint64) *Generator { return &Generator{seed: seed, n: math.MaxInt64, steady: true} }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// place is the number of the place that a slot is about, and which of its records it holds.
func (g *Generator) place(slot int64) (n int64, nth int) {
	i := slot % block
	from := slot / block
	if g.steady {
		from += lastLag - lags[i]
	}
	return from*int64(len(copies)) + int64(slots[i].place), slots[i].copy
}

// PlaceOf answers with the place that a key of the story is about.
func (g *Generator) PlaceOf(key string) (int64, error) {
	slot, err := strconv.ParseInt(strings.TrimLeft(key, "cdnoeL-/0"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("demo: %q is the key of no record: %w", key, err)
	}
	n, _ := g.place(slot - 1)
	return n, nil
}

// Len is the number of records of the story.
func (g *Generator) Len() int64 { return g.n }

// Record is the i-th record. From Len() on they go on about further places.
func (g *Generator) Record(i int64) Record { return g.render(g.slot(i), 0) }

// Update is the i-th record as its source gives it again later: revision 1, 2, ... each differ from
// the record and from each other in what changes at a place, but not in whose record it is.
func (g *Generator) Update(i int64, revision int) Record { return g.render(g.slot(i), revision) }

// All are the records of the story in their order.
func (g *Generator) All() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for i := range g.n {
			if !yield(g.Record(i)) {
				return
			}
		}
	}
}

// slot scatters the records: neighbours about one place come far apart.
func (g *Generator) slot(i int64) int64 {
	if i >= g.n || g.steady {
		return i
	}
	return (i*g.stride + int64(g.seed%uint64(g.n))) % g.n
}
