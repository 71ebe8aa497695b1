// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// write clusters the components and writes their rows, those of about loadSizes.rows records at a time, in the order of their
// first records.
func (l *loader) write(ctx context.Context) error {
	var part [][]uint32
	size, done := 0, 0
	flush := func() error {
		if err := l.writePart(ctx, part, nil); err != nil {
			return err
		}
		done += size
		part, size = nil, 0
		l.tell(LoadProgress{LoadWrite, done, l.records})
		return l.renew(ctx)
	}
	for _, head := range l.heads {
		members := []uint32{head}
		for rec := l.next[head]; rec != 0; rec = l.next[rec] {
			members = append(members, rec)
		}
		part, size = append(part, members), size+len(members)
		if size >= l.loads.rows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil || len(l.gone) == 0 {
		return err
	}
	return l.writePart(ctx, nil, l.gone)
}

// writePart writes what the records of components have: nothing else is stored under their puids afterwards.
func (l *loader) writePart(ctx context.Context, components [][]uint32, deleted []entity.PUID) error {
	b := newBatch(l.Resolver, nil, nil, nil)
	b.repair = true
	var all []uint32
	for _, members := range components {
		all = append(all, members...)
	}
	slices.Sort(all)
	read, err := l.nodes(ctx, all)
	if err != nil {
		return err
	}
	p := &plan{
		batch: b, affected: map[entity.PUID]struct{}{}, olds: map[entity.PUID]*entity.Entity{}, of: map[entity.PUID]*cluster{},
		byAnchor: map[entity.PUID]*cluster{}, known: map[entity.PUID]known{},
	}
	var puids []entity.PUID
	for _, rec := range all {
		n := read[rec]
		b.nodes[n.PUID], b.writes[n.PUID] = n, &write{puid: n.PUID, new: n}
		puids = append(puids, n.PUID)
	}
	for _, q := range deleted {
		b.nodes[q], b.writes[q] = gone(q), &write{puid: q}
		puids = append(puids, q)
	}
	out := &outcomes{Resolver: l.Resolver, now: b.now, cause: b.assigns(), cells: map[cell.ID]*outcome{}}
	if l.stale {
		// Only what is stored under these very records: the others are written in parts of their own.
		if p.olds, err = l.entitiesOf(ctx, l.Resolver.read, puids); err != nil {
			return err
		}
		if err := l.cutStale(ctx, out, puids, all); err != nil {
			return err
		}
	}
	for _, rec := range all {
		for _, e := range l.edgesOf(rec) {
			out.link(l.row(e), false)
		}
	}
	clusters := make([][]*cluster, len(components))
	parallel(len(components), func(i int) { clusters[i] = l.clusters(components[i], read) })
	for _, some := range clusters {
		for _, c := range some {
			c.pins = p.order(c.nodes)
			p.clusters = append(p.clusters, c)
			p.byAnchor[c.anchor()] = c
			for _, n := range c.nodes {
				p.of[n.PUID] = c
			}
		}
	}
	if p.write(out); out.err != nil {
		return out.err
	}
	return out.commit(ctx)
}

// clusters splits a component into things.
func (l *loader) clusters(members []uint32, read map[uint32]*node) []*cluster {
	nodes := make([]*node, len(members))
	keys := make([]match.NodeKey, len(members))
	index := make(map[uint32]int, len(members))
	for i, rec := range members {
		nodes[i], index[rec] = read[rec], i
		keys[i] = match.NodeKey(nodes[i].Ref)
	}
	if len(nodes) == 1 {
		return []*cluster{{nodes: nodes}}
	}
	var linked []match.Edge
	for i, rec := range members {
		for _, e := range l.edgesOf(rec) {
			if j, ok := index[e.b]; ok && i < j {
				linked = append(linked, match.Edge{A: i, B: j, Weight: e.weight})
			}
		}
	}
	var found []*cluster
	for _, group := range match.ClusterAll(keys, linked, func(i, j int, dear bool) match.Weight {
		return nodes[i].kind.Matcher.Unmet(nodes[i].norm, nodes[j].norm, dear)
	}) {
		c := &cluster{nodes: make([]*node, len(group))}
		for i, j := range group {
			c.nodes[i] = nodes[j]
		}
		found = append(found, c)
	}
	return found
}

// cutStale removes the stored edges that the records no longer have.
func (l *loader) cutStale(ctx context.Context, out *outcomes, puids []entity.PUID, all []uint32) error {
	has := make(map[derived.Pair]struct{}, len(all))
	for _, rec := range all {
		for _, e := range l.edgesOf(rec) {
			has[derived.Pair{A: l.puids[e.a], B: l.puids[e.b]}] = struct{}{}
		}
	}
	if err := fromHomes(ctx, l.Resolver, l.Resolver.read, puids, func(tx storage.Tx, group []entity.PUID) ([]derived.Edge, error) {
		return tx.Edges(ctx, group)
	}, func(_ []entity.PUID, stored []derived.Edge) {
		for _, e := range stored {
			if _, there := has[derived.Pair{A: e.A, B: e.B}]; !there {
				out.cut(e.A, e.B, false)
			}
		}
	}); err != nil {
		return fmt.Errorf("read edges: %w", err)
	}
	return nil
}
