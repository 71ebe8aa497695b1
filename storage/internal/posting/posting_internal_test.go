// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"
	"weak"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve/derived"
)

// memory is the rows of a cell.
type memory struct {
	state   Row
	chunks  map[int64]Row
	reads   int // statements that read chunks
	written int // bytes of chunks
}

func newMemory() *memory {
	return &memory{state: Row{ID: 1, Sum: SumOf(1, []byte{}), Body: []byte{}}, chunks: map[int64]Row{}}
}

func (m *memory) clone() *memory { return &memory{state: m.state, chunks: maps.Clone(m.chunks)} }

func (m *memory) State(context.Context, bool) (Row, error)    { return m.state, nil }
func (m *memory) PutState(_ context.Context, state Row) error { m.state = state; return nil }
func (m *memory) Clear(context.Context) error                 { clear(m.chunks); return nil }

// distant is memory that is read as over a network.
type distant struct{ *memory }

func (d distant) StateAhead(ctx context.Context, _ bool, ids []int64) (state Row, chunks []Row, err error) {
	chunks, _ = d.memory.Chunks(ctx, ids)
	d.reads--
	return d.state, chunks, nil
}

func (m *memory) Chunks(_ context.Context, ids []int64) (rows []Row, err error) {
	m.reads++
	for _, id := range ids {
		if row, is := m.chunks[id]; is {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (m *memory) PutChunks(_ context.Context, rows []Row) error {
	for _, row := range rows {
		if _, is := m.chunks[row.ID]; is {
			return errors.New("a row is written twice")
		}
		if len(row.Body) > chunkSize && row.ID&partBit == 0 {
			return errors.New("a chunk is too long")
		}
		m.written += len(row.Body)
		m.chunks[row.ID] = row
	}
	return nil
}

func (m *memory) DropChunks(_ context.Context, ids []int64) error {
	for _, id := range ids {
		if _, is := m.chunks[id]; !is {
			return errors.New("a row is dropped twice")
		}
		delete(m.chunks, id)
	}
	return nil
}

// model is the postings as a map.
type model map[derived.Posting]bool

func (m model) post(add, remove []derived.Posting) {
	for _, p := range add {
		m[p] = true
	}
	for _, p := range remove {
		delete(m, p)
	}
}

func (m model) sorted() []derived.Posting {
	return slices.SortedFunc(maps.Keys(m), func(a, b derived.Posting) int { return placeOf(a).compare(placeOf(b)) })
}

// recordsOf returns the records of a key among postings in order.
func recordsOf(sorted []derived.Posting, key uint64, limit int) (puids []entity.PUID) {
	at, _ := slices.BinarySearchFunc(sorted, place{int64(key), math.MinInt64}, func(p derived.Posting, at place) int { return placeOf(p).compare(at) })
	for ; at < len(sorted) && sorted[at].Key == key && len(puids) < limit; at++ {
		puids = append(puids, sorted[at].PUID)
	}
	return puids
}

// drawPostings draws postings of few keys, of many keys, and of numbers of every size.
func drawPostings(t *rapid.T, name string, most int) []derived.Posting {
	seed := rapid.Uint64().Draw(t, name+" seed")
	hot := rapid.IntRange(1, 400).Draw(t, name+" keys")
	ps := make([]derived.Posting, rapid.IntRange(0, most).Draw(t, name))
	for i := range ps {
		seed = seed*6364136223846793005 + 1442695040888963407
		ps[i] = derived.Posting{Key: (seed >> 33 % uint64(hot)) * 0x9e3779b97f4a7c15, PUID: entity.PUID(seed >> 40 % 5000)}
	}
	odd := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) derived.Posting {
		return derived.Posting{
			Key:  rapid.SampledFrom([]uint64{0, 1, math.MaxInt64, 1 << 63, math.MaxUint64}).Draw(t, "key"),
			PUID: entity.PUID(rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, math.MaxInt64}).Draw(t, "puid")),
		}
	}), 0, 5).Draw(t, name+", odd")
	return append(ps, odd...)
}

