// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// An identifier weighs the less the more different names the live records have that carry it (match.Names). That is a
// question about the set of records, as whether a feature is generic: its carriers are read anyway, and are few unless
// it is generic. A write that changes what it weighs draws in all who carry it, whose edges it changes.

// matcher is the one that compares records of a kind among all that are there.
func (m *meetings) matcher(k *Kind) *match.Matcher { return k.Matcher.Among(m.names) }

// count counts the names of what identifies a record, once its candidates are loaded.
func (m *meetings) count(n *node, nodes map[entity.PUID]*node) {
	for _, f := range n.norm.Features() {
		if carriers, read := m.carriers[f.Hash]; read && f.Identifies() {
			m.countNames(f.Hash, carriers, nodes)
		}
	}
}

func (m *meetings) countNames(feature uint64, carriers []entity.PUID, nodes map[entity.PUID]*node) {
	_, counted := m.names[feature]
	switch {
	case counted || len(carriers) <= match.PhoneNames:
	case m.generic(feature):
		m.names[feature] = match.Crowd
	default:
		m.names[feature] = match.DifferentNames(carrying(feature, carriers, nodes))
	}
}

// carrying are the records that carry a feature, of those that are posted under it.
func carrying(feature uint64, posted []entity.PUID, nodes map[entity.PUID]*node) []*match.Record {
	records := make([]*match.Record, 0, len(posted))
	for _, p := range posted {
		if n := nodes[p]; n.carries(feature) {
			records = append(records, n.norm)
		}
	}
	return records
}

// renamed are the carriers of identifiers that weigh something else since the batch, for the names that they have.
func (b *batch) renamed(ctx context.Context, m *meetings) (drawn []entity.PUID, err error) {
	former := map[uint64][]*match.Record{} // who of the batch carried it before
	note := func(n *node, carried ...*match.Record) {
		if n == nil || n.norm == nil {
			return
		}
		for _, f := range n.norm.Features() {
			if f.Identifies() && b.mayWeighOtherwise(f.Hash, m) {
				former[f.Hash] = append(former[f.Hash], carried...)
			}
		}
	}
	for _, w := range b.writes {
		note(w.new)
		if w.old != nil {
			note(w.old, w.old.norm)
		}
	}
	var all []entity.PUID
	for f := range former {
		all = append(all, m.carriers[f]...)
	}
	if err := b.load(ctx, b.nodes, unique(all)); err != nil {
		return nil, err
	}
	for f, before := range former {
		carriers := m.carriers[f]
		if b.repair {
			// What was counted before is not known, but for those that were settled, and that it was no more than all.
			settled := b.settled(m, f)
			least := match.DifferentNames(carrying(f, settled, b.nodes))
			if !match.SameWeight(least, least+len(carriers)-len(settled)) {
				drawn = append(drawn, settled...)
			}
			continue
		}
		others := slices.DeleteFunc(slices.Clone(carriers), func(p entity.PUID) bool { return b.writes[p] != nil })
		before = append(before, carrying(f, others, b.nodes)...)
		if !match.SameWeight(match.DifferentNames(before), match.DifferentNames(carrying(f, carriers, b.nodes))) {
			drawn = append(drawn, carriers...)
		}
	}
	return drawn, nil
}

// mayWeighOtherwise reports whether enough records carry an identifier, or did, for their names to be counted, and it is
// not drawn in for being generic. What has a carrier that cannot be read waits for it.
func (b *batch) mayWeighOtherwise(feature uint64, m *meetings) bool {
	carriers, read := m.carriers[feature]
	before := len(carriers)
	if !b.repair {
		before += m.lost[feature] - m.gained[feature]
	}
	return read && !m.generic(feature) && max(before, len(carriers)) > match.PhoneNames && before <= match.MostCarriers(feature) &&
		!(b.repair && b.anyAway(carriers))
}

// Names counts the names of the identifiers that two of these records share, beside whatever is written.
func (r *Resolver) Names(ctx context.Context, records []*match.Record) (match.Names, error) {
	return r.reading().namesOf(ctx, records)
}

func (v reading) namesOf(ctx context.Context, records []*match.Record) (match.Names, error) {
	m := newMeetings()
	carry, limits := map[uint64]int{}, map[uint64]int{}
	for _, n := range records {
		for _, f := range n.Features() {
			if carry[f.Hash]++; f.Identifies() && carry[f.Hash] == 2 {
				limits[f.Hash] = m.limit(f.Hash)
			}
		}
	}
	var err error
	if m.carriers, err = v.carriersOf(ctx, v.ask, limits); err != nil {
		return nil, err
	}
	var all []entity.PUID
	for f, carriers := range m.carriers {
		if len(carriers) > match.PhoneNames && !m.generic(f) {
			all = append(all, carriers...)
		}
	}
	all = slices.DeleteFunc(all, func(p entity.PUID) bool { _, err := v.home(p); return err != nil })
	if err := v.load(ctx, all); err != nil {
		return nil, err
	}
	for f, carriers := range m.carriers {
		m.countNames(f, carriers, v.nodes)
	}
	return m.names, nil
}
