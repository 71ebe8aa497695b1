// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"fmt"
	"iter"
)

// Batches returns the parts of batches in the group, in the order of counting.
func (g *CommitGroup) Batches() []*GroupBatch { return g.parts }

// Name returns the key or the producer of the batch, the zero BatchName if the batch counts each time it is sent.
func (p *GroupBatch) Name() BatchName {
	if p.request.once == nil {
		return BatchName{}
	}
	return p.request.once.name()
}

// Add adds the hits that the batch has counted to a record of it. A record of a later batch of the producer, or of
// another batch with this key, is not changed.
func (p *GroupBatch) Add(to *DedupState) {
	o := p.request.once
	c, _, err := to.match(o)
	if err != nil {
		return
	}
	newest, more := to.Newest, false
	for i := range p.items {
		if it := &p.items[i]; it.result == nil && !c.has(it.index) {
			c.set(it.index)
			newest, more = max(newest, it.at.UnixMilli()), true
		}
	}
	if more {
		to.keep(o, c, newest)
	}
}

// GroupHit is a hit of a group.
type GroupHit struct {
	group *CommitGroup
	part  *GroupBatch
	item  *item
}

// Pending returns the hits that are not settled, batch by batch. They may be settled while they are listed.
func (g *CommitGroup) Pending() iter.Seq[GroupHit] {
	return func(yield func(GroupHit) bool) {
		for _, p := range g.parts {
			for i := range p.items {
				if it := &p.items[i]; !it.settled && !yield(GroupHit{g, p, it}) {
					return
				}
			}
		}
	}
}

// Batch returns the batch of the hit.
func (h GroupHit) Batch() *GroupBatch { return h.part }

// ID returns the metric of the hit.
func (h GroupHit) ID() ID { return h.item.place.id }

// Day returns the metric and the day of the hit.
func (h GroupHit) Day() BucketKey { return h.group.day(h.item) }

// Err returns the result of the hit in the last Apply.
func (h GroupHit) Err() error { return h.item.result }

// Settle makes err the final result of the hit: no further Apply counts it.
func (h GroupHit) Settle(err error) { h.item.result, h.item.settled = err, true }

// Refuse settles a hit that cannot be counted now because of err. Its batch is then not answered as a repeat.
func (h GroupHit) Refuse(err error) {
	h.Settle(fmt.Errorf("counter: metric %q cannot be counted at the moment: %w", h.item.place.metric, err))
	h.part.earlier = true
}

// CommittedInPart records that the transaction of the last Apply has counted some of the hits: the batches of these
// are not answered as repeats. The caller settles the hits.
func (g *CommitGroup) CommittedInPart() {
	for _, p := range g.parts {
		p.earlier = p.earlier || p.some
	}
}

// GiveUp settles the remaining hits, which were not counted, with the results that fate returns.
func (g *CommitGroup) GiveUp(fate func(GroupHit) error) {
	for h := range g.Pending() {
		h.Settle(fate(h))
	}
	g.wanted = wanted{} // their metrics may not exist
}
