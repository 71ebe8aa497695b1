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
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// candidateSet are the candidates of a batch: the records of every blocking key of its records.
type candidateSet struct {
	carriers   map[uint64][]entity.PUID
	gained     map[uint64]int // number of records of the batch that gained the blocking key
	lost       map[uint64]int // number of records that lost it
	extraLimit map[uint64]int // number of records to read beyond the usual limit
	leaders    map[uint64]entity.PUID
	names      match.Names // counted names of identifiers with more than a few records
}

func newCandidateSet() *candidateSet {
	return &candidateSet{
		carriers: map[uint64][]entity.PUID{}, gained: map[uint64]int{}, lost: map[uint64]int{}, extraLimit: map[uint64]int{},
		leaders: map[uint64]entity.PUID{}, names: match.Names{},
	}
}

// stopKey reports whether a blocking key has too many records (a stop key). That depends on the current set of
// records only and never on its history.
func (m *candidateSet) stopKey(key uint64) bool {
	return len(m.carriers[key]) > match.BlockLimit(key)
}

// crossedBlockLimit reports whether the batch made a blocking key a stop key, or made it one no longer.
func (m *candidateSet) crossedBlockLimit(key uint64) bool {
	after := len(m.carriers[key])
	before := after - m.gained[key] + m.lost[key]
	most := match.BlockLimit(key)
	return (before > most) != (after > most)
}

// limit returns how many records must be read to detect a crossing reliably.
func (m *candidateSet) limit(key uint64) int {
	if match.IsEqual(key) {
		return unlimited
	}
	return match.BlockLimit(key) + 1 + m.gained[key] + m.extraLimit[key]
}

// candidates is the second round. It commits the postings of all blocking keys before it reads their records, so that
// of two records that share a blocking key the one that posts second sees the first.
func (b *batch) candidates(ctx context.Context) (*candidateSet, error) {
	m := newCandidateSet()
	if err := b.lead(ctx); err != nil {
		return nil, err
	}
	m.leaders = b.leaders.after
	if err := b.writePostings(ctx, m); err != nil {
		return nil, err
	}
	if err := b.readBlocks(ctx, b.read, m); err != nil {
		return nil, err
	}
	drawn, err := b.affectedByStopKeys(ctx, m)
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
				m.leaders[e] = p // it is posted under the shared blocking key
			}
			w.posted = posted(w.new, leads(w.new, m.leaders))
		}
	}
	return m, b.readBlocks(ctx, b.read, m)
}

// affectedByStopKeys returns the records of blocking keys that the batch made stop keys or no longer, or whose weight it changed.
func (b *batch) affectedByStopKeys(ctx context.Context, m *candidateSet) (drawn []entity.PUID, err error) {
	if b.repair {
		if drawn, err = b.staleCandidates(ctx, m); err != nil {
			return nil, err
		}
	} else {
		for f, carriers := range m.carriers {
			if m.crossedBlockLimit(f) {
				drawn = append(drawn, carriers...)
			}
		}
	}
	renamed, err := b.renamed(ctx, m)
	return append(drawn, renamed...), err
}

// settled returns the records of a blocking key that are not in the redo set.
func (b *batch) settled(m *candidateSet, key uint64) []entity.PUID {
	settled := make([]entity.PUID, 0, len(m.carriers[key]))
	for _, p := range m.carriers[key] {
		if !b.isUndone(p) {
			settled = append(settled, p)
		}
	}
	return settled
}

// staleCandidates returns records whose edges through a blocking key may be outdated. A repair works off part of the
// redo set at a time and does not know which of its records were posted when. If a blocking key is a stop key only
// because of records in the redo set, it may have been specific before: records are read until that is
// certain. A blocking key that is no stop key may have been if a record lost it, and cannot have been otherwise.
func (b *batch) staleCandidates(ctx context.Context, m *candidateSet) ([]entity.PUID, error) {
	for {
		var drawn []entity.PUID
		certain := true
		for f, carriers := range m.carriers {
			if !m.stopKey(f) {
				if m.lost[f] > 0 && !match.IsEqual(f) {
					drawn = append(drawn, carriers...)
				}
				continue
			}
			switch settled := b.settled(m, f); {
			case len(settled) > match.BlockLimit(f):
			case len(carriers) >= m.limit(f):
				m.extraLimit[f] += 3 * len(carriers)
				delete(m.carriers, f)
				certain = false
			default:
				drawn = append(drawn, settled...)
			}
		}
		if certain {
			return drawn, nil
		}
		if err := b.readBlocks(ctx, b.read, m); err != nil {
			return nil, err
		}
	}
}

type postings struct{ add, remove []derived.Posting }

// writePostings adds postings to the cells of the current generation and removes them wherever they may be.
// A cell takes new postings only once the older cells are sealed.
func (b *batch) writePostings(ctx context.Context, m *candidateSet) error {
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
			g := at(b.keyCell(f))
			g.add = append(g.add, derived.Posting{Key: f, PUID: p})
			positions = append(positions, cell.Position(f))
		}
		for _, f := range w.remove {
			for _, id := range b.keyCells(f) {
				g := at(id)
				g.remove = append(g.remove, derived.Posting{Key: f, PUID: p})
			}
		}
	}
	if err := b.dir.SealOlder(ctx, positions); err != nil {
		return fmt.Errorf("seal older cells: %w", err)
	}
	return eachCell(groups, func(id cell.ID, g *postings) error {
		return b.write(ctx, id, func(tx storage.Tx) error {
			if len(g.add) > 0 {
				if err := b.dir.Gate(ctx, tx, b.opts.Cells.Map(), id); err != nil {
					return err
				}
			}
			if err := tx.Post(ctx, g.add, g.remove); err != nil {
				return fmt.Errorf("post blocking keys: %w", err)
			}
			return nil
		})
	})
}

// differ finds the postings that a record gains and loses because its content or its leadership changed. A
// repair does not know the former state: it writes and removes all.
func (b *batch) differ(w *write, m *candidateSet) {
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

// readBlocks reads the records of every blocking key that records of the batch are posted under or lost,
// unless they were read already. A follower only needs its leader.
func (b *batch) readBlocks(ctx context.Context, ask asking, m *candidateSet) error {
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
	carriers, err := b.blockOf(ctx, ask, limits)
	maps.Copy(m.carriers, carriers)
	return err
}

// candidates returns the records to compare with: the leader of a follower, otherwise all that share a
// blocking key.
func (m *candidateSet) candidates(n *node, keys []uint64) []entity.PUID {
	if !leads(n, m.leaders) {
		return []entity.PUID{m.leaders[n.equal()]}
	}
	var c []entity.PUID
	for _, f := range keys {
		if !m.stopKey(f) {
			c = append(c, m.carriers[f]...)
		}
	}
	return slices.DeleteFunc(unique(c), func(q entity.PUID) bool { return q == n.PUID })
}

// union merges the records found in cells of several generations.
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
