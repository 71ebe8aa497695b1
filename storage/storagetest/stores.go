// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// all is a limit that no case reaches; first precedes every entry.
const (
	all   = 1 << 20
	first = math.MinInt64
)

func post(t tester, c Cell, add, remove []derived.Posting) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return tx.Post(ctx, add, remove) })
}

// postings returns the postings of some records under one blocking key.
func postings(key uint64, puids ...entity.PUID) []derived.Posting {
	ps := make([]derived.Posting, len(puids))
	for i, p := range puids {
		ps[i] = derived.Posting{Key: key, PUID: p}
	}
	return ps
}

func carriers(t tester, c Cell, keys []uint64, limits []int) [][]entity.PUID {
	t.Helper()
	return view(t, c, func(ctx context.Context, tx storage.Tx) ([][]entity.PUID, error) {
		return tx.RecordsByKey(ctx, keys, limits)
	})
}

// carry fails unless exactly these records carry a blocking key.
func carry(t tester, c Cell, key uint64, want ...entity.PUID) {
	t.Helper()
	same(t, fmt.Sprintf("records of %d", key), carriers(t, c, []uint64{key}, []int{all}), [][]entity.PUID{want})
}

func redo(t tester, c Cell, limit int) []derived.Redo {
	t.Helper()
	return view(t, c, func(ctx context.Context, tx storage.Tx) ([]derived.Redo, error) {
		return tx.Redo(ctx, first, limit)
	})
}

func depth(t tester, c Cell) int {
	t.Helper()
	return view(t, c, func(ctx context.Context, tx storage.Tx) (int, error) { return tx.RedoDepth(ctx) })
}

func emptyArguments(t tester, c Cell) {
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		cs, err1 := tx.RecordsByKey(ctx, nil, nil)
		es, err2 := tx.Edges(ctx, nil)
		if n := len(cs) + len(es); n > 0 {
			return fmt.Errorf("%d answers to no questions", n)
		}
		return errors.Join(err1, err2, tx.Post(ctx, nil, nil), tx.PutEdges(ctx, nil), tx.DeleteEdges(ctx, nil),
			put(ctx, tx), tx.ClearRedo(ctx, nil))
	})
}

func emptyCell(t tester, c Cell) {
	same(t, "records", carriers(t, c, []uint64{0, 1}, []int{1, 5}), [][]entity.PUID{nil, nil})
	same(t, "edges", edges(t, c, 1, -1), nil)
	same(t, "possible", unsure(t, c, derived.Edge{Weight: 500}, 5), nil)
	same(t, "redo", redo(t, c, 10), nil)
	same(t, "depth", depth(t, c), 0)
}

func carriersInOrderUpToLimits(t tester, c Cell) {
	post(t, c, append(postings(7, 30, -5, 20, 10, -40), postings(8, 1)...), nil)
	post(t, c, append(postings(7, 15), postings(9, 4, 3)...), nil)
	carry(t, c, 7, -40, -5, 10, 15, 20, 30)
	for limit, want := range [][]entity.PUID{nil, {-40}, {-40, -5}, {-40, -5, 10}} {
		got := carriers(t, c, []uint64{7, 8, 9}, []int{limit, 1, limit})
		same(t, fmt.Sprintf("records, at most %d", limit), got, [][]entity.PUID{
			want, {1}, []entity.PUID{3, 4}[:min(limit, 2)],
		})
	}
}

func carriersInTheOrderAsked(t tester, c Cell) {
	post(t, c, append(append(postings(1, 10, 11, 12), postings(2, 20)...), postings(math.MaxUint64, 30, 31)...), nil)
	got := carriers(t, c, []uint64{math.MaxUint64, 5, 1, 2, 1, 1}, []int{1, 9, 2, 9, 9, 1})
	same(t, "records", got, [][]entity.PUID{{30}, nil, {10, 11}, {20}, {10, 11, 12}, {10}})
}

func postingTwiceIsOnce(t tester, c Cell) {
	post(t, c, postings(1, 5, 6, 5), nil)
	post(t, c, postings(1, 5), nil)
	carry(t, c, 1, 5, 6)
	for range 2 {
		post(t, c, nil, postings(1, 77, 5, 5))
		carry(t, c, 1, 6)
	}
	post(t, c, postings(1, 5), postings(1, 6))
	carry(t, c, 1, 5)
	post(t, c, nil, postings(2, 5))
	carry(t, c, 1, 5)
}

