// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/match"
)

// loadPair is the places of two records that share a key, the lower one in the upper half.
type loadPair uint64

func (p loadPair) a() uint32 { return uint32(p >> 32) }
func (p loadPair) b() uint32 { return uint32(p) } //nolint:gosec // the lower half

// compare compares every pair that shares a key that is no stop key, and joins the components of those that match.
func (l *loader) compare(ctx context.Context) error {
	matchers := map[*Kind]*match.Matcher{}
	for _, k := range l.Rules().Kinds() {
		matchers[k] = k.Matcher.Among(l.names)
	}
	l.place()
	total, records := 0, len(l.puids)
	for _, s := range l.shards {
		s.blocks(func(k loadBlock) { total += k.pairs() })
	}
	passes := total/l.loads.pairs + 1
	for pass := range passes {
		from, to := records*pass/passes, records*(pass+1)/passes
		pairs := l.pairs(from, to)
		for len(pairs) > 0 {
			n, places := l.within(pairs)
			if err := l.link(pairs[:n], places, matchers); err != nil {
				return err
			}
			pairs = pairs[n:]
			if err := ctx.Err(); err != nil {
				return err
			}
			upTo := to
			if len(pairs) > 0 {
				upTo = int(pairs[0].a())
			}
			if err := l.done(ctx, LoadCompare, upTo-l.steps[LoadCompare], records); err != nil {
				return err
			}
		}
	}
	l.shards, l.order, l.places = [256]loadShard{}, nil, nil
	slices.SortFunc(l.edges, func(x, y loadEdge) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	l.components()
	return nil
}

// place orders the records so that most of those that are compared with each other are near each other: a record is then
// decoded once or twice, however many there are. Records that share a rare key are joined first, to groups that fit into
// memory.
func (l *loader) place() {
	groups, size := newLoadForest(len(l.puids)), make([]int32, len(l.puids))
	for i := range size {
		size[i] = 1
	}
	for most := 2; most <= 64; most *= 2 {
		for _, s := range l.shards {
			s.blocks(func(k loadBlock) {
				if len(k) > most || len(k) <= most/2 || k.stopKey() {
					return
				}
				for _, p := range k[1:] {
					if x, y := groups.root(k[0].rec), groups.root(p.rec); x != y && int(size[x]+size[y]) <= l.loads.nodes/4 {
						groups[y], size[x] = x, size[x]+size[y]
					}
				}
			})
		}
	}
	l.order, l.places = make([]uint32, len(l.puids)), make([]uint32, len(l.puids))
	for i := range l.order {
		l.order[i] = uint32(i) //nolint:gosec // read refuses more
	}
	slices.SortFunc(l.order, func(a, b uint32) int { return cmp.Or(cmp.Compare(groups.root(a), groups.root(b)), cmp.Compare(a, b)) })
	for i, rec := range l.order {
		l.places[rec] = uint32(i) //nolint:gosec // as above
	}
}

// pairs returns how many pairs of a block are compared: each follower with its leader, or all with each other.
func (k loadBlock) pairs() int {
	switch {
	case k.stopKey():
		return 0
	case match.IsEqual(k[0].key):
		return len(k) - 1
	}
	return len(k) * (len(k) - 1) / 2
}

// pairs returns the pairs whose lower record has a place from from to to, each once and ordered.
func (l *loader) pairs(from, to int) []loadPair {
	found := make([][]loadPair, len(l.shards))
	parallel(len(l.shards), func(i int) {
		l.shards[i].blocks(func(k loadBlock) {
			if len(k) < 2 || k.stopKey() {
				return
			}
			firsts := k
			if match.IsEqual(k[0].key) {
				firsts = k[:1]
			}
			for n, p := range firsts {
				for _, q := range k[n+1:] {
					a, b := l.places[p.rec], l.places[q.rec]
					if a, b = min(a, b), max(a, b); int(a) >= from && int(a) < to {
						found[i] = append(found[i], loadPair(a)<<32|loadPair(b))
					}
				}
			}
		})
	})
	all := slices.Concat(found...)
	slices.Sort(all)
	return slices.Compact(all)
}

// within returns for how many of the pairs, at least one, the records fit into memory, and their places.
func (l *loader) within(pairs []loadPair) (int, map[uint32]struct{}) {
	places := map[uint32]struct{}{}
	for i, p := range pairs {
		if len(places) >= l.loads.nodes {
			return i, places
		}
		places[p.a()], places[p.b()] = struct{}{}, struct{}{}
	}
	return len(pairs), places
}

// link compares pairs.
func (l *loader) link(pairs []loadPair, places map[uint32]struct{}, matchers map[*Kind]*match.Matcher) error {
	numbers := make([]uint32, 0, len(places))
	for at := range places {
		numbers = append(numbers, l.order[at])
	}
	read, err := l.nodes(numbers, true)
	if err != nil {
		return err
	}
	const atOnce = 256
	found := make([][]loadEdge, len(pairs)/atOnce+1)
	parallel(len(found), func(i int) {
		for _, p := range pairs[i*atOnce : min((i+1)*atOnce, len(pairs))] {
			a, b := l.order[p.a()], l.order[p.b()]
			n, m := read[a], read[b]
			if n.kind != m.kind {
				continue
			}
			if v, weight, linked := matchers[n.kind].Link(n.norm, m.norm); linked {
				found[i] = append(found[i], loadEdge{a, b, v, weight}, loadEdge{b, a, v, weight})
			}
		}
	})
	for _, edges := range found {
		l.edges = append(l.edges, edges...)
	}
	return nil
}
