// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// plan is the new state of the affected records: a pure function of the graph and the records.
type plan struct {
	*batch
	graph    *graph
	affected map[entity.PUID]struct{}
	olds     map[entity.PUID]*entity.Entity // their former entities, by anchor
	clusters []*cluster
	of       map[entity.PUID]*cluster // by every member
	byAnchor map[entity.PUID]*cluster
	assigned []entity.Assignment
	known    map[entity.PUID]known // cached facts about olds, by anchor
}

// known holds facts about a former entity that every record that was in it needs.
type known struct {
	members      map[entity.PUID]struct{}
	put, deleted bool // whether the batch put, or deleted, one of the members
}

func (p *plan) about(anchor entity.PUID) known {
	k, there := p.known[anchor]
	if e := p.olds[anchor]; !there && e != nil {
		k.members = make(map[entity.PUID]struct{}, len(e.Members))
		for _, m := range e.Members {
			k.members[m.PUID] = struct{}{}
			w := p.writes[m.PUID]
			k.put = k.put || w != nil && w.new != nil && w.new != w.old
			k.deleted = k.deleted || w != nil && w.new == nil
		}
		p.known[anchor] = k
	}
	return k
}

type cluster struct {
	nodes  []*node           // in order of birth, the anchor first
	pins   []entity.Decision // decisions about its anchor and values
	entity *entity.Entity
}

func (c *cluster) anchor() entity.PUID { return c.nodes[0].PUID }

// plan clusters the components and reads the former entities of their records.
func (b *batch) plan(ctx context.Context, g *graph, components [][]entity.PUID,
	affected map[entity.PUID]struct{}) (*plan, error) {
	p := &plan{
		batch: b, graph: g, affected: affected, of: map[entity.PUID]*cluster{},
		byAnchor: map[entity.PUID]*cluster{}, known: map[entity.PUID]known{},
	}
	if err := b.load(ctx, b.nodes, slices.Collect(maps.Keys(affected))); err != nil {
		return nil, err
	}
	for _, members := range components {
		p.cluster(g, members)
	}
	var anchors []entity.PUID
	for q := range affected {
		n := b.nodes[q]
		if n == nil {
			continue
		}
		if w := b.writes[q]; b.repair {
			anchors = append(anchors, q, n.Anchor)
		} else if w == nil || !w.fresh() {
			anchors = append(anchors, n.Anchor)
		}
	}
	p.olds = make(map[entity.PUID]*entity.Entity, len(anchors))
	if err := b.readFormer(ctx, anchors); err != nil {
		return nil, err
	}
	for _, anchor := range anchors {
		if e := b.former[anchor]; e != nil {
			p.olds[anchor] = e
		}
	}
	return p, nil
}

