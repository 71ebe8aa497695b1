// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// readAhead reads, in a few waits, the rows that the walk and the plan would otherwise read one by one. The first step
// reads the entities of the records, and the edges and decisions of the records and of candidates in these entities.
// The second does the same for the other members and for the records at the ends of edges. Cached rows are not read
// again; rows that both steps miss are read when they are needed.
func (b *batch) readAhead(ctx context.Context, stored map[entity.PUID]edges, puids []entity.PUID) error {
	if b.peek != nil { // a peek combines the reads of its batches and handles each wait itself
		return b.readAround(ctx, stored, puids)
	}
	anchors := b.anchorsOf(puids)
	puids = append(slices.Clone(puids), b.under(anchors)...)
	if b.recalls() {
		b.recall(stored, puids, anchors)
		puids = append(puids, b.further(stored, puids, anchors)...)
	}
	for range 2 {
		anchors = b.anchorsOf(puids)
		if err := b.readStep(ctx, stored, puids, anchors); err != nil {
			return err
		}
		puids = b.further(stored, puids, anchors)
	}
	return nil
}

// readStep reads records, their edges and decisions, and entities, in one wait.
func (b *batch) readStep(ctx context.Context, stored map[entity.PUID]edges, puids, anchors []entity.PUID) error {
	nodes := make(map[entity.PUID]*node, len(puids))
	var unread []entity.PUID
	for _, p := range puids {
		if b.nodes[p] == nil {
			unread = append(unread, p)
		}
	}
	if err := together(
		func() error { return b.readAround(ctx, stored, slices.Clone(puids)) },
		func() error { return b.readFormer(ctx, anchors) },
		func() error { return b.load(ctx, nodes, unread) },
	); err != nil {
		return err
	}
	for p, n := range nodes {
		if b.nodes[p] == nil {
			b.nodes[p] = n
		}
	}
	return nil
}

// further returns the members of the anchors' entities and the records at the other ends of the records' edges, except
// those whose edges were read.
func (b *batch) further(stored map[entity.PUID]edges, puids, anchors []entity.PUID) (next []entity.PUID) {
	for _, anchor := range anchors {
		if e := b.former[anchor]; e != nil {
			for _, m := range e.Members {
				next = append(next, m.PUID)
			}
		}
	}
	for _, p := range puids {
		for _, e := range stored[p] {
			if e.Weight >= match.Threshold {
				next = append(next, e.B)
			}
		}
	}
	return slices.DeleteFunc(unique(next), func(p entity.PUID) bool { _, read := stored[p]; return read })
}

// anchorsOf returns the anchors of the records that are in memory.
func (b *batch) anchorsOf(puids []entity.PUID) (anchors []entity.PUID) {
	for _, p := range puids {
		if n := cmp.Or(b.nodes[p], b.cache.nodes.peek(p)); n != nil {
			anchors = append(anchors, n.Anchor)
		}
	}
	return unique(anchors)
}

// under returns the records that the batch has read and that are in entities under these anchors, in order.
func (b *batch) under(anchors []entity.PUID) (puids []entity.PUID) {
	for p, n := range b.nodes {
		if _, is := slices.BinarySearch(anchors, n.Anchor); is && b.writes[p] == nil {
			puids = append(puids, p)
		}
	}
	slices.Sort(puids)
	return puids
}

// readFormer reads the entities stored under these anchors into former, unless they were read already.
func (b *batch) readFormer(ctx context.Context, anchors []entity.PUID) error {
	recalls := b.recalls()
	if recalls {
		b.recall(nil, nil, anchors)
	}
	var missing []entity.PUID
	for _, anchor := range anchors {
		if _, read := b.former[anchor]; !read {
			missing = append(missing, anchor)
		}
	}
	found, err := b.entities(ctx, missing)
	if err != nil {
		return err
	}
	for _, anchor := range missing {
		e := found[anchor]
		if recalls && e != nil {
			e = brief(e)
			b.cache.entities.put(anchor, e)
		}
		b.former[anchor] = e
	}
	return nil
}

// together runs functions that read, at the same time.
func together(reads ...func() error) error {
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
