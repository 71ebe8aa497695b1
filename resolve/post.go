// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// meetings are the candidates of a batch: the carriers of every feature of its records.
type meetings struct {
	carriers map[uint64][]entity.PUID
	gained   map[uint64]int // number of records of the batch that gained the feature
	lost     map[uint64]int // number of records that lost it
	further  map[uint64]int // number of carriers to read beyond the usual limit
	leaders  map[uint64]entity.PUID
	names    match.Names // counted names of identifiers with more than a few carriers
}

func newMeetings() *meetings {
	return &meetings{
		carriers: map[uint64][]entity.PUID{}, gained: map[uint64]int{}, lost: map[uint64]int{}, further: map[uint64]int{},
		leaders: map[uint64]entity.PUID{}, names: match.Names{},
	}
}

// generic reports whether a feature has too many carriers (a stop key). That depends on the current set of
// records only and never on its history.
func (m *meetings) generic(feature uint64) bool {
	return len(m.carriers[feature]) > match.MostCarriers(feature)
}

// crossed reports whether the batch made a feature generic, or made it specific again.
func (m *meetings) crossed(feature uint64) bool {
	after := len(m.carriers[feature])
	before := after - m.gained[feature] + m.lost[feature]
	most := match.MostCarriers(feature)
	return (before > most) != (after > most)
}

// limit returns how many carriers must be read to detect a crossing reliably.
func (m *meetings) limit(feature uint64) int {
	if match.IsEqual(feature) {
		return unlimited
	}
	return match.MostCarriers(feature) + 1 + m.gained[feature] + m.further[feature]
}

// post is the second round. It commits the postings of all features before it reads their carriers, so that
// of two records that share a feature the one that posts second sees the first.
func (b *batch) post(ctx context.Context) (*meetings, error) {
	m := newMeetings()
	if err := b.lead(ctx); err != nil {
		return nil, err
	}
	m.leaders = b.leaders.after
	if err := b.writePostings(ctx, m); err != nil {
		return nil, err
	}
	if err := b.readCarriers(ctx, b.read, m); err != nil {
		return nil, err
	}
	drawn, err := b.drawnIn(ctx, m)
	if err != nil {
		return nil, err
	}
	if len(drawn) == 0 {
		return m, nil
	}
	if err := b.draw(ctx, drawn); err != nil {
		return nil, err
	}
	for _, p := range drawn {
		if w := b.writes[p]; w != nil && w.new != nil && w.posted == nil {
			if e := w.new.equal(); e != 0 && m.leaders[e] == 0 {
				m.leaders[e] = p // it is posted under the shared feature
			}
			w.posted = posted(w.new, leads(w.new, m.leaders))
		}
	}
	return m, b.readCarriers(ctx, b.read, m)
}

// drawnIn returns the carriers of features whose genericity or weight the batch changed.
func (b *batch) drawnIn(ctx context.Context, m *meetings) (drawn []entity.PUID, err error) {
	if b.repair {
		if drawn, err = b.overdue(ctx, m); err != nil {
			return nil, err
		}
	} else {
		for f, carriers := range m.carriers {
			if m.crossed(f) {
				drawn = append(drawn, carriers...)
			}
		}
	}
	renamed, err := b.renamed(ctx, m)
	return append(drawn, renamed...), err
}

// settled returns the carriers of a feature that are not in the redo set.
func (b *batch) settled(m *meetings, feature uint64) []entity.PUID {
	settled := make([]entity.PUID, 0, len(m.carriers[feature]))
	for _, p := range m.carriers[feature] {
		if !b.isUndone(p) {
			settled = append(settled, p)
		}
	}
	return settled
}

// overdue returns records whose edges through a feature may be outdated. A repair works off part of the
// redo set at a time and does not know which of its records were posted when. If a feature is generic only
// because of records in the redo set, it may have been specific before: carriers are read until that is
// certain. A feature that is not generic may have been if a record lost it, and cannot have been otherwise.
func (b *batch) overdue(ctx context.Context, m *meetings) ([]entity.PUID, error) {
	for {
		var drawn []entity.PUID
		certain := true
		for f, carriers := range m.carriers {
			if !m.generic(f) {
				if m.lost[f] > 0 && !match.IsEqual(f) {
					drawn = append(drawn, carriers...)
				}
				continue
			}
			switch settled := b.settled(m, f); {
			case len(settled) > match.MostCarriers(f):
			case len(carriers) >= m.limit(f):
				m.further[f] += 3 * len(carriers)
				delete(m.carriers, f)
				certain = false
			default:
				drawn = append(drawn, settled...)
			}
		}
		if certain {
			return drawn, nil
		}
		if err := b.readCarriers(ctx, b.read, m); err != nil {
			return nil, err
		}
	}
}

