// SPDX-License-Identifier: Apache-2.0

package demo

import "iter"

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

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
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
	if i >= g.n {
		return i
	}
	return (i*g.stride + int64(g.seed%uint64(g.n))) % g.n
}
