// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"strings"
	"sync"
	"sync/atomic"
)

// place is a cached metric.
type place struct {
	metric Metric
	cell   string
	id     ID
	// kind is 1 + the Kind in the metric's row, 0 if the row has not been seen.
	kind atomic.Int32
	// seen is the last minute for which the preparation of buckets was drawn.
	seen atomic.Int64
}

func (p *place) known() (Kind, bool) {
	k := p.kind.Load()
	return Kind(k - 1), k > 0 //nolint:gosec // 0 to 2
}

func (p *place) know(k Kind) { p.kind.Store(int32(k) + 1) }

// places is a cache of recently used places in two halves: when the young half is full it becomes the old one,
// and the old one is dropped. All names in it are valid.
type places struct {
	half       int
	mu         sync.RWMutex
	young, old map[Metric]*place
}

func newPlaces(size int) *places {
	return &places{half: max(size/2, 1), young: map[Metric]*place{}, old: map[Metric]*place{}}
}

func (c *places) get(m Metric) *place {
	c.mu.RLock()
	p := c.young[m]
	if p != nil || len(c.old) == 0 {
		c.mu.RUnlock()
		return p
	}
	c.mu.RUnlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if p = c.young[m]; p == nil {
		if p = c.old[m]; p != nil {
			c.insert(p)
		}
	}
	return p
}

// put adds a place, or returns an equal one that is already there.
func (c *places) put(m Metric, at Place) *place {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, half := range []map[Metric]*place{c.young, c.old} {
		if p := half[m]; p != nil && p.cell == at.Cell && p.id == at.ID {
			return p
		}
	}
	p := &place{metric: Metric(strings.Clone(string(m))), cell: at.Cell, id: at.ID}
	c.insert(p)
	return p
}

func (c *places) insert(p *place) {
	if len(c.young) >= c.half {
		c.old, c.young = c.young, make(map[Metric]*place, min(c.half, 1024))
	}
	c.young[p.metric] = p
}

func (c *places) forget(p *place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, half := range []map[Metric]*place{c.young, c.old} {
		if half[p.metric] == p {
			delete(half, p.metric)
		}
	}
}
