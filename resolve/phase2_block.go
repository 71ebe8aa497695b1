// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// candidateSet are the candidates of a batch: the records of every blocking key of its records.
type candidateSet struct {
	carriers   map[uint64][]entity.PUID
	gained     map[uint64][]entity.PUID // records of the batch that gain a posting under the blocking key
	removed    map[uint64][]entity.PUID // records that lose it, if it is there
	lost       map[uint64]int           // number of records that lost the blocking key
	extraLimit map[uint64]int           // number of records to read beyond the usual limit
	leaders    map[uint64]entity.PUID
	names      match.Names // the number of names of identifiers that more than a few records carry
}

// newCandidateSet returns an empty set for about so many blocking keys.
func newCandidateSet(keys int) *candidateSet {
	return &candidateSet{
		carriers: make(map[uint64][]entity.PUID, keys), gained: make(map[uint64][]entity.PUID, keys),
		removed: map[uint64][]entity.PUID{}, lost: map[uint64]int{}, extraLimit: map[uint64]int{},
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
	before := after - len(m.gained[key]) + m.lost[key]
	most := match.BlockLimit(key)
	return (before > most) != (after > most)
}

// limit returns how many records must be read to detect a crossing reliably.
func (m *candidateSet) limit(key uint64) int {
	if match.IsEqual(key) {
		return unlimited
	}
	return match.BlockLimit(key) + 1 + len(m.gained[key]) + m.extraLimit[key]
}

// candidates is the second round. It reads the records of all blocking keys in the state after the third round has
// written the batch's postings. Under the lease no other process posts in between.
func (b *batch) candidates(ctx context.Context) (*candidateSet, error) {
	keys := 0
	for _, w := range b.writes {
		if w.new != nil && w.new.norm != nil {
			keys += len(w.new.norm.BlockingKeys())
		}
	}
	m := newCandidateSet(keys)
	if b.peek == nil { // the peek has read for all of its batches
		if err := b.foresee(ctx, keys); err != nil {
			return nil, err
		}
	}
	if err := b.lead(ctx); err != nil {
		return nil, err
	}
	m.leaders = b.leaders.after
	for _, w := range b.writes {
		b.differ(w, m)
	}
	if err := b.readBlocks(ctx, b.stored, m, b.writes); err != nil {
		return nil, err
	}
	if b.recalls() {
		if err := b.readCandidates(ctx, m); err != nil {
			return nil, err
		}
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
	further := map[entity.PUID]*write{}
	for _, p := range drawn {
		if w := b.writes[p]; w != nil && w.new != nil && w.posted == nil {
			if e := w.new.equal(); e != 0 && m.leaders[e] == 0 {
				m.leaders[e] = p // it is posted under the shared blocking key
			}
			w.posted, further[p] = posted(w.new, leads(w.new, m.leaders)), w
		}
	}
	return m, b.readBlocks(ctx, b.stored, m, further)
}

// affectedByStopKeys returns the records of blocking keys that the batch made stop keys or no longer, or whose weight
// it changed.
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
		if err := b.readBlocks(ctx, b.stored, m, b.writes); err != nil {
			return nil, err
		}
	}
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
