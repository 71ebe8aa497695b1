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

// meetings are the candidates of a batch: for every feature of its records, who carries it.
type meetings struct {
	carriers map[uint64][]entity.PUID
	gained   map[uint64]int // how many records of the batch came to carry the feature
	lost     map[uint64]int // how many ceased to
	further  map[uint64]int // how many carriers are read beyond those that are needed mostly
	leaders  map[uint64]entity.PUID
	names    match.Names // of the identifiers that more than a few carry
}

func newMeetings() *meetings {
	return &meetings{
		carriers: map[uint64][]entity.PUID{}, gained: map[uint64]int{}, lost: map[uint64]int{}, further: map[uint64]int{},
		leaders: map[uint64]entity.PUID{}, names: match.Names{},
	}
}

// generic tells whether more records carry a feature than may. It is a question about the
// set of records and not a flag: the answer never depends on how the set came about.
func (m *meetings) generic(feature uint64) bool {
	return len(m.carriers[feature]) > match.MostCarriers(feature)
}

// crossed tells whether the batch made a feature generic or took that from it.
func (m *meetings) crossed(feature uint64) bool {
	after := len(m.carriers[feature])
	before := after - m.gained[feature] + m.lost[feature]
	most := match.MostCarriers(feature)
	return (before > most) != (after > most)
}

// limit is how many carriers must be read to tell a crossing for certain.
func (m *meetings) limit(feature uint64) int {
	if match.IsEqual(feature) {
		return unlimited
	}
	return match.MostCarriers(feature) + 1 + m.gained[feature] + m.further[feature]
}

// post is the second round: the postings of all features, and only after they are committed the
// reading of who else carries them. So of two records that share a feature the one that posts
// second sees the first.
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
				m.leaders[e] = p // it is posted under what others share with it
			}
			w.posted = posted(w.new, leads(w.new, m.leaders))
		}
	}
	return m, b.readCarriers(ctx, b.read, m)
}

// drawnIn are the carriers of features that the batch took over a limit, or back.
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

// settled are the carriers of a feature from which nothing is left to follow.
func (b *batch) settled(m *meetings, feature uint64) []entity.PUID {
	settled := make([]entity.PUID, 0, len(m.carriers[feature]))
	for _, p := range m.carriers[feature] {
		if !b.isUndone(p) {
			settled = append(settled, p)
		}
	}
	return settled
}

// overdue are the records that a feature may have joined, or not, when what is settled was settled. A repair
// does not know what of the redo set was posted when, and does a part of it at a time. So a feature that is generic
// has become so by records of that set, unless it is by the others alone: its carriers are read on until that is
// certain. One that is not generic and that a record lost may have been. One that none lost never was.
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

// postings are what one cell is to add and to remove.
type postings struct{ add, remove []Posting }

// writePostings adds postings to the cells of the current generation, and removes them wherever they may
// lie. A cell takes them only once those that were there before it take none any more.
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

// differ finds the postings that a record gains and loses: because it says something else, or because it leads those that
// say the same, or does so no more. A repair does not know which there are: it writes and removes all.
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
		w.remove = slices.DeleteFunc(w.remove, is) // it was lost by one version and came back with a later one
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

// readCarriers reads the carriers of every feature that the batch's records are posted under or lost and that
// was not read yet. A record that follows a leader asks for no others.
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
	carriers, err := b.carriersOf(ctx, ask, limits)
	maps.Copy(m.carriers, carriers)
	return err
}

// candidates are the records that one is compared with: its leader, if it has one, or those that share a feature.
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

// union joins the carriers that cells of several generations name.
func union(a, b []entity.PUID) []entity.PUID {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return unique(slices.Concat(a, b))
}

// unique sorts and drops what stands twice.
func unique(puids []entity.PUID) []entity.PUID {
	slices.Sort(puids)
	return slices.Compact(puids)
}
