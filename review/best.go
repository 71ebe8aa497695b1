// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/resolve/derived"
)

// bestFirst returns a page in the order Best.
func (h *Handle) bestFirst(ctx context.Context, q Query) (*Page, error) {
	queue, err := h.possible(q.After)
	if err != nil {
		return nil, err
	}
	of, err := h.assignments(ctx, &q.Filter)
	if err != nil {
		return nil, err
	}
	page := &Page{Pairs: []Pair{}}
	for read := 0; ; {
		edges, err := queue.next(ctx, q.Limit)
		if err != nil {
			return nil, err
		}
		if len(edges) == 0 {
			return page, nil
		}
		pairs, err := h.pairs(ctx, edges, Best)
		if err != nil {
			return nil, err
		}
		assign(pairs, of)
		for i, pair := range pairs {
			if !q.takes(pair) {
				continue
			}
			page.Pairs = append(page.Pairs, *pair)
			if last := edges[i]; len(page.Pairs) == q.Limit {
				page.Next = nextPair(last)
				return page, nil
			}
		}
		if read += len(edges); q.Read > 0 && read >= q.Read {
			page.Next = nextPair(edges[len(edges)-1])
			return page, nil
		}
	}
}

// nextPair returns the After of the page that begins after an edge.
func nextPair(e derived.Edge) string { return fmt.Sprintf("%d %d %d", e.Weight, e.A, e.B) }
