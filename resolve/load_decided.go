// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/storage"
)

// readDecisions reads the decisions that are not withdrawn.
func (l *loader) readDecisions(ctx context.Context) error {
	for _, id := range l.inOrder() {
		lo, _ := l.opts.Cells.Map().PuidRange(id)
		for after, more := (entity.DecisionKey{A: entity.PUID(lo)}), true; more; {
			var page []entity.Decision
			if err := l.Resolver.read(ctx, id, func(tx storage.Tx) (err error) {
				page, err = tx.ListDecisions(ctx, after, l.loads.page)
				return err
			}); err != nil {
				return fmt.Errorf("cell %v: read decisions: %w", id, err)
			}
			for _, d := range page {
				if after = d.Key(); !d.Withdrawn {
					l.decided[d.A] = append(l.decided[d.A], d)
				}
			}
			more = len(page) == l.loads.page
		}
	}
	return nil
}

// joinDecided joins the components of records that a decision says are the same. Whether both are of one kind is
// checked later.
func (l *loader) joinDecided() {
	for q, decisions := range l.decided {
		a, lives := slices.BinarySearch(l.puids, q)
		for _, d := range decisions {
			if b, there := slices.BinarySearch(l.puids, d.B); lives && there && d.Verdict == entity.VerdictSame {
				l.join(uint32(a), uint32(b)) //nolint:gosec // read refuses more
			}
		}
	}
}

// decidedEdges returns the edges that decisions about a record make inside of its component, by the index of the other
// record.
func (l *loader) decidedEdges(i int, nodes []*node, index map[uint32]int) map[int]match.Edge {
	var found map[int]match.Edge
	for _, d := range l.decided[nodes[i].PUID] {
		b, there := slices.BinarySearch(l.puids, d.B)
		j, near := index[uint32(b)] //nolint:gosec // read refuses more
		if !d.Pair() || !there || !near || nodes[j].kind != nodes[i].kind {
			continue
		}
		if found == nil {
			found = map[int]match.Edge{}
		}
		e, at := decidedEdge(d)
		found[j] = match.Edge{A: i, B: j, Weight: e.Weight, Decided: at}
	}
	return found
}
