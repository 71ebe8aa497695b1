// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/mutant"
)

// meetings are the candidates of a batch: for every feature of its records, who carries it.
type meetings struct {
	carriers map[uint64][]entity.PUID
	gained   map[uint64]int // how many records of the batch came to carry the feature
	lost     map[uint64]int // how many ceased to
}

// generic tells whether more than MaxCarriers records carry a feature. It is a question about the
// set of records and not a flag: the answer never depends on how the set came about.
func (m *meetings) generic(feature uint64) bool { return len(m.carriers[feature]) > MaxCarriers }

// crossed tells whether the batch made a feature generic or took that from it.
func (m *meetings) crossed(feature uint64) bool {
	after := len(m.carriers[feature])
	before := after - m.gained[feature] + m.lost[feature]
	return (before > MaxCarriers) != (after > MaxCarriers)
}

// limit is how many carriers must be read to tell a crossing for certain.
func (m *meetings) limit(feature uint64) int { return MaxCarriers + 1 + m.gained[feature] }

// post is the second round: the postings of all features, and only after they are committed the
// reading of who else carries them. So of two records that share a feature the one that posts
// second sees the first.
func (b *batch) post(ctx context.Context) (*meetings, error) {
	m := &meetings{carriers: map[uint64][]entity.PUID{}, gained: map[uint64]int{}, lost: map[uint64]int{}}
	if err := b.writePostings(ctx, m); err != nil {
		return nil, err
	}
	if err := b.readCarriers(ctx, m); err != nil {
		return nil, err
	}
	var drawn []entity.PUID
	for f, carriers := range m.carriers {
		touched := m.gained[f]+m.lost[f] > 0
		crossed := touched && m.crossed(f) && !mutant.On("P9a")
		if crossed || b.repair && touched && !m.generic(f) && !mutant.On("P9d") {
			drawn = append(drawn, carriers...)
		}
	}
	if len(drawn) == 0 {
		return m, nil
	}
	drawn = unique(drawn)
	if err := b.load(ctx, b.nodes, drawn); err != nil {
		return nil, err
	}
	for _, p := range drawn {
		if n := b.nodes[p]; b.writes[p] == nil && n != nil && n.norm != nil {
			b.writes[p] = &write{puid: p, old: n, new: n}
		}
	}
	return m, b.readCarriers(ctx, m)
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
		if w.new != nil {
			for _, f := range w.new.norm.Features() {
				if w.old.carries(f.Hash) {
					continue
				}
				m.gained[f.Hash]++
				g := at(b.featureCell(f.Hash))
				g.add = append(g.add, Posting{f.Hash, p})
				positions = append(positions, cell.Position(f.Hash))
			}
		}
		for _, f := range w.lost {
			if w.new.carries(f) && !mutant.On("P9t") {
				continue // it was lost by one version and came back with a later one
			}
			m.lost[f]++
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

// readCarriers reads the carriers of every feature that the batch's records carry or lost and that
// was not read yet.
func (b *batch) readCarriers(ctx context.Context, m *meetings) error {
	groups := map[cell.ID][]uint64{}
	want := func(f uint64) {
		if _, read := m.carriers[f]; !read {
			m.carriers[f] = nil
			for _, id := range b.featureCells(f) {
				groups[id] = append(groups[id], f)
			}
		}
	}
	for _, w := range b.writes {
		if w.new != nil {
			for _, f := range w.new.norm.Features() {
				want(f.Hash)
			}
		}
		for _, f := range w.lost {
			want(f)
		}
	}
	var mu sync.Mutex
	return eachCell(groups, func(id cell.ID, features []uint64) error {
		slices.Sort(features)
		limits := make([]int, len(features))
		for i, f := range features {
			limits[i] = m.limit(f)
		}
		var carriers [][]entity.PUID
		if err := b.read(ctx, id, func(tx Tx) (err error) {
			carriers, err = tx.Carriers(ctx, features, limits)
			return err
		}); err != nil {
			return fmt.Errorf("read carriers: %w", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, f := range features {
			m.carriers[f] = union(m.carriers[f], carriers[i])
		}
		return nil
	})
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
