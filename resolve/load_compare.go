// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/locus-db/locus/match"
)

// loadPair is the places of two records that share a key, the lower one in the upper half.
type loadPair uint64

func (p loadPair) a() uint32 { return uint32(p >> 32) }
func (p loadPair) b() uint32 { return uint32(p) } //nolint:gosec // the lower half

func (p loadPair) append(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, uint64(p)) }

func (loadPair) read(b []byte) loadPair { return loadPair(binary.LittleEndian.Uint64(b)) }

// compare compares every pair of records that share a blocking key, without stop keys, and joins the components of
// pairs that match.
func (l *loader) compare(ctx context.Context) (err error) {
	matchers := map[*Kind]*match.Matcher{}
	for _, k := range l.Rules().Kinds() {
		matchers[k] = k.Matcher.Among(l.names)
	}
	records := len(l.puids)
	passes := l.pairs/l.loads.pairs + 1
	found, err := newBuckets[loadPair](passes, l.loads.chunk)
	if err != nil {
		return err
	}
	defer found.close()
	if err := l.find(ctx, found); err != nil {
		return err
	}
	l.shards.close()
	if l.edges, err = newBuckets[loadEdge](len(l.parts), l.loads.chunk); err != nil {
		return err
	}
	l.groups = newLoadForest(records)
	l.at = make([]uint32, records)
	for batch := range l.batches(found) {
		if batch.err != nil {
			return batch.err
		}
		if err := l.link(batch.pairs, batch.numbers, matchers); err != nil {
			return err
		}
		if err := cmp.Or(ctx.Err(), l.done(ctx, LoadCompare, batch.done-l.steps[LoadCompare], records)); err != nil {
			return err
		}
	}
	l.order, l.places, l.at, l.norms = nil, nil, nil, nil
	if l.part != nil {
		if err := l.part.keepEdges(); err != nil {
			return err
		}
	}
	l.joinDecided()
	return l.components()
}

// place orders the records so that most of those that are compared with each other are close together. A record is then
// decoded once or twice, however many others it is compared with. Records that share a rare key are joined first, into
// groups that fit into memory.
func (l *loader) place(ctx context.Context) error {
	groups, size := newLoadForest(len(l.puids)), make([]uint32, len(l.puids))
	for i := range size {
		size[i] = 1
	}
	for most := 2; most <= 64; most *= 2 {
		for i := range l.shards.all {
			s, err := l.shard(ctx, i)
			if err != nil {
				return err
			}
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
	place := uint32(0)
	for i := range groups { // the size of each group gives way to the place of its next record
		if groups[i] == uint32(i) { //nolint:gosec // read refuses more
			place, size[i] = place+size[i], place
		}
	}
	l.order, l.places = make([]uint32, len(l.puids)), make([]uint32, len(l.puids))
	for i := range groups {
		rec := uint32(i) //nolint:gosec // as above
		first := groups.root(rec)
		l.order[size[first]], l.places[rec] = rec, size[first]
		size[first]++
	}
	return nil
}

// pairs returns how many pairs of a block are compared: each follower with its leader, or every record with every
// other.
func (k loadBlock) pairs() int {
	switch {
	case k.stopKey():
		return 0
	case match.IsEqual(k[0].key):
		return len(k) - 1
	}
	return len(k) * (len(k) - 1) / 2
}

// find adds all pairs to buckets by the lower place.
func (l *loader) find(ctx context.Context, pairs *buckets[loadPair]) error {
	records, passes := len(l.puids), len(pairs.all)
	return l.eachShard(ctx, func(_ int, s loadShard) error {
		found := make([][]loadPair, passes)
		s.blocks(func(k loadBlock) {
			if len(k) < 2 || k.stopKey() {
				return
			}
			firsts := k
			if match.IsEqual(k[0].key) {
				firsts = k[:1]
			}
			for n, p := range firsts {
				for _, q := range k[n+1:] {
					if l.part != nil && !l.part.renewed[p.rec] && !l.part.renewed[q.rec] {
						continue
					}
					a, b := l.places[p.rec], l.places[q.rec]
					a, b = min(a, b), max(a, b)
					pass := int(a) * passes / records
					found[pass] = append(found[pass], loadPair(a)<<32|loadPair(b))
				}
			}
		})
		for pass, some := range found {
			if err := pairs.add(pass, some...); err != nil {
				return err
			}
		}
		return nil
	})
}

// loadBatch is pairs whose records fit into memory together.
type loadBatch struct {
	pairs   []loadPair
	numbers []uint32 // of their records, in ascending order
	done    int      // how many places have no pairs after these
	err     error
}

// batches returns all pairs, each once, ordered by place. They are sorted while those before them are compared.
func (l *loader) batches(found *buckets[loadPair]) iter.Seq[loadBatch] {
	return ahead(func(yield func(loadBatch) bool) {
		records, passes := len(l.puids), len(found.all)
		seen := make([]bool, records)
		for pass := range passes {
			pairs, err := found.rows(pass)
			if err != nil {
				yield(loadBatch{err: err})
				return
			}
			slices.Sort(pairs)
			pairs = slices.Compact(pairs)
			for len(pairs) > 0 {
				n, numbers := l.together(pairs, seen)
				batch := loadBatch{pairs: pairs[:n], numbers: numbers, done: records * (pass + 1) / passes}
				if pairs = pairs[n:]; len(pairs) > 0 {
					batch.done = int(pairs[0].a())
				}
				if !yield(batch) {
					return
				}
			}
		}
	})
}

// together returns how many of the first pairs, at least one, have records that fit into memory together, and the
// numbers of these records. It needs a flag for each record.
func (l *loader) together(pairs []loadPair, seen []bool) (n int, numbers []uint32) {
	for n < len(pairs) && len(numbers) < l.loads.nodes {
		for _, place := range [...]uint32{pairs[n].a(), pairs[n].b()} {
			if rec := l.order[place]; !seen[rec] {
				seen[rec], numbers = true, append(numbers, rec)
			}
		}
		n++
	}
	slices.Sort(numbers)
	for _, rec := range numbers {
		seen[rec] = false
	}
	return n, numbers
}

// link compares pairs of records with the numbers.
func (l *loader) link(pairs []loadPair, numbers []uint32, matchers map[*Kind]*match.Matcher) error {
	numbers, read, err := l.compared(numbers)
	if err != nil {
		return err
	}
	for i, rec := range numbers {
		l.at[rec] = uint32(i + 1) //nolint:gosec // there are fewer
	}
	defer func() {
		for _, rec := range numbers {
			l.at[rec] = 0
		}
	}()
	const atOnce = 256
	found := make([][]loadEdge, len(pairs)/atOnce+1)
	parallel(len(found), func(i int) {
		for _, p := range pairs[i*atOnce : min((i+1)*atOnce, len(pairs))] {
			a, b := l.order[p.a()], l.order[p.b()]
			if l.at[a] == 0 || l.at[b] == 0 { // deleted since
				continue
			}
			n, m := &read[l.at[a]-1], &read[l.at[b]-1]
			if n.kind != m.kind {
				continue
			}
			if v, weight, linked := matchers[n.kind].Link(n.norm, m.norm); linked {
				found[i] = append(found[i], loadEdge{a, b, v, weight}, loadEdge{b, a, v, weight})
			}
		}
	})
	for _, edges := range found {
		l.linked += len(edges)
		for _, e := range edges {
			if l.part != nil {
				l.part.linked[e.a] = true
			}
			if e.weight >= match.Threshold {
				l.join(e.a, e.b)
			}
			if err := l.edges.add(l.partOf(e.a), e); err != nil {
				return err
			}
		}
	}
	return nil
}
