// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// The weight of an identifier falls with the number of different names among the live records that carry it
// (match.Names). Like a stop key, it depends on the current set of records. These are read anyway, and are few unless
// it is a stop key. A write that changes the weight includes all records with the identifier, because their edges
// change.

// matcher returns the matcher of a kind with the counted names.
func (m *candidateSet) matcher(k *Kind) *match.Matcher { return k.Matcher.Among(m.names) }

// count counts the names for the identifiers of a record, once its candidates are loaded.
func (m *candidateSet) count(n *node, nodes map[entity.PUID]*node) {
	for _, f := range n.norm.BlockingKeys() {
		if carriers, read := m.carriers[f.Hash]; read && f.Identifies() {
			m.countNames(f.Hash, carriers, nodes)
		}
	}
}

func (m *candidateSet) countNames(key uint64, carriers []entity.PUID, nodes map[entity.PUID]*node) {
	_, counted := m.names[key]
	switch {
	case counted || len(carriers) <= match.PhoneNames:
	case m.stopKey(key):
		m.names[key] = match.Crowd
	default:
		m.names[key] = match.DifferentNames(carrying(key, carriers, nodes))
	}
}

// carrying returns the posted records that still carry the blocking key.
func carrying(key uint64, posted []entity.PUID, nodes map[entity.PUID]*node) []*match.Record {
	records := make([]*match.Record, 0, len(posted))
	for _, p := range posted {
		if n := nodes[p]; n.carries(key) {
			records = append(records, n.norm)
		}
	}
	return records
}

// renamed returns the records of identifiers whose weight the batch changes.
func (b *batch) renamed(ctx context.Context, m *candidateSet) (drawn []entity.PUID, err error) {
	former := map[uint64][]*match.Record{} // records of the batch that carried it before
	note := func(n *node, carried ...*match.Record) {
		if n == nil || n.norm == nil {
			return
		}
		for _, f := range n.norm.BlockingKeys() {
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
			// The former count is unknown. Its lower bound is the number of records not in the redo set, its upper
			// bound that plus all others.
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

// mayWeighOtherwise reports whether an identifier has or had enough records for their names to be counted, and its
// records are not renewed anyway because it is or was a stop key. If one of its records cannot be read, the identifier
// is postponed.
func (b *batch) mayWeighOtherwise(key uint64, m *candidateSet) bool {
	carriers, read := m.carriers[key]
	before := len(carriers)
	if !b.repair {
		before += m.lost[key] - len(m.gained[key])
	}
	return read && !m.stopKey(key) && max(before, len(carriers)) > match.PhoneNames && before <= match.BlockLimit(key) &&
		!(b.repair && b.anyAway(carriers))
}

// Names counts the names for the identifiers that at least two of these records share, concurrently with
// writers.
func (r *Resolver) Names(ctx context.Context, records []*match.Record) (match.Names, error) {
	return r.reading().namesOf(ctx, records)
}

func (v reading) namesOf(ctx context.Context, records []*match.Record) (match.Names, error) {
	m := newCandidateSet(0)
	carry, limits := map[uint64]int{}, map[uint64]int{}
	for _, n := range records {
		for _, f := range n.BlockingKeys() {
			if carry[f.Hash]++; f.Identifies() && carry[f.Hash] == 2 {
				limits[f.Hash] = m.limit(f.Hash)
			}
		}
	}
	var err error
	if m.carriers, err = v.blockOf(ctx, v.ask, limits); err != nil {
		return nil, err
	}
	var all []entity.PUID
	for f, carriers := range m.carriers {
		if len(carriers) > match.PhoneNames && !m.stopKey(f) {
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
