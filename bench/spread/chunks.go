// SPDX-License-Identifier: Apache-2.0

package main

import (
	"iter"
	"slices"
	"sort"
)

// chunk is a range of keys, from low up to the low of the next chunk, and the shard that owns it. The first begins
// before every key, whatever its low is.
type chunk struct {
	low   key
	shard int
	keys  []key
}

// cluster is a sharded collection: its chunks, which partition the keys, in order. See the package comment for the
// model.
type cluster struct {
	// size of a chunk, in documents.
	size int
	// autosplit splits a chunk at its median once it exceeds size, as before MongoDB 6.0.3.
	autosplit bool
	chunks    []*chunk
	documents []int // per shard
	moves     int
}

// newCluster returns an empty collection. Its one chunk is on the first shard.
func newCluster(shards, size int, autosplit bool) *cluster {
	return &cluster{size: size, autosplit: autosplit, chunks: []*chunk{{}}, documents: make([]int, shards)}
}

// find returns the index of the chunk that contains a key.
func (c *cluster) find(k key) int {
	return max(0, sort.Search(len(c.chunks), func(i int) bool { return c.chunks[i].low.compare(k) > 0 })-1)
}

// owner returns the shard that owns a key.
func (c *cluster) owner(k key) int { return c.chunks[c.find(k)].shard }

// insert writes a document and returns the shard that took it.
func (c *cluster) insert(k key) (shard int) {
	i := c.find(k)
	at := c.chunks[i]
	at.keys = append(at.keys, k)
	c.documents[at.shard]++
	if c.autosplit && len(at.keys) > c.size {
		c.split(i, len(at.keys)/2)
	}
	return at.shard
}

// take writes documents as they arrive, yields each with the shard that took it, and runs the balancer after each
// minute.
func (c *cluster) take(documents iter.Seq[document]) iter.Seq2[document, int] {
	return func(yield func(document, int) bool) {
		minute := 0
		for d := range documents {
			for ; minute < d.minute; minute++ {
				c.balance()
			}
			if !yield(d, c.insert(d.key)) {
				return
			}
		}
	}
}

// split keeps the n lowest documents in a chunk, and moves the others to a new chunk on the same shard.
func (c *cluster) split(i, n int) {
	left := c.chunks[i]
	slices.SortFunc(left.keys, key.compare)
	right := &chunk{low: left.keys[n], shard: left.shard, keys: slices.Clone(left.keys[n:])}
	left.keys = slices.Clip(left.keys[:n])
	c.chunks = slices.Insert(c.chunks, i+1, right)
}

// balance is a round of the balancer. While the fullest shard has at least three chunk sizes more than the
// emptiest, it moves its first range there, of one chunk size at most. Each shard takes part in one migration per
// round.
func (c *cluster) balance() {
	total := 0
	for _, n := range c.documents {
		total += n
	}
	free := make([]int, len(c.documents))
	for i := range free {
		free[i] = i
	}
	for len(free) > 1 {
		slices.SortStableFunc(free, func(a, b int) int { return c.documents[a] - c.documents[b] })
		to, from := free[0], free[len(free)-1]
		if c.documents[from]*len(c.documents) <= total || c.documents[to]*len(c.documents) >= total ||
			c.documents[from]-c.documents[to] < 3*c.size {
			return
		}
		c.move(from, to)
		free = free[1 : len(free)-1]
	}
}

func (c *cluster) move(from, to int) {
	i := slices.IndexFunc(c.chunks, func(at *chunk) bool { return at.shard == from })
	if len(c.chunks[i].keys) > c.size {
		c.split(i, c.size)
	}
	moved := c.chunks[i]
	moved.shard = to
	c.documents[from] -= len(moved.keys)
	c.documents[to] += len(moved.keys)
	c.moves++
}

// placed is a range that one shard owns; the next one begins where it ends.
type placed struct {
	low   key
	shard int
}

// placement returns the ranges of all shards in order, with adjacent ranges of a shard merged.
func (c *cluster) placement() (all []placed) {
	for _, at := range c.chunks {
		if len(all) == 0 || all[len(all)-1].shard != at.shard {
			all = append(all, placed{at.low, at.shard})
		}
	}
	return all
}