func (p *plan) cluster(g *graph, members []entity.PUID) {
	nodes := make([]*node, 0, len(members))
	index := make(map[entity.PUID]int, len(members))
	for _, q := range members {
		if n := p.nodes[q]; n != nil && n.norm != nil {
			index[q] = len(nodes)
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		return
	}
	groups := [][]int{{0}}
	if len(nodes) > 1 {
		keys := make([]match.NodeKey, len(nodes))
		var linked []match.Edge
		for i, n := range nodes {
			keys[i] = match.NodeKey(n.Ref)
			g.edgesAt(n.PUID, true, func(e derived.Edge, decided int64) {
				if j, ok := index[e.B]; ok && i < j {
					linked = append(linked, match.Edge{A: i, B: j, Weight: e.Weight, Decided: decided, Vector: e.Vector})
				}
			})
		}
		groups = match.Cluster(keys, linked, nodes[0].kind.Matcher.UnmetOf(normOf(nodes)))
	}
	for _, group := range groups {
		c := &cluster{nodes: make([]*node, len(group))}
		for i, j := range group {
			c.nodes[i] = nodes[j]
			p.of[nodes[j].PUID] = c
		}
		c.pins = p.order(c.nodes)
		p.clusters = append(p.clusters, c)
		p.byAnchor[c.anchor()] = c
	}
}

// beyond returns records that share an entity with affected ones and are not affected themselves. There are some only
// if a crash left an entity half written.
func (p *plan) beyond() []entity.PUID {
	var beyond []entity.PUID
	for _, old := range p.olds {
		for _, m := range old.Members {
			if _, ok := p.affected[m.PUID]; !ok {
				beyond = append(beyond, m.PUID)
			}
		}
	}
	return beyond
}

// write converts the plan into the writes of each cell.
func (p *plan) write(out *outcomes) {
	indexed := make([]entity.Indexed, len(p.clusters))
	parallel(len(p.clusters), func(i int) { indexed[i] = p.build(p.clusters[i]) })
	for i, c := range p.clusters {
		c.entity = indexed[i].Entity
		anchor := c.anchor()
		for _, n := range c.nodes {
			if n.Anchor != anchor {
				a := entity.Assignment{PUID: n.PUID, Anchor: anchor}
				p.assigned = append(p.assigned, a)
				o := out.at(n.PUID)
				o.assigned = append(o.assigned, a)
			}
		}
		old := p.olds[anchor]
		if old != nil && old.Stamp == c.entity.Stamp && (!p.repair || equal(old, c.entity)) {
			continue
		}
		o := out.at(anchor)
		o.entities = append(o.entities, indexed[i])
		kind, merges := p.kind(c, old)
		o.counts.Merges += merges
		if old == nil {
			o.counts.Entities++
		}
		o.changes = append(o.changes, changelog.Change{
			Time: p.now, Kind: kind, Cause: p.why(old, c.nodes), Entity: c.entity.ID, Before: versions(old), After: versions(c.entity),
		})
		o.changed = append(o.changed, changed{anchor, c.entity})
	}
	for _, anchor := range slices.Sorted(maps.Keys(p.olds)) {
		p.retire(out, anchor, p.olds[anchor])
	}
}

// retire removes a former entity whose anchor no longer leads a cluster, and counts the splits.
func (p *plan) retire(out *outcomes, anchor entity.PUID, old *entity.Entity) {
	parts := p.parts(old)
	o := out.at(anchor)
	o.counts.Splits += int64(max(len(parts)-1, 0))
	if p.byAnchor[anchor] != nil {
		return
	}
	change := changelog.Change{
		Time: p.now, Kind: changelog.Retired, Cause: p.why(old, nil), Entity: old.ID, Before: versions(old),
	}
	if len(parts) > 0 {
		change.Into = parts[0].entity.ID
	}
	o.retired = append(o.retired, anchor)
	o.counts.Entities--
	o.changes = append(o.changes, change)
	o.changed = append(o.changed, changed{anchor: anchor})
}

// parts returns the clusters that now contain the records of a former entity, in the order of its members.
func (p *plan) parts(old *entity.Entity) (parts []*cluster) {
	for _, m := range old.Members {
		if c := p.of[m.PUID]; c != nil && !slices.Contains(parts, c) {
			parts = append(parts, c)
		}
	}
	return parts
}

// kind returns the kind of change of an entity, and the number of merges: one less than the number of
// entities and new records that it combines.
func (p *plan) kind(c *cluster, old *entity.Entity) (changelog.Kind, int64) {
	var came []entity.PUID // other entities that members come from
	groups := 0
	for _, n := range c.nodes {
		_, from := p.about(n.Anchor).members[n.PUID]
		switch {
		case !from:
			groups++
		case !slices.Contains(came, n.Anchor):
			came = append(came, n.Anchor)
			groups++
		}
	}
	merges := int64(groups - 1)
	if old == nil {
		switch {
		case len(came) > 1:
			return changelog.Merged, merges
		case len(came) == 1 && p.byAnchor[came[0]] != nil:
			return changelog.Split, merges
		}
		return changelog.Created, merges
	}
	if len(came) > 1 {
		return changelog.Merged, merges
	}
	for _, m := range old.Members {
		if to := p.of[m.PUID]; to != nil && to != c {
			return changelog.Split, merges
		}
	}
	return changelog.Changed, merges
}

// why returns the cause of an entity's change: that of the batch if it has one, otherwise what was done to
// its current and former records and to the entities that they come from.
func (p *plan) why(old *entity.Entity, nodes []*node) changelog.Cause {
	if p.cause != "" {
		return p.cause
	}
	deleted := false
	put := func(anchor entity.PUID) bool {
		k := p.about(anchor)
		deleted = deleted || k.deleted
		return k.put
	}
	for _, n := range nodes {
		if w := p.writes[n.PUID]; w != nil && w.new != w.old || put(n.Anchor) {
			return changelog.CausePut
		}
	}
	switch {
	case old != nil && put(old.Anchor()):
		return changelog.CausePut
	case deleted:
		return changelog.CauseDelete
	}
	return p.assigns()
}

func versions(e *entity.Entity) []changelog.Version {
	if e == nil {
		return nil
	}
	v := make([]changelog.Version, len(e.Members))
	for i, m := range e.Members {
		v[i] = changelog.Version{PUID: m.PUID, Version: m.Version}
	}
	return v
}

// normOf returns a function for the normalised records of nodes.
func normOf(nodes []*node) func(int) *match.Record {
	return func(i int) *match.Record { return nodes[i].norm }
}
