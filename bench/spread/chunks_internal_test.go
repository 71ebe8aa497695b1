// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// check fails unless the chunks partition the keys and each document is in exactly one, the right one.
func (c *cluster) check(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, written int,
) {
	t.Helper()
	documents, total := make([]int, len(c.documents)), 0
	for i, at := range c.chunks {
		if i > 0 && at.low.compare(c.chunks[i-1].low) <= 0 {
			t.Fatalf("chunk %d begins at %v, the one before it at %v", i, at.low, c.chunks[i-1].low)
		}
		for _, k := range at.keys {
			if i > 0 && k.compare(at.low) < 0 || i+1 < len(c.chunks) && k.compare(c.chunks[i+1].low) >= 0 {
				t.Fatalf("chunk %d has %v, which is not its own", i, k)
			}
			if c.find(k) != i || c.owner(k) != at.shard {
				t.Fatalf("%v of chunk %d on shard %d is looked for in chunk %d on shard %d", k, i, at.shard, c.find(k), c.owner(k))
			}
		}
		if c.autosplit && len(at.keys) > c.size {
			t.Fatalf("chunk %d has %d documents, more than %d", i, len(at.keys), c.size)
		}
		documents[at.shard] += len(at.keys)
		total += len(at.keys)
	}
	if total != written {
		t.Fatalf("the chunks have %d documents of %d", total, written)
	}
	for i, n := range documents {
		if c.documents[i] != n {
			t.Fatalf("shard %d has %d documents, and counts %d", i, n, c.documents[i])
		}
	}
}

func TestCluster_ChunksPartTheKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(rapid.IntRange(2, 9).Draw(t, "shards"), rapid.IntRange(2, 20).Draw(t, "size"),
			rapid.Bool().Draw(t, "autosplit"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		growing := rapid.Bool().Draw(t, "growing")
		for i := range rapid.IntRange(1, 600).Draw(t, "documents") {
			k := key{r.Uint64(), 0}
			if growing {
				k = key{uint64(i), r.Uint64()}
			}
			if home := c.owner(k); c.insert(k) != home && !c.autosplit {
				t.Fatalf("%v was written elsewhere than to shard %d", k, home)
			}
			if r.IntN(5) == 0 {
				c.balance()
			}
			if r.IntN(10) == 0 {
				c.check(t, i+1)
			}
		}
		// When the balancer is idle, no two shards differ by three chunk sizes.
		for moves, rounds := -1, 0; moves != c.moves; rounds++ {
			if rounds > total(c) {
				t.Fatalf("the balancer does not rest: %v documents", c.documents)
			}
			moves = c.moves
			c.balance()
		}
		c.check(t, total(c))
		for _, p := range c.placement() {
			if c.owner(p.low) != p.shard {
				t.Fatalf("the range from %v is placed on shard %d, its owner is %d", p.low, p.shard, c.owner(p.low))
			}
		}
		least, most := c.documents[0], c.documents[0]
		for _, n := range c.documents {
			least, most = min(least, n), max(most, n)
		}
		if most-least >= 3*c.size {
			t.Fatalf("the balancer rests, but the shards have %v documents, chunks %d", c.documents, c.size)
		}
	})
}

func total(c *cluster) (n int) {
	for _, of := range c.documents {
		n += of
	}
	return n
}

// grow writes n increasing keys.
func (c *cluster) grow(n int) {
	for range n {
		c.insert(key{uint64(total(c)), 0})
	}
}

func TestCluster_SplitsAtTheMedian(t *testing.T) {
	t.Parallel()
	c := newCluster(2, 10, true)
	c.grow(10)
	if len(c.chunks) != 1 {
		t.Fatalf("a full chunk was split: %d chunks", len(c.chunks))
	}
	c.grow(1)
	if len(c.chunks) != 2 || c.chunks[1].low != (key{5, 0}) || len(c.chunks[0].keys) != 5 || len(c.chunks[1].keys) != 6 {
		t.Fatalf("11 keys from 0 to 10 were split into %d chunks, the last from %v", len(c.chunks),
			c.chunks[len(c.chunks)-1].low)
	}
}

// Since MongoDB 6.0.3 a chunk is split only when data is moved, at one chunk size from the lower bound.
func TestCluster_MovesTheFirstRange(t *testing.T) {
	t.Parallel()
	c := newCluster(4, 10, false)
	c.grow(29)
	c.balance()
	if len(c.chunks) != 1 || c.moves != 0 {
		t.Fatalf("%d documents on one shard were balanced: less than three chunk sizes", 29)
	}
	c.grow(1)
	c.balance()
	if got := c.placement(); len(got) != 2 || got[0].shard != 1 || got[1] != (placed{key{10, 0}, 0}) || c.documents[0] != 20 || c.documents[1] != 10 {
		t.Fatalf("the first ten of 30 documents should be on shard 1: %v, %v", got, c.documents)
	}
	c.grow(20)
	c.balance()
	if c.moves != 2 || c.documents[2] != 10 {
		t.Fatalf("one migration a round, to the emptiest: %d moves, %v", c.moves, c.documents)
	}
}

// A shard takes part in one migration per round.
func TestCluster_MovesInPairs(t *testing.T) {
	t.Parallel()
	c := newCluster(4, 1, true)
	c.grow(40)
	for i, at := range c.chunks {
		c.documents[at.shard] -= len(at.keys)
		at.shard = i % 2
		c.documents[at.shard] += len(at.keys)
	}
	c.balance()
	if c.moves != 2 || c.documents[2] != 1 || c.documents[3] != 1 {
		t.Fatalf("two full shards and two empty ones make %d moves: %v", c.moves, c.documents)
	}
}