// After any posts, removals, rollbacks and merges, reads return what a map would. Two processes, each with a cache,
// take turns.
func TestRuns_AreAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows, want := newMemory(), model{}
		caches := []*Cache{{}, {}}
		ctx := context.Background()
		for range rapid.IntRange(1, longtest.Sample(10, 30, max(10, longtest.Part(30)), 30)).Draw(t, "steps") {
			at := rapid.IntRange(0, 1).Draw(t, "process")
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				caches[at] = &Cache{}
			}
			before, held := rows.clone(), maps.Clone(want)
			var of Rows = rows
			if rapid.Bool().Draw(t, "distant") {
				of = distant{rows}
			}
			runs := New(of, caches[at], rapid.Bool().Draw(t, "snapshot"))
			if rapid.Bool().Draw(t, "read first") {
				same(t, runs, want)
			}
			for range rapid.IntRange(0, 3).Draw(t, "posts") {
				size := rapid.SampledFrom([]int{3, 60, 2500, 9000}).Draw(t, "size")
				add, remove := drawPostings(t, "add", size), drawPostings(t, "remove", size)
				if rapid.Bool().Draw(t, "load") { // sorted parts of one range, which runs are made longer with
					part := rapid.Uint64Range(0, 5).Draw(t, "part")
					for i := range add {
						add[i].Key = add[i].Key>>4 | part<<60
					}
					remove = nil
				}
				if err := runs.Post(ctx, add, remove); err != nil {
					t.Fatal(err)
				}
				want.post(add, remove)
			}
			if rapid.IntRange(0, 9).Draw(t, "merge") == 0 {
				if err := runs.Merge(ctx, rapid.Bool().Draw(t, "mend")); err != nil {
					t.Fatal(err)
				}
				if s, err := parseState(rows.state.Body); err != nil || len(s.runs) > 1 || len(s.tail) > 1 || len(s.runs) == 1 && (s.runs[0].gone > 0 || int(s.runs[0].entries) != len(want)) {
					t.Fatalf("merged: %+v, %v", s, err)
				}
			}
			same(t, runs, want)
			if rapid.IntRange(0, 3).Draw(t, "roll back") == 0 {
				rows, want = before, held
			}
			same(t, New(rows, caches[1-at], true), want)
			if stored, err := parseState(rows.state.Body); err != nil || len(stored.runs) > 60 || len(caches[at].runs) > len(stored.runs)+8*fanout {
				t.Fatalf("%d runs, %d indexes: %v", len(stored.runs), len(caches[at].runs), err)
			}
		}
	})
}

// same fails unless the postings equal those of a map.
func same(t *rapid.T, runs *Runs, want model) {
	ctx := context.Background()
	all := want.sorted()
	var keys []uint64
	var limits []int
	for i := range 6 {
		keys, limits = append(keys, uint64(i)), append(limits, 3)
		if len(all) > 0 {
			p := all[rapid.IntRange(0, len(all)-1).Draw(t, "key")]
			keys, limits = append(keys, p.Key, p.Key), append(limits, rapid.SampledFrom([]int{0, 1, 2, 65, 400, math.MaxInt32}).Draw(t, "limit"), 1)
		}
	}
	found, err := runs.RecordsByKey(ctx, keys, limits)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range keys {
		if records := recordsOf(all, k, limits[i]); !slices.Equal(found[i], records) {
			t.Fatalf("key %x, at most %d: %v, want %v", k, limits[i], found[i], records)
		}
	}
	asked := drawPostings(t, "asked", 20)
	if has, err := runs.has(ctx, asked); err != nil || slices.ContainsFunc(asked, func(p derived.Posting) bool { return want[p] != has[slices.Index(asked, p)] }) {
		t.Fatalf("%v of %v, %v", has, asked, err)
	}
	limit := rapid.SampledFrom([]int{1, 200, 2000, 100_000}).Draw(t, "page")
	for after, n := (*derived.Posting)(nil), 0; n < 5; n++ {
		page, err := runs.page(ctx, after, limit)
		if err != nil || !slices.Equal(page, all[:min(limit, len(all))]) {
			t.Fatalf("page %d of %d: %d, want %d: %v", n, limit, len(page), min(limit, len(all)), err)
		}
		if all = all[len(page):]; len(page) == 0 {
			break
		}
		after = &page[len(page)-1]
	}
}

