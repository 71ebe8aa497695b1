// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// mostSecond is how many answered pairs are drawn for the order Second.
const mostSecond = 1000

// answered returns the pairs for a second opinion: pairs that exactly one other person has answered, and the viewer has
// not.
func (h *Handle) answered(ctx context.Context, viewer string) (all []question, err error) {
	err = h.decisions.EachPair(ctx, func(d *entity.Decision) {
		said := d.Answers()
		if d.Withdrawn || len(said) != 1 || said[0].Author == viewer || d.ByAgent() {
			return
		}
		p := derived.PairOf(d.A, d.B)
		f := fnv.New64a()
		_ = binary.Write(f, binary.BigEndian, [2]int64{int64(p.A), int64(p.B)})
		all = append(all, question{place: int64(f.Sum64() >> 1), edge: derived.Edge{A: p.A, B: p.B}})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b question) int { return a.compare(b.place, b.edge.A, b.edge.B) })
	all = all[:min(len(all), mostSecond)]
	var puids []entity.PUID
	for _, one := range all {
		puids = append(puids, one.edge.A)
	}
	slices.Sort(puids)
	var edges []derived.Edge
	if err := h.engine.Retry(ctx, func() (err error) {
		edges, err = h.engine.Resolver.EdgesOf(ctx, slices.Compact(puids))
		return err
	}); err != nil {
		return nil, err
	}
	at := map[derived.Pair]derived.Edge{}
	for _, e := range edges {
		at[derived.Pair{A: e.A, B: e.B}] = e
	}
	var compared []question // a pair that was never compared has nothing to show
	for _, one := range all {
		if e, is := at[derived.Pair{A: one.edge.A, B: one.edge.B}]; is {
			one.edge = e
			compared = append(compared, one)
		}
	}
	return compared, nil
}
