// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"context"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
)

// Cache holds the indexes of the runs of a cell, for all transactions of a process. The zero value is empty.
type Cache struct {
	mu   sync.Mutex
	runs map[named]*index
	last *state // as it was read or written last, which may have been rolled back
}

// saw notes a state, which must not change any more.
func (c *Cache) saw(s *state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = s
}

// seen returns the state noted last, or nil.
func (c *Cache) seen() *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// named identifies a run. If a transaction is rolled back its run's number is used again, and the hash distinguishes
// the two runs.
type named struct{ id, hash uint64 }

func (c *Cache) put(r run, x *index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[named]*index{}
	}
	c.runs[named{r.id, r.hash}] = x
}

// only returns the chunk of a run that has one chunk, nil if it is not cached.
func (c *Cache) only(r run) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.runs[named{r.id, r.hash}]; x != nil {
		return x.only
	}
	return nil
}

// some returns the cached indexes, nil for runs without one. It drops the indexes of other runs if there are too many.
func (c *Cache) some(runs []run) []*index {
	found := make([]*index, len(runs))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range runs {
		found[i] = c.runs[named{r.id, r.hash}]
	}
	if len(c.runs) > len(runs)+fanout {
		clear(c.runs)
		for i, r := range runs {
			if found[i] != nil {
				c.runs[named{r.id, r.hash}] = found[i]
			}
		}
	}
	return found
}

// indexes returns the index of each run.
func (r *Runs) indexes(ctx context.Context, runs []run) ([]*index, error) {
	found := r.cache.some(runs)
	var ids []int64
	for i, of := range runs {
		if found[i] == nil {
			ids = append(ids, of.indexIDs()...)
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	rows := make(map[int64][]byte, len(ids))
	for some := range slices.Chunk(ids, rowsAtOnce) {
		read, err := r.chunks(ctx, some)
		if err != nil {
			return nil, err
		}
		for id, body := range read {
			rows[id] = body
		}
	}
	for i, of := range runs {
		if found[i] != nil {
			continue
		}
		x, hash := &index{}, uint64(0)
		if of.parts == 0 {
			x.only = rows[chunkID(of.id, 0)]
			hash = chain(0, x.only)
		}
		for n := range of.parts {
			body := rows[partID(of.id, n)]
			if err := x.add(body); err != nil {
				return nil, cell.Damaged(ChunkTable, partID(of.id, n), err)
			}
			hash = chain(hash, body)
		}
		if hash != of.hash || of.parts > 0 && len(x.firsts) != int(of.chunks) {
			return nil, cell.Damaged(ChunkTable, of.ids()[of.chunks-1], errOther)
		}
		found[i] = x
		r.cache.put(of, x)
	}
	return found, nil
}