// Postings removed by newer runs stay removed when runs are merged, and their bytes are gone when all runs are.
func TestRuns_Removals(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rows, cache := newMemory(), &Cache{}
	old := drawn(20_000)
	if err := New(rows, cache, true).Post(ctx, old, nil); err != nil {
		t.Fatal(err)
	}
	const each = 500
	merged := false
	for n := range 2 * fanout {
		add := make([]derived.Posting, each)
		for i := range add {
			add[i] = derived.Posting{Key: uint64(1e6+n*each+i) * 0x9e3779b97f4a7c15, PUID: 1}
		}
		if err := New(rows, cache, true).Post(ctx, add, old[n*each:(n+1)*each]); err != nil {
			t.Fatal(err)
		}
		s, err := parseState(rows.state.Body)
		merged = merged || err == nil && len(s.runs) == 2
		page, err := New(rows, cache, true).page(ctx, nil, 1<<20)
		if err != nil || len(page) != len(old) {
			t.Fatalf("%d postings after %d removals of %d, %v", len(page), n+1, each, err)
		}
	}
	if !merged {
		t.Error("the newer runs were never merged")
	}
	if err := New(rows, cache, true).Merge(ctx, false); err != nil {
		t.Fatal(err)
	}
	if s, err := parseState(rows.state.Body); err != nil || len(s.runs) != 1 || s.runs[0].entries != uint64(len(old)) {
		t.Errorf("all are merged into %+v, %v", s.runs, err)
	}
}

// A damaged row is reported, and mending loses the postings in it and no others.
func TestRuns_Damage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	all := make([]derived.Posting, 2*partChunks*fullChunk)
	for i := range all {
		all[i] = derived.Posting{Key: uint64(i) * 0x9e3779b97f4a7c15, PUID: entity.PUID(i)}
	}
	whole := newMemory()
	if err := New(whole, &Cache{}, true).Post(ctx, all, nil); err != nil {
		t.Fatal(err)
	}
	if len(whole.chunks) < 1000 {
		t.Fatalf("%d rows", len(whole.chunks))
	}
	every := longtest.Sample(5, 1, 1, 1)
	for id := range whole.chunks {
		if id&partBit == 0 && int(id)%every != 0 {
			continue
		}
		rows := whole.clone()
		row := rows.chunks[id]
		row.Body = bytes.Clone(row.Body)
		row.Body[len(row.Body)/2] ^= 4
		rows.chunks[id] = row
		runs := New(rows, &Cache{}, true)
		_, err := runs.page(ctx, &derived.Posting{Key: 1 << 63}, len(all))
		damaged, is := errors.AsType[*cell.DamagedError](err)
		if !is || damaged.Table != ChunkTable {
			t.Fatalf("row %d: %v", id, err)
		}
		if err := runs.Merge(ctx, true); err != nil {
			t.Fatal(err)
		}
		left, err := runs.page(ctx, nil, len(all)+1)
		if lost := len(all) - len(left); err != nil || lost > chunkSize/3 || (lost == 0) != (id&partBit != 0) {
			t.Fatalf("row %d: %d lost, %v", id, lost, err)
		}
		if id&7 == 0 {
			break
		}
	}
	rows := whole.clone()
	rows.state.Body = bytes.Clone(rows.state.Body)
	rows.state.Body[3] ^= 1
	runs := New(rows, &Cache{}, true)
	if _, err := runs.RecordsByKey(ctx, []uint64{1}, []int{1}); !errors.Is(err, errSum) {
		t.Errorf("%v", err)
	}
	if err := runs.Merge(ctx, true); err != nil || len(rows.chunks) > 0 {
		t.Errorf("%d rows left, %v", len(rows.chunks), err)
	}
}

// Rows that were read once are cached: a call reads once, over a network together with the state, and postings in one
// loaded run take no more rows.
func TestRuns_ReadOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rows, cache := newMemory(), &Cache{}
	for batch := range 100 {
		add := make([]derived.Posting, 300)
		for i := range add {
			add[i] = derived.Posting{Key: uint64(batch*300+i) * 0x9e3779b97f4a7c15, PUID: entity.PUID(i)}
		}
		if err := New(rows, cache, true).Post(ctx, add, nil); err != nil {
			t.Fatal(err)
		}
	}
	keys, limits := make([]uint64, 1000), slices.Repeat([]int{65}, 1000)
	for i := range keys {
		keys[i] = uint64(i*25) * 0x9e3779b97f4a7c15
	}
	for _, read := range []struct {
		from Rows
		most int
	}{{rows, 1}, {rows, 1}, {distant{rows}, 0}} {
		before := rows.reads
		found, err := New(read.from, cache, true).RecordsByKey(ctx, keys, limits)
		if err != nil || slices.ContainsFunc(found, func(p []entity.PUID) bool { return len(p) != 1 }) {
			t.Fatal(err)
		}
		if n := rows.reads - before; n > read.most {
			t.Errorf("%d reads beside the state, of at most %d", n, read.most)
		}
	}
}