type postings struct{ add, remove []Posting }

// writePostings adds postings to the cells of the current generation and removes them wherever they may be.
// A cell takes new postings only once the older cells are sealed.
func (b *batch) writePostings(ctx context.Context, m *meetings) error {
	groups := map[cell.ID]*postings{}
	at := func(id cell.ID) *postings {
		if groups[id] == nil {
			groups[id] = &postings{}
		}
		return groups[id]
	}
	var positions []uint32
	for p, w := range b.writes {
		b.differ(w, m)
		if b.peek != nil {
			continue
		}
		for _, f := range w.add {
			g := at(b.featureCell(f))
			g.add = append(g.add, Posting{f, p})
			positions = append(positions, cell.Position(f))
		}
		for _, f := range w.remove {
			for _, id := range b.featureCells(f) {
				g := at(id)
				g.remove = append(g.remove, Posting{f, p})
			}
		}
	}
	if b.peek != nil {
		return nil
	}
	if err := b.dir.SealOlder(ctx, positions); err != nil {
		return fmt.Errorf("seal older cells: %w", err)
	}
	return eachCell(groups, func(id cell.ID, g *postings) error {
		return b.write(ctx, id, func(tx Tx) error {
			if len(g.add) > 0 {
				if err := b.dir.Gate(ctx, tx, b.opts.Cells.Map(), id); err != nil {
					return err
				}
			}
			if err := tx.Post(ctx, g.add, g.remove); err != nil {
				return fmt.Errorf("post features: %w", err)
			}
			return nil
		})
	})
}

// differ finds the postings that a record gains and loses because its content or its leadership changed. A
// repair does not know the former state: it writes and removes all.
func (b *batch) differ(w *write, m *meetings) {
	if w.new != nil {
		w.posted = posted(w.new, leads(w.new, b.leaders.after))
	}
	is := func(f uint64) bool { return slices.Contains(w.posted, f) }
	if b.repair {
		w.add, w.remove = w.posted, slices.Clone(w.lost)
		for _, f := range posted(w.new, true) {
			if !is(f) {
				w.remove = append(w.remove, f)
			}
		}
		w.remove = slices.DeleteFunc(w.remove, is) // one version lost it and a later one has it again
		for _, f := range w.add {
			m.gained[f]++
		}
		for _, f := range w.remove {
			m.lost[f]++
		}
		return
	}
	var was []uint64
	if w.old != nil {
		was = posted(w.old, leads(w.old, b.leaders.before))
	}
	for _, f := range w.posted {
		if !slices.Contains(was, f) {
			w.add = append(w.add, f)
			m.gained[f]++
		}
	}
	for _, f := range was {
		if !is(f) {
			w.remove = append(w.remove, f)
			m.lost[f]++
		}
	}
	for _, f := range w.lost {
		if !is(f) && !slices.Contains(was, f) {
			w.remove = append(w.remove, f)
		}
	}
}

// readCarriers reads the carriers of every feature that records of the batch are posted under or lost,
// unless they were read already. A follower only needs its leader.
func (b *batch) readCarriers(ctx context.Context, ask asking, m *meetings) error {
	limits := map[uint64]int{}
	want := func(f uint64) {
		if _, read := m.carriers[f]; !read {
			limits[f] = m.limit(f)
		}
	}
	for p, w := range b.writes {
		for _, f := range w.posted {
			if !match.IsEqual(f) || m.leaders[f] == p {
				want(f)
			}
		}
		for _, f := range w.remove {
			if !match.IsEqual(f) {
				want(f)
			}
		}
	}
	if b.peek != nil {
		return b.assumeCarriers(ctx, limits, m)
	}
	carriers, err := b.carriersOf(ctx, ask, limits)
	maps.Copy(m.carriers, carriers)
	return err
}

// candidates returns the records to compare with: the leader of a follower, otherwise all that share a
// feature.
func (m *meetings) candidates(n *node, features []uint64) []entity.PUID {
	if !leads(n, m.leaders) {
		return []entity.PUID{m.leaders[n.equal()]}
	}
	var c []entity.PUID
	for _, f := range features {
		if !m.generic(f) {
			c = append(c, m.carriers[f]...)
		}
	}
	return slices.DeleteFunc(unique(c), func(q entity.PUID) bool { return q == n.PUID })
}

// union merges the carriers found in cells of several generations.
func union(a, b []entity.PUID) []entity.PUID {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return unique(slices.Concat(a, b))
}

func unique(puids []entity.PUID) []entity.PUID {
	slices.Sort(puids)
	return slices.Compact(puids)
}
