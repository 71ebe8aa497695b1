// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// lookClusters compares edges with fresh comparisons of all candidates, anchors with fresh clusters of the
// components, and entities with those built from their members.
func (v *checks) lookClusters(ctx context.Context, rows [][]any) error {
	live, err := v.readPage(ctx, rows, false)
	if err != nil || len(live) == 0 {
		return err
	}
	linked, err := v.compareAll(ctx, live)
	if err != nil {
		return err
	}
	stored := map[entity.PUID]edges{}
	puids := make([]entity.PUID, len(live))
	for i, n := range live {
		puids[i] = n.PUID
	}
	if err := v.readAround(ctx, stored, puids); err != nil {
		return err
	}
	for _, n := range live {
		v.compareEdges(n, stored[n.PUID], linked[n.PUID])
	}
	g := newGraph(v.batch, stored, nil)
	p := &plan{batch: v.batch, of: map[entity.PUID]*cluster{}, byAnchor: map[entity.PUID]*cluster{}}
	var should []expected
	for _, n := range live {
		members, err := v.component(ctx, g, n.PUID)
		if err != nil {
			return err
		}
		if p.of[n.PUID] == nil {
			p.cluster(g, members)
		}
		c := p.of[n.PUID]
		v.compareMember(n, c, members)
		if c.anchor() == n.PUID {
			should = append(should, expected{n, members, v.build(c)})
		}
	}
	return v.compareEntities(ctx, should)
}

// expected is an entity that should exist.
type expected struct {
	*node
	members []entity.PUID // of the component
	is      entity.Indexed
}

// compareAll compares records with all their candidates and returns the expected edges.
func (v *checks) compareAll(ctx context.Context, live []*node) (map[entity.PUID]edges, error) {
	m := newCandidateSet(0)
	var err error
	if m.leaders, err = v.leadersOf(ctx, live); err != nil {
		return nil, err
	}
	for _, n := range live {
		v.writes[n.PUID] = &write{puid: n.PUID, new: n, posted: posted(n, leads(n, m.leaders))}
	}
	err = v.readBlocks(ctx, func(ctx context.Context, limits map[uint64]int) (map[uint64][]entity.PUID, error) {
		return v.blockOf(ctx, v.ask, limits)
	}, m, v.writes)
	clear(v.writes)
	if err != nil {
		return nil, err
	}
	met := make([][]entity.PUID, len(live))
	var all []entity.PUID
	for i, n := range live {
		met[i] = m.candidates(n, posted(n, leads(n, m.leaders)))
		all = append(all, met[i]...)
	}
	if err := v.load(ctx, v.homed(unique(all))); err != nil {
		return nil, err
	}
	for _, n := range live {
		m.count(n, v.nodes)
	}
	found := make([]edges, len(live))
	parallel(len(live), func(i int) { found[i] = v.edgesOf(live[i], met[i], m) })
	should := make(map[entity.PUID]edges, len(live))
	for i, n := range live {
		should[n.PUID] = found[i]
	}
	return should, nil
}

// compareEdges finds edges that only one of the lists has, or that differ.
func (v *checks) compareEdges(n *node, stored, should edges) {
	for len(stored)+len(should) > 0 {
		var was, is *derived.Edge
		if len(should) == 0 || len(stored) > 0 && stored[0].B <= should[0].B {
			was, stored = &stored[0], stored[1:]
		}
		if was == nil || len(should) > 0 && was.B == should[0].B {
			is, should = &should[0], should[1:]
		}
		if was != nil && is != nil && *was == *is {
			continue
		}
		b := cmp.Or(was, is).B
		if v.unread[b] != nil {
			continue // its content is not known
		}
		s := v.suspect(rowOf(n), "edge", n.PUID.String()+"/"+b.String(), edgeText(was), edgeText(is), n.PUID, b)
		s.redo = []entity.PUID{n.PUID}
	}
}

func edgeText(e *derived.Edge) string {
	if e == nil {
		return "no row"
	}
	return fmt.Sprintf("score %v, levels %x", e.Weight, uint64(e.Vector))
}

func (v *checks) compareMember(n *node, c *cluster, members []entity.PUID) {
	anchor := c.anchor()
	if n.Anchor == anchor {
		return
	}
	s := v.suspect(rowOf(n), "member", n.PUID.String(), "in the entity of "+n.Anchor.String(),
		"in that of "+anchor.String(), members...)
	s.redo = []entity.PUID{n.PUID, anchor}
	if _, err := v.home(n.Anchor); err != nil {
		s.repairs = []repairWrite{{v.id, func(ctx context.Context, tx storage.Tx) error {
			return tx.Assign(ctx, []entity.Assignment{{PUID: n.PUID, Anchor: n.PUID}})
		}}}
	}
}

// compareEntities compares stored entities with the expected ones, and searches for those that are equal.
func (v *checks) compareEntities(ctx context.Context, should []expected) error {
	anchors := make([]entity.PUID, len(should))
	for i, e := range should {
		anchors[i] = e.PUID
	}
	var stored []*entity.Entity
	err := v.ask(ctx, v.id, func(tx storage.Tx) (err error) {
		stored, err = tx.Entities(ctx, anchors)
		return err
	})
	if err != nil {
		if errors.Is(err, cell.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if len(should) > 1 { // one of the members cannot be read
			for i := range should {
				if err := v.compareEntities(ctx, should[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		}
		s := v.note("entity", should[0], err.Error())
		s.repairs, s.redo = []repairWrite{v.remove(should[0].PUID)}, anchors
		return nil
	}
	var equals []expected
	for i, e := range should {
		switch {
		case stored[i] == nil:
			v.note("entity", e, "no row").redo = anchors[i : i+1]
		case !equal(stored[i], e.is.Entity):
			s := v.note("entity", e, "differs in "+difference(stored[i], e.is.Entity))
			s.redo = anchors[i : i+1]
			for _, m := range stored[i].Members {
				s.about = append(s.about, m.PUID)
			}
		default:
			equals = append(equals, e)
		}
	}
	return v.search(ctx, equals)
}

func (v *checks) note(what string, e expected, is string) *suspect {
	return v.suspect(rowOf(e.node), what, e.PUID.String(), is, fmt.Sprintf("entity %v of %d records", e.is.ID, len(e.is.Members)), e.members...)
}

// equal reports whether two stored entities are equal in all parts.
func equal(a, b *entity.Entity) bool { return difference(a, b) == "" }

// difference names the first part where two entities differ, "" if there is none.
func difference(a, b *entity.Entity) string {
	switch {
	case a.ID != b.ID:
		return "its id"
	case a.Kind != b.Kind:
		return "its kind"
	case !slices.Equal(a.Members, b.Members):
		return "its members"
	case !slices.EqualFunc(a.View, b.View, sameAttribute):
		return "its merged view"
	case a.Rank != b.Rank:
		return "its rank"
	case a.Stamp != b.Stamp:
		return "its stamp"
	}
	return ""
}

func sameAttribute(a, b entity.MergedAttribute) bool {
	return a.Name == b.Name && slices.EqualFunc(a.Values, b.Values, func(x, y entity.MergedValue) bool {
		return x.Value == y.Value && x.Pinned == y.Pinned && slices.Equal(x.Members, y.Members)
	})
}
