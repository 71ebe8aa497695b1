// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// pet is a document.
type pet struct {
	n        int // its number
	key      string
	location string
	tags     []string
}

var locations = []string{"house", "backyard", "frontyard"}

// world is the state of the documents as the clients of one method know it. It is the same for all methods at the
// beginning.
type world struct {
	o    Options
	tags []string
	// sums are the cumulative shares of the tags in all draws; nil if all are equal.
	sums []float64
	pets []pet
}

func newWorld(o Options) *world {
	w := &world{o: o, tags: make([]string, o.Tags), pets: make([]pet, o.Documents)}
	for i := range w.tags {
		w.tags[i] = fmt.Sprintf("tag-%06d", i)
	}
	if o.Zipf > 0 {
		w.sums = make([]float64, o.Tags)
		sum := 0.0
		for i := range w.sums {
			sum += math.Pow(float64(i+1), -o.Zipf)
			w.sums[i] = sum
		}
	}
	r := rand.New(rand.NewPCG(1, uint64(o.Invocation)))
	for i := range w.pets {
		p := pet{n: i, key: fmt.Sprintf("animal-%07d", i), location: locations[r.IntN(len(locations))]}
		for len(p.tags) < min(o.PerTag, o.Tags) {
			w.retag(r, &p)
		}
		w.pets[i] = p
	}
	return w
}

// draw returns a random tag.
func (w *world) draw(r *rand.Rand) string {
	if w.sums == nil {
		return w.tags[r.IntN(len(w.tags))]
	}
	at := r.Float64() * w.sums[len(w.sums)-1]
	return w.tags[min(sort.SearchFloat64s(w.sums, at), len(w.tags)-1)]
}

// retag adds a tag that the document does not have, in order.
func (w *world) retag(r *rand.Rand, p *pet) {
	for {
		tag := w.draw(r)
		if i, there := slices.BinarySearch(p.tags, tag); !there {
			p.tags = slices.Insert(p.tags, i, tag)
			return
		}
	}
}

// retagged: one of this many updates changes a tag.
const retagged = 10

// client writes documents that no other client writes.
type client struct {
	*world
	r          *rand.Rand
	first, all int
}

// clients partitions the documents among n clients.
func (w *world) clients(n int) []*client {
	all := make([]*client, n)
	for i := range all {
		all[i] = &client{world: w, r: rand.New(rand.NewPCG(2, uint64(i))), first: i, all: n}
	}
	return all
}

// next moves documents to another place, each once, and changes a tag of some.
func (c *client) next(batch int) []*pet {
	own := (len(c.pets) - c.first + c.all - 1) / c.all
	moved := make([]*pet, 0, batch)
	for from := c.r.IntN(own); len(moved) < min(batch, own); from++ {
		p := &c.pets[c.first+from%own*c.all]
		at := slices.Index(locations, p.location)
		p.location = locations[(at+1+c.r.IntN(len(locations)-1))%len(locations)]
		if c.r.IntN(retagged) == 0 && c.o.Tags > c.o.PerTag {
			i := c.r.IntN(len(p.tags))
			p.tags = slices.Delete(slices.Clone(p.tags), i, i+1)
			c.retag(c.r, p)
		}
		moved = append(moved, p)
	}
	return moved
}
