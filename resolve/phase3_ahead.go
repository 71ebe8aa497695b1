// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/locus-db/locus/entity"
)

// readAhead reads what the walk and the plan would read step by step, each step when the last one has shown what it needs:
// around records, the entities that they are in, and around the members of these. What it misses is read when it is needed.
func (b *batch) readAhead(ctx context.Context, stored map[entity.PUID]edges, puids []entity.PUID) error {
	if b.peek != nil { // it reads what its batches need together, and knows one wait of each
		return b.readAround(ctx, stored, puids)
	}
	var anchors []entity.PUID
	for _, p := range puids {
		if n := cmp.Or(b.nodes[p], b.cache.get(p)); n != nil {
			anchors = append(anchors, n.Anchor)
		}
	}
	if err := together(
		func() error { return b.readAround(ctx, stored, puids) },
		func() error { return b.readFormer(ctx, anchors) },
	); err != nil {
		return err
	}
	var members []entity.PUID
	for _, anchor := range anchors {
		if e := b.former[anchor]; e != nil {
			for _, m := range e.Members {
				members = append(members, m.PUID)
			}
		}
	}
	members = unique(members)
	nodes := make(map[entity.PUID]*node, len(members))
	if err := together(
		func() error { return b.readAround(ctx, stored, slices.Clone(members)) },
		func() error { return b.load(ctx, nodes, members) },
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

// readFormer reads the entities stored under these anchors into former, unless they were read already.
func (b *batch) readFormer(ctx context.Context, anchors []entity.PUID) error {
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
		b.former[anchor] = found[anchor]
	}
	return nil
}

// together runs two functions that read, at the same time.
func together(one, other func() error) error {
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { err = one() })
	also := other()
	wg.Wait()
	return errors.Join(err, also)
}
