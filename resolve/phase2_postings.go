// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// postings are the postings that a cell's transaction adds and removes.
type postings struct{ add, remove []derived.Posting }

// differ finds the postings that a record gains and loses because its content changed or it became or ceased to be a
// leader. A repair does not know the former state: it writes and removes all.
func (b *batch) differ(w *write, m *candidateSet) {
	if w.new != nil {
		w.posted = posted(w.new, leads(w.new, b.leaders.after))
	}
	is := func(f uint64) bool { return slices.Contains(w.posted, f) }
	if b.repair {
		remove := slices.Clone(w.lost)
		for _, f := range posted(w.new, true) {
			if !is(f) {
				remove = append(remove, f)
			}
		}
		remove = slices.DeleteFunc(remove, is) // one version lost it and a later one has it again
		for _, f := range w.posted {
			m.gain(f, w.puid)
		}
		for _, f := range remove {
			m.remove(f, w.puid)
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
			m.gain(f, w.puid)
		}
	}
	for _, f := range was {
		if !is(f) {
			m.remove(f, w.puid)
			m.lost[f]++
		}
	}
	for _, f := range w.lost {
		if !is(f) && !slices.Contains(was, f) {
			m.remove(f, w.puid)
		}
	}
}

func (m *candidateSet) gain(key uint64, p entity.PUID)   { m.gained[key] = append(m.gained[key], p) }
func (m *candidateSet) remove(key uint64, p entity.PUID) { m.removed[key] = append(m.removed[key], p) }

// post adds to out the postings that the batch gains, in the cells of the current generation, and those that it loses,
// wherever they may be.
func (m *candidateSet) post(out *outcomes) {
	for f, puids := range m.gained {
		to := out.in(out.keyCell(f))
		for _, p := range puids {
			to.post.add = append(to.post.add, derived.Posting{Key: f, PUID: p})
		}
		out.positions = append(out.positions, cell.Position(f))
	}
	for f, puids := range m.removed {
		for _, id := range out.keyCells(f) {
			from := out.in(id)
			for _, p := range puids {
				from.post.remove = append(from.post.remove, derived.Posting{Key: f, PUID: p})
			}
		}
	}
}

// foresee reads the records of all blocking keys of the batch, about so many, at once, up to the highest limits that
// lead and readBlocks usually need.
func (b *batch) foresee(ctx context.Context, keys int) error {
	limits := make(map[uint64]int, keys)
	note := func(f uint64) {
		if limits[f] == 0 {
			limits[f] = 1
			if !match.IsEqual(f) {
				limits[f] += match.BlockLimit(f)
			}
		}
		limits[f]++ // the record may gain the key, or lose it
	}
	for _, w := range b.writes {
		for _, n := range []*node{w.old, w.new} {
			for _, f := range posted(n, true) {
				note(f)
			}
		}
		for _, f := range w.lost {
			note(f)
		}
	}
	b.blocks = make(map[uint64]block, len(limits))
	return b.readStored(ctx, limits)
}

// blocks reads records of blocking keys, up to the limit of each.
type blocks func(ctx context.Context, limits map[uint64]int) (map[uint64][]entity.PUID, error)

// stored returns the blocks before the batch. They are cached, because only the batch itself changes them.
func (b *batch) stored(ctx context.Context, limits map[uint64]int) (map[uint64][]entity.PUID, error) {
	if b.peek != nil {
		return b.peek.blockOf(ctx, limits)
	}
	if err := b.readStored(ctx, limits); err != nil {
		return nil, err
	}
	found := make(map[uint64][]entity.PUID, len(limits))
	for f, limit := range limits {
		list := b.blocks[f].records
		found[f] = list[:min(len(list), limit)]
	}
	return found, nil
}

// readStored reads the blocks that are not cached up to their limits.
func (b *batch) readStored(ctx context.Context, limits map[uint64]int) error {
	missing := limits
	if len(b.blocks) > 0 {
		missing = map[uint64]int{}
		for f, limit := range limits {
			if known, read := b.blocks[f]; !read || !known.complete(limit) {
				missing[f] = limit
			}
		}
	}
	read, err := b.blockOf(ctx, b.read, missing)
	if err != nil {
		return err
	}
	for f, limit := range missing {
		list := read[f]
		b.blocks[f] = block{list[:min(len(list), limit)], limit}
	}
	return nil
}

// readBlocks reads the records of every blocking key that these records of the batch are posted under, or that the batch
// has lost, in the state after the batch's postings are written, unless they were read already. A follower only needs
// its leader.
func (b *batch) readBlocks(ctx context.Context, stored blocks, m *candidateSet, of map[entity.PUID]*write) error {
	asked := make(map[uint64]int, len(m.gained))
	want := func(f uint64) {
		if _, read := m.carriers[f]; !read {
			asked[f] = m.limit(f) + len(m.removed[f]) // without the removed records as many remain
		}
	}
	for p, w := range of {
		for _, f := range w.posted {
			if !match.IsEqual(f) || m.leaders[f] == p {
				want(f)
			}
		}
	}
	for f := range m.removed {
		if !match.IsEqual(f) {
			want(f)
		}
	}
	found, err := stored(ctx, asked)
	if err != nil {
		return err
	}
	for f, limit := range asked {
		list, gone := found[f], m.removed[f]
		if len(gone) > 0 {
			slices.Sort(gone)
			list = slices.DeleteFunc(slices.Clone(list), func(p entity.PUID) bool {
				_, is := slices.BinarySearch(gone, p)
				return is
			})
		}
		gained := m.gained[f]
		slices.Sort(gained)
		list = union(list, gained)
		m.carriers[f] = list[:min(len(list), limit-len(gone))]
	}
	return nil
}
