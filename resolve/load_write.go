// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// write clusters the components and writes their entities. The entities of a cell are written in the order of their
// earliest records, which are the anchors unless a component is divided.
func (l *loader) write(ctx context.Context) error {
	l.edges.close()
	if err := l.abreast(len(l.ranges), func(i int) error {
		from, to := l.partsOf(l.ranges[i])
		for part := from; part < to; part++ {
			edges, err := l.sorted(l.within, part)
			if err != nil {
				return err
			}
			leads := l.leads[l.leadsFrom(l.parts[part].from):l.leadsFrom(l.parts[part].to)]
			for len(leads) > 0 {
				var page [][]uint32
				size := 0
				for size < l.loads.page && len(leads) > 0 {
					members := []uint32{leads[0]}
					for n := l.next[leads[0]]; n != 0; n = l.next[n-1] {
						members = append(members, n-1)
					}
					page, size, leads = append(page, members), size+len(members), leads[1:]
				}
				if err := l.writePage(ctx, page, edges, nil); err != nil {
					return err
				}
				if err := l.done(ctx, LoadWrite, size, l.records); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil || len(l.gone) == 0 {
		return err
	}
	return l.writePage(ctx, nil, nil, l.gone)
}

// leadsFrom returns the index of the first of leads with at least a number.
func (l *loader) leadsFrom(rec int) int {
	i, _ := slices.BinarySearchFunc(l.leads, rec, func(lead uint32, rec int) int { return cmp.Compare(int(lead), rec) })
	return i
}

// writePage writes the entities of components, and removes entities stored under other members or under deleted
// records.
func (l *loader) writePage(ctx context.Context, components [][]uint32, edges loadEdges, deleted []loadEntry) error {
	b := newBatch(l.Resolver, nil, nil, nil)
	b.repair, b.decided = true, l.decided
	p := &plan{batch: b, of: map[entity.PUID]*cluster{}, byAnchor: map[entity.PUID]*cluster{}, known: map[entity.PUID]known{}}
	read, err := l.nodes(slices.Sorted(slices.Values(slices.Concat(components...))))
	if err != nil {
		return err
	}
	if l.stale {
		for _, n := range read {
			b.nodes[n.PUID], b.writes[n.PUID] = n, &write{puid: n.PUID, new: n}
		}
		for _, e := range deleted {
			b.nodes[e.puid], b.writes[e.puid] = gone(e.puid), &write{puid: e.puid}
		}
		// Only the entities stored under these very records are read: the others are written in their own pages.
		if p.olds, err = l.entitiesOf(ctx, l.Resolver.read, slices.Collect(maps.Keys(b.writes))); err != nil {
			return err
		}
	} else {
		b.cause = changelog.CausePut
	}
	clusters := make([][]*cluster, len(components))
	parallel(len(components), func(i int) { clusters[i] = l.clusters(components[i], edges, read) })
	for _, some := range clusters {
		for _, c := range some {
			c.pins = p.order(c.nodes)
			p.clusters = append(p.clusters, c)
			if l.stale {
				p.byAnchor[c.anchor()] = c
				for _, n := range c.nodes {
					p.of[n.PUID] = c
				}
			}
		}
	}
	out := &outcomes{Resolver: l.Resolver, now: b.now, cause: b.assigns(), cells: map[cell.ID]*outcome{}}
	if p.write(out); out.err != nil {
		return out.err
	}
	l.mu.Lock()
	for id, o := range out.cells {
		l.assigned[id] = append(l.assigned[id], o.assigned...)
		if o.assigned = nil; len(o.changes) == 0 {
			delete(out.cells, id)
		}
	}
	l.mu.Unlock()
	return out.commit(ctx)
}

// clusters splits a component into things.
func (l *loader) clusters(members []uint32, edges loadEdges, read map[uint32]*node) []*cluster {
	members = slices.DeleteFunc(members, func(rec uint32) bool { return read[rec] == nil }) // deleted since
	nodes := make([]*node, len(members))
	for i, rec := range members {
		nodes[i] = read[rec]
	}
	switch len(nodes) {
	case 0:
		return nil
	case 1:
		return []*cluster{{nodes: nodes}}
	}
	keys, norms := make([]match.NodeKey, len(members)), make([]*match.Record, len(members))
	index := make(map[uint32]int, len(members))
	for i, n := range nodes {
		index[members[i]], keys[i] = i, match.NodeKey(n.Ref)
	}
	norm := func(i int) *match.Record { // only pairs without an edge need it
		if norms[i] == nil {
			norms[i] = nodes[i].kind.normalise(nodes[i].Record)
		}
		return norms[i]
	}
	var linked []match.Edge
	for i, rec := range members {
		said := l.decidedEdges(i, nodes, index)
		for j, e := range said {
			if i < j {
				linked = append(linked, e)
			}
		}
		for _, e := range edges.of(int(rec), int(rec)+1) {
			j, ok := index[e.b]
			if _, decided := said[j]; ok && i < j && (!decided || e.weight == match.Equal) {
				linked = append(linked, match.Edge{A: i, B: j, Weight: e.weight, Vector: e.vector})
			}
		}
	}
	var found []*cluster
	for _, group := range match.ClusterAll(keys, linked, nodes[0].kind.Matcher.UnmetOf(norm)) {
		c := &cluster{nodes: make([]*node, len(group))}
		for i, j := range group {
			c.nodes[i] = nodes[j]
		}
		found = append(found, c)
	}
	return found
}

// assign sets the anchor of each record that is not an anchor itself.
func (l *loader) assign(ctx context.Context) error {
	cells, all := slices.SortedFunc(maps.Keys(l.assigned), cell.ID.Compare), 0
	for _, rows := range l.assigned {
		all += len(rows)
	}
	now := l.opts.Now().UTC()
	return l.abreast(len(cells), func(i int) error {
		rows := l.assigned[cells[i]]
		slices.SortFunc(rows, func(a, b entity.Assignment) int { return cmp.Compare(a.PUID, b.PUID) })
		for part := range slices.Chunk(rows, l.loads.rows) {
			out := &outcomes{Resolver: l.Resolver, cells: map[cell.ID]*outcome{cells[i]: {assigned: part, now: now, cause: changelog.CausePut}}}
			if err := out.commit(ctx); err != nil {
				return err
			}
			if err := l.done(ctx, LoadAssign, len(part), all); err != nil {
				return err
			}
		}
		return nil
	})
}

// clear removes the redo entries of the loaded records, except of those written since.
func (l *loader) clear(ctx context.Context) error {
	all := len(l.gone)
	for _, version := range l.redo {
		if version > 0 {
			all++
		}
	}
	return l.abreast(len(l.ranges), func(i int) error {
		r, entries := l.ranges[i], []derived.Redo{}
		for _, e := range l.gone {
			if id, err := l.home(e.puid); err == nil && id == r.cell {
				entries = append(entries, derived.Redo{PUID: e.puid, Version: e.version})
			}
		}
		flush := func() error {
			if len(entries) == 0 {
				return nil
			}
			if err := l.Resolver.write(ctx, r.cell, func(tx storage.Tx) error { return tx.ClearRedo(ctx, entries) }); err != nil {
				return fmt.Errorf("cell %v: %w", r.cell, err)
			}
			n := len(entries)
			entries = entries[:0]
			return l.done(ctx, LoadClear, n, all)
		}
		for rec := r.from; rec < r.to; rec++ {
			if version := l.redo[rec]; version > 0 {
				entries = append(entries, derived.Redo{PUID: l.puids[rec], Version: int64(version)})
			}
			if len(entries) >= l.loads.rows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	})
}