// A posting is written once for each level that its run rises, and runs stay few.
func TestRuns_Levels(t *testing.T) {
	t.Parallel()
	rows, cache := newMemory(), &Cache{}
	const batch, batches = 300, 600
	for n := range batches {
		add := make([]derived.Posting, batch)
		for i := range add {
			add[i] = derived.Posting{Key: uint64(n*batch+i) * 0x9e3779b97f4a7c15, PUID: entity.PUID(i)}
		}
		if err := New(rows, cache, true).Post(t.Context(), add, nil); err != nil {
			t.Fatal(err)
		}
		if s, err := parseState(rows.state.Body); err != nil || len(s.runs) > 4*fanout {
			t.Fatalf("%d runs, %v", len(s.runs), err)
		}
	}
	if each := float64(rows.written) / (batch * batches); each > 5*16 {
		t.Errorf("%.0f bytes are written a posting, want at most 16 for each of 4 levels and filters", each)
	}
}

func drawn(n int) []derived.Posting {
	ps := make([]derived.Posting, n)
	for i := range ps {
		ps[i] = derived.Posting{Key: uint64(i) * 0x9e3779b97f4a7c15, PUID: entity.PUID(i)}
	}
	return ps
}

// A load of several ranges at once writes a run for each.
func TestRuns_Load(t *testing.T) {
	t.Parallel()
	rows, cache := newMemory(), &Cache{}
	for n := range uint64(40) {
		add := make([]derived.Posting, 5000)
		for i := range add {
			add[i] = derived.Posting{Key: n%2<<60 + (n/2*5000+uint64(i))<<30, PUID: 1}
		}
		if err := New(rows, cache, true).Post(t.Context(), add, nil); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := parseState(rows.state.Body); err != nil || len(s.runs) != 2 || s.runs[0].entries != 100_000 {
		t.Errorf("%+v, %v", s, err)
	}
	page, err := New(rows, cache, true).page(t.Context(), nil, 1<<20)
	if err != nil || len(page) != 200_000 {
		t.Errorf("%d postings, %v", len(page), err)
	}
}

// A table is converted page by page.
func TestConvert(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 50, 20_000} {
		all := model{}
		all.post(drawn(n), nil)
		left, rows := all.sorted(), newMemory()
		state, err := Convert(func(after *derived.Posting) (page []derived.Posting, err error) {
			page, left = left[:min(700, len(left))], left[min(700, len(left)):]
			return page, nil
		}, func(some []Row) error { return rows.PutChunks(t.Context(), some) })
		if err != nil {
			t.Fatal(err)
		}
		rows.state = state
		page, err := New(rows, &Cache{}, true).page(t.Context(), nil, n+1)
		if err != nil || !slices.Equal(page, all.sorted()) {
			t.Errorf("%d of %d: %v", len(page), n, err)
		}
		if err := New(rows, &Cache{}, true).Post(t.Context(), drawn(10_000), drawn(5)); err != nil {
			t.Error(err)
		}
	}
}

// The index of a run stays in memory for long, and its writer has all keys of a part, a megabyte.
func TestWriter_IsNotKeptByItsIndex(t *testing.T) {
	t.Parallel()
	w := &writer{put: func([]Row) error { return nil }}
	for i := range 2 * fullChunk {
		if err := w.add(entry{placeOf(derived.Posting{Key: uint64(i), PUID: 1}), false}); err != nil {
			t.Fatal(err)
		}
	}
	x, err := w.close()
	if err != nil || x == nil {
		t.Fatal(x, err)
	}
	kept := weak.Make(w)
	w = nil
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the writer of a run stays in memory with its index")
	}
	runtime.KeepAlive(x)
}