func wholeRangeOfNumbers(t tester, c Cell) {
	puids := []entity.PUID{math.MinInt64, -1 << 53, -1, 1, 1<<53 + 1, math.MaxInt64}
	keys := []uint64{0, 1, 1<<53 + 1, math.MaxInt64, 1 << 63, math.MaxUint64}
	var add []derived.Posting
	for i := range keys {
		add = append(add, postings(keys[len(keys)-1-i], puids...)...)
	}
	post(t, c, add, nil)
	for _, f := range keys {
		carry(t, c, f, puids...)
	}
	carry(t, c, 2)
	carry(t, c, math.MaxUint64-1)

	var want []derived.Edge
	for i, a := range puids {
		for k, b := range puids {
			want = append(want, derived.Edge{
				A: a, B: b, Vector: vector(keys[(i+k)%len(keys)]),
				Weight: weight([]int{math.MinInt16, -1, 0, 1, math.MaxInt16}[(i+k)%5]),
			})
		}
	}
	putEdges(t, c, want...)
	same(t, "edges", edges(t, c, puids...), want)

	var entries []derived.Redo
	for i, p := range puids[1:] { // no record has the lowest number
		entries = append(entries, derived.Redo{PUID: p, Version: math.MaxInt64 - int64(i), LostKeys: keys[:i]})
	}
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return put(ctx, tx, entries...) })
	same(t, "redo", redo(t, c, all), entries)
}

// put calls PutRedo within a larger transaction.
func put(ctx context.Context, tx storage.Tx, entries ...derived.Redo) error {
	_, err := tx.PutRedo(ctx, entries)
	return err
}

// putRedo returns the result of PutRedo.
func putRedo(t tester, c Cell, entries ...derived.Redo) []derived.Redo {
	t.Helper()
	return conformance.Ask(t, c.Update, func(ctx context.Context, tx storage.Tx) ([]derived.Redo, error) {
		return tx.PutRedo(ctx, entries)
	})
}

func clearRedo(t tester, c Cell, entries ...derived.Redo) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return tx.ClearRedo(ctx, entries) })
}

// redoOfNewRecords clears entries that follow each other, as those of new records do.
func redoOfNewRecords(t tester, c Cell) {
	var entries []derived.Redo
	for p := range 9 {
		entries = append(entries, derived.Redo{PUID: entity.PUID(p), Version: 1})
	}
	entries[5].Version, entries[6].Decided = 2, 3
	putRedo(t, c, entries...)
	clearRedo(t, c, entries[8], entries[0], entries[1], entries[3], entries[4], derived.Redo{PUID: 5, Version: 1},
		derived.Redo{PUID: 6, Version: 1, Decided: 2})
	same(t, "what was not cleared", redo(t, c, all), []derived.Redo{entries[2], entries[5], entries[6], entries[7]})
	clearRedo(t, c, entries...)
	same(t, "what was not cleared", len(redo(t, c, all)), 0)
}

func redoIsASet(t tester, c Cell) {
	entries := []derived.Redo{{PUID: 5, Version: 2, LostKeys: []uint64{3, 1, 2, 1 << 63}}, {PUID: -7, Version: 1}}
	same(t, "what was put", putRedo(t, c, entries...), entries)
	putRedo(t, c, derived.Redo{PUID: 2, Version: 1 << 40, LostKeys: []uint64{9}})
	want := []derived.Redo{
		{PUID: -7, Version: 1}, {PUID: 2, Version: 1 << 40, LostKeys: []uint64{9}},
		{PUID: 5, Version: 2, LostKeys: []uint64{3, 1, 2, 1 << 63}},
	}
	same(t, "redo", redo(t, c, all), want)
	same(t, "redo, two of them", redo(t, c, 2), want[:2])
	same(t, "depth", depth(t, c), 3)
	for after, rest := range map[entity.PUID]int{-8: 0, -7: 1, 1: 1, 2: 2, 5: 3} {
		got := view(t, c, func(ctx context.Context, tx storage.Tx) ([]derived.Redo, error) {
			return tx.Redo(ctx, after, all)
		})
		same(t, fmt.Sprintf("redo after %d", after), got, want[rest:])
	}
	for range 2 {
		clearRedo(t, c, want[2], want[0], derived.Redo{PUID: 77, Version: 1}, want[2])
		same(t, "redo, cleared", redo(t, c, all), want[1:2])
		same(t, "depth", depth(t, c), 1)
	}
	clearRedo(t, c, want[1])
	same(t, "depth", depth(t, c), 0)
}

