// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"sync"
)

// options of the model.
type options struct {
	shards    int
	size      int // of a chunk, in documents
	autosplit bool
}

// spread holds which shards took the writes of one kind of key.
type spread struct {
	kind kind
	// writes by minute of the day and shard.
	writes [][]int
	// whole is the share of the families that were on one shard in the end; -1 if it was not determined.
	whole float64
	// moves is the number of moves by the balancer.
	moves int
}

func newSpread(k kind, shards int) *spread {
	s := &spread{kind: k, writes: make([][]int, minutes), whole: -1}
	for i := range s.writes {
		s.writes[i] = make([]int, shards)
	}
	return s
}

// compute runs the model over two days and counts the writes of the second.
func compute(k kind, o options) *spread {
	c := newCluster(o.shards, o.size, o.autosplit)
	s := newSpread(k, o.shards)
	var members [][]key // of the families founded on the second day, except in its last two hours
	first := minutes * 60 * rate / family
	last := 2*first - recent
	for d, shard := range c.take(stream(k, 2)) {
		if d.minute >= minutes {
			s.writes[d.minute-minutes][shard]++
		}
		if d.family >= first && d.family < last {
			for len(members) <= d.family-first {
				members = append(members, nil)
			}
			members[d.family-first] = append(members[d.family-first], d.key)
		}
	}
	whole := 0
	for _, keys := range members {
		home := c.owner(keys[0])
		if !slices.ContainsFunc(keys, func(k key) bool { return c.owner(k) != home }) {
			whole++
		}
	}
	s.whole, s.moves = float64(whole)/float64(len(members)), c.moves
	return s
}

// computeAll runs the model for every kind.
func computeAll(o options) []*spread {
	all := make([]*spread, len(kinds))
	var group sync.WaitGroup
	for i, k := range kinds {
		group.Go(func() { all[i] = compute(k, o) })
	}
	group.Wait()
	return all
}

// slot holds the shares of the shards in a period.
type slot struct {
	begin, length int // minutes of the day
	shares        []float64
}

// slots returns the slots of a length between two minutes, without those that have no writes.
func (s *spread) slots(from, to, length int) (all []slot) {
	for begin := from; begin < to; begin += length {
		sums := make([]int, len(s.writes[0]))
		total := 0
		for _, writes := range s.writes[begin : begin+length] {
			for shard, n := range writes {
				sums[shard] += n
				total += n
			}
		}
		if total == 0 {
			continue
		}
		at := slot{begin: begin, length: length, shares: make([]float64, len(sums))}
		for shard, n := range sums {
			at.shares[shard] = float64(n) / float64(total)
		}
		all = append(all, at)
	}
	return all
}

// hottest returns the share of the busiest shard in a slot, averaged over the day's slots of a length.
func (s *spread) hottest(length int) float64 {
	all, sum := s.slots(0, minutes, length), 0.0
	for _, at := range all {
		sum += slices.Max(at.shares)
	}
	return sum / float64(len(all))
}

// busy returns the number of shards that took five percent or more of a slot, averaged over the day's slots of a
// length.
func (s *spread) busy(length int) float64 {
	all, sum := s.slots(0, minutes, length), 0
	for _, at := range all {
		for _, share := range at.shares {
			if share >= 0.05 {
				sum++
			}
		}
	}
	return float64(sum) / float64(len(all))
}
