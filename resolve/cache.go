// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/storage"
)

// node is a decoded record. It is immutable: a changed record gets a new node.
type node struct {
	*entity.Record
	kind *Kind                  // nil for a tombstone
	norm *match.Record          // nil for a tombstone
	said atomic.Pointer[saying] // the record's contribution to its entity, computed on first use
}

// carries reports whether the record has the blocking key. A posting may name a record that has lost it.
func (n *node) carries(key uint64) bool {
	if n == nil || n.norm == nil {
		return false
	}
	keys := n.norm.BlockingKeys()
	lo, hi := 0, len(keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if keys[mid].Hash < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(keys) && keys[lo].Hash == key
}

func (r *Resolver) node(rec *entity.Record) *node {
	n := &node{Record: rec}
	if !rec.Deleted() {
		n.kind = r.Rules().Kind(rec.Kind)
		if known := r.cache.equal(n); known != nil {
			n.norm = known.norm
			n.said.Store(known.said.Load())
		} else {
			n.norm = n.kind.normalise(rec)
		}
	}
	return n
}

// cache keeps the most recently used records in two halves: when the young half is full it becomes the old
// one, and the previous old half is dropped. A hit costs one or two look-ups and no list.
type cache struct {
	mu         sync.Mutex
	half       int
	young, old map[entity.PUID]*node
}

func newCache(size int) *cache {
	return &cache{half: max(size/2, 1), young: map[entity.PUID]*node{}, old: map[entity.PUID]*node{}}
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old = map[entity.PUID]*node{}, map[entity.PUID]*node{}
}

// equal returns the cached record with the content of n, nil if there is none. Unlike get it can be called without the
// lease: a normalised record depends on the content alone.
func (c *cache) equal(n *node) *node {
	c.mu.Lock()
	known := cmp.Or(c.young[n.PUID], c.old[n.PUID])
	c.mu.Unlock()
	if known == nil || known.kind != n.kind || known.Ref != n.Ref || !maps.EqualFunc(known.Attributes, n.Attributes, slices.Equal) {
		return nil
	}
	return known
}

func (c *cache) get(p entity.PUID) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.young[p]; n != nil {
		return n
	}
	n := c.old[p]
	if n != nil {
		c.keep(n)
	}
	return n
}

func (c *cache) drop(p entity.PUID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.young, p)
	delete(c.old, p)
}

func (c *cache) put(n *node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(n)
}

func (c *cache) keep(n *node) {
	if len(c.young) >= c.half {
		c.old, c.young = c.young, make(map[entity.PUID]*node, c.half)
	}
	c.young[n.PUID] = n
}

// load adds records to nodes, from the cache or from their home cells. A puid without a record gets no
// entry. The cache is used only under the lease: without it another process may have resolved the records.
func (r *Resolver) load(ctx context.Context, nodes map[entity.PUID]*node, puids []entity.PUID) error {
	var missing []entity.PUID
	held := r.holdsLease()
	for _, p := range puids {
		if nodes[p] != nil {
			continue
		}
		if n := r.cache.get(p); n != nil && held {
			nodes[p] = n
		} else {
			missing = append(missing, p)
		}
	}
	if err := r.readNodes(ctx, r.read, nodes, missing); err != nil {
		return err
	}
	for _, p := range missing {
		if n := nodes[p]; n != nil && held {
			r.cache.put(n)
		}
	}
	return nil
}

// readNodes reads records from their home cells and adds them to nodes.
func (r *Resolver) readNodes(ctx context.Context, ask asking, nodes map[entity.PUID]*node, puids []entity.PUID) error {
	return fromHomes(ctx, r, ask, puids, func(tx storage.Tx, group []entity.PUID) ([]*node, error) {
		records, err := tx.Records(ctx, group)
		read := make([]*node, 0, len(records))
		for _, rec := range records {
			if rec != nil && r.Rules().Kind(rec.Kind) == nil {
				return nil, fmt.Errorf("%w: there is a kind %s", errOldRules, rec.Kind)
			}
			if rec != nil {
				read = append(read, r.node(rec))
			}
		}
		return read, err
	}, func(_ []entity.PUID, read []*node) {
		for _, n := range read {
			nodes[n.PUID] = n
		}
	})
}
