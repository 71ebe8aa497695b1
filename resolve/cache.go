// SPDX-License-Identifier: Apache-2.0

package resolve

import (
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

// cache holds the records that the lease holder used last: their contents, and the decisions about them. No other
// process decides while it holds the lease, so the cache equals the cells, as long as every batch that resolves records
// updates it and all other writes to these rows invalidate it.
type cache struct {
	nodes recent[*node]
	// edges of records that no decision is about
	edges recent[edges]
	// entities are by anchor and have no view.
	entities recent[*entity.Entity]
}

func newCache(size int) *cache {
	half := max(size/2, 1)
	return &cache{recent[*node]{half: half}, recent[edges]{half: half}, recent[*entity.Entity]{half: half}}
}

func (c *cache) clear() {
	c.nodes.clear()
	c.forgetDecided()
}

// forgetDecided drops the cached decisions about records.
func (c *cache) forgetDecided() {
	c.edges.clear()
	c.entities.clear()
}

// equal returns the cached record with the content of n, nil if there is none. Unlike get it can be called without the
// lease: a normalised record depends on the content alone.
func (c *cache) equal(n *node) *node {
	known := c.nodes.peek(n.PUID)
	if known == nil || known.kind != n.kind || known.Ref != n.Ref || !maps.EqualFunc(known.Attributes, n.Attributes, slices.Equal) {
		return nil
	}
	return known
}

// recent keeps the most recently used values in two halves: when the young half is full it becomes the old
// one, and the previous old half is dropped. A hit costs one or two look-ups and no list.
type recent[V any] struct {
	mu         sync.Mutex
	half       int
	young, old map[entity.PUID]V
}

func (r *recent[V]) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.young, r.old = nil, nil
}

func (r *recent[V]) get(p entity.PUID) (v V, there bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, there = r.young[p]; there {
		return v, true
	}
	if v, there = r.old[p]; there {
		r.keep(p, v)
	}
	return v, there
}

// peek is get without a use.
func (r *recent[V]) peek(p entity.PUID) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, there := r.young[p]; there {
		return v
	}
	return r.old[p]
}

func (r *recent[V]) drop(p entity.PUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, p)
	delete(r.old, p)
}

func (r *recent[V]) put(p entity.PUID, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(p, v)
}

func (r *recent[V]) keep(p entity.PUID, v V) {
	if r.young == nil || len(r.young) >= r.half {
		r.old, r.young = r.young, make(map[entity.PUID]V, len(r.young))
	}
	r.young[p] = v
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
		if n, there := r.cache.nodes.get(p); there && held {
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
			r.cache.nodes.put(p, n)
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