// redoKeepsWhatIsThere puts entries again before they are cleared.
func redoKeepsWhatIsThere(t tester, c Cell) {
	putRedo(t, c, derived.Redo{PUID: 5, Version: 3, LostKeys: []uint64{1, 2}}, derived.Redo{PUID: 6, Version: 1})
	got := putRedo(t, c, derived.Redo{PUID: 6, Version: 4, LostKeys: []uint64{7}}, derived.Redo{PUID: 4, Version: 1},
		derived.Redo{PUID: 5, Version: 2, LostKeys: []uint64{2, 9}})
	want := []derived.Redo{
		{PUID: 4, Version: 1}, {PUID: 5, Version: 3, LostKeys: []uint64{1, 2, 9}},
		{PUID: 6, Version: 4, LostKeys: []uint64{7}},
	}
	same(t, "what was put again", got, []derived.Redo{want[2], want[0], want[1]})
	same(t, "put again", redo(t, c, all), want)
	got = putRedo(t, c, derived.Redo{PUID: 5, Version: 4}, derived.Redo{PUID: 6, Version: 4, LostKeys: []uint64{8}},
		derived.Redo{PUID: 5, Version: 5, LostKeys: []uint64{4}})
	want = []derived.Redo{
		{PUID: 4, Version: 1}, {PUID: 5, Version: 5, LostKeys: []uint64{1, 2, 9, 4}},
		{PUID: 6, Version: 4, LostKeys: []uint64{7, 8}},
	}
	same(t, "what was put twice in a batch", got, []derived.Redo{want[1], want[2], want[1]})
	same(t, "twice in a batch", redo(t, c, all), want)

	putRedo(t, c, derived.Redo{PUID: 7, Version: 1, Decided: 30})
	got = putRedo(t, c, derived.Redo{PUID: 7, Version: 2, Decided: 20})
	want = append(want, derived.Redo{PUID: 7, Version: 2, Decided: 30})
	same(t, "what was decided about before", got, want[3:])
	clearRedo(t, c, derived.Redo{PUID: 7, Version: 9, Decided: 29}, derived.Redo{PUID: 7, Version: 1, Decided: 31},
		derived.Redo{PUID: 7, Version: 2})
	same(t, "decided about later", redo(t, c, all), want)
	clearRedo(t, c, want[3])
	want = want[:3]

	clearRedo(t, c, derived.Redo{PUID: 5, Version: 4}, derived.Redo{PUID: 6, Version: 3}, want[0])
	same(t, "cleared at older versions", redo(t, c, all), want[1:])
	clearRedo(t, c, derived.Redo{PUID: 5, Version: 5}, derived.Redo{PUID: 6, Version: 9})
	same(t, "cleared", redo(t, c, all), nil)
}

func thousandItems(t tester, c Cell) {
	const n = 1000
	var add []derived.Posting
	var es []derived.Edge
	var entries []derived.Redo
	var puids []entity.PUID
	var keys []uint64
	var limits []int
	var wantBlocks [][]entity.PUID
	for i := range n {
		f, p := uint64(i)*0x9e3779b97f4a7c15, entity.PUID(i-n/2)
		add = append(add, postings(f, p+1, p)...)
		keys, limits, wantBlocks = append(keys, f), append(limits, 1+i%2), append(wantBlocks, []entity.PUID{p, p + 1}[:1+i%2])
		es, puids = append(es, edge(p, 1)), append(puids, p)
		entries = append(entries, derived.Redo{PUID: p, Version: int64(i + 1), LostKeys: []uint64{f}})
	}
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		return errors.Join(tx.Post(ctx, add, nil), tx.PutEdges(ctx, es), put(ctx, tx, entries...))
	})
	same(t, "records", carriers(t, c, keys, limits), wantBlocks)
	same(t, "edges", edges(t, c, puids...), es)
	same(t, "redo", redo(t, c, all), entries)
	same(t, "depth", depth(t, c), n)
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		pairs := make([]derived.Pair, n)
		for i, e := range es {
			pairs[i] = derived.Pair{A: e.A, B: e.B}
		}
		return errors.Join(tx.Post(ctx, nil, add), tx.DeleteEdges(ctx, pairs), tx.ClearRedo(ctx, entries))
	})
	same(t, "records of the first", carriers(t, c, keys[:1], limits[:1]), [][]entity.PUID{nil})
	same(t, "edges", edges(t, c, puids...), nil)
	same(t, "depth", depth(t, c), 0)
}
