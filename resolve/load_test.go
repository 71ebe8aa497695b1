// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// holding opens an installation whose resolver only puts.
func holding(t testing.TB, dir string, wrap func(cell.ID, storage.Cell) storage.Cell) *installation {
	t.Helper()
	return heldBack(t, open(t, dir, wrap).cells, "", wrap)
}

// heldBack returns a process that only puts.
func heldBack(t testing.TB, cells *storage.Cells, owner string, wrap func(cell.ID, storage.Cell) storage.Cell) *installation {
	t.Helper()
	r, err := resolve.New(resolve.Options{
		Cells: wrapped{cells, wrap}, Owner: owner, Rules: resolve.NewRules(1, matcher), Mint: birth, Now: time.Now, Cache: 200, Hold: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.LoadIn(7, 23, 31, 150)
	return &installation{r, cells, matcher}
}

// load loads everything that was put.
func (in *installation) load(t testing.TB) {
	t.Helper()
	if err := in.Load(t.Context(), func(resolve.LoadProgress) {}); err != nil {
		t.Fatal(err)
	}
}

// rows returns everything that resolution stores, as texts by table and place, but for the log and the totals of merges
// and splits, and the digests of keys, which are salted.
func (in *installation) rows(t testing.TB) map[string]string {
	t.Helper()
	rows := map[string]string{}
	cells := 0
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		cells++
		for _, table := range []string{"record", "birth", "decision", "posting", "edge", "redo"} {
			found, err := tx.ReadRows(t.Context(), table, nil, 1<<20)
			if err != nil {
				return err
			}
			for i, row := range found {
				// A record that is deleted before it is resolved was in no entity that its id could lead to.
				if table == "record" && row[7] == nil {
					row[5] = row[0]
				}
				if table == "birth" && row[1] == int64(0) {
					row[2] = nil
				}
				rows[fmt.Sprintf("%s of cell %d, row %d", table, cells, i)] = fmt.Sprint(row)
			}
		}
		found, err := tx.ListEntities(t.Context(), lo, 1<<20)
		if err != nil {
			return err
		}
		for _, e := range found {
			rows[fmt.Sprintf("entity %v", e.ID)] = fmt.Sprintf("%v %x %v %+v %+v", e.Kind, e.Stamp, e.Rank, e.Members, e.View)
		}
		counts, err := tx.Counts(t.Context())
		rows[fmt.Sprintf("counts of cell %d", cells)] = fmt.Sprint(counts.Records, counts.Entities)
		for _, words := range [][]string{{"golden"}, {"pizza"}, {"cosmo", "bur"}, {"springfield"}} {
			hits, e := tx.Search(t.Context(), entity.Query{Words: words, After: lo, Limit: 1000})
			err = errors.Join(err, e)
			for _, e := range hits {
				rows[fmt.Sprintf("found by %v: %v", words, e.ID)] = "yes"
			}
		}
		return err
	})
	return rows
}

// same fails the test if two installations differ in any row.
func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	var lines []string
	for at, row := range want {
		if got[at] != row {
			lines = append(lines, fmt.Sprintf("%s: loaded %q, streamed %q", at, got[at], row))
		}
	}
	for at, row := range got {
		if _, there := want[at]; !there {
			lines = append(lines, fmt.Sprintf("%s: loaded %q, streamed nothing", at, row))
		}
	}
	slices.Sort(lines)
	if len(lines) > 0 {
		t.Fatalf("%d rows differ:\n%s", len(lines), strings.Join(lines[:min(len(lines), 8)], "\n"))
	}
}

// unsettled returns records with everything that a load has to get right: components that span cells, stop keys, shared
// numbers, identical records, two kinds, keys that occur again, and keys that are deleted.
func unsettled(r *rand.Rand, seed uint64, n int) []resolve.Op {
	ops := world(seed, n)
	for i := range resolve.MaxBlockSize + int(seed%5) - 2 { // about as many as the limit of stop keys
		ops = append(ops, spelled(i, "415-555-9111"))
	}
	for i := range 5 + r.IntN(3) {
		ops = append(ops, sharing(5000+i, "415-555-9222"))
	}
	ops = append(ops, equal(12)...)
	ops = shuffled(r, ops)
	puts := len(ops) // a deletion has no attributes to put again
	for _, i := range r.Perm(len(ops))[:n/4] {
		again := ops[i]
		again.Attributes = maps.Clone(ops[r.IntN(puts)].Attributes)
		again.Observed = again.Observed.Add(time.Hour)
		switch r.IntN(3) {
		case 0:
			again = resolve.Op{Ref: again.Ref, Delete: true}
		case 1:
			again.Observed = again.Observed.Add(-2 * time.Hour) // stale
		}
		ops = append(ops, again)
	}
	return ops
}

// A load writes the same rows as resolving batch by batch.
func TestP09_ALoadIsWhatAStreamIs(t *testing.T) {
	t.Parallel()
	for seed := range seeds(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 25))
			ops := unsettled(r, seed, longtest.Sample(20, 60, 60, 40))
			streamed, loaded := open(t, t.TempDir(), nil), holding(t, t.TempDir(), nil)
			for _, group := range groups(r, ops, 90) {
				streamed.apply(t, group)
				loaded.apply(t, group)
			}
			if n := loaded.depth(t); n == 0 {
				t.Fatal("a resolver that only puts has left nothing to load")
			}
			loaded.load(t)
			want := streamed.check(t)
			if d := differ(loaded.check(t), want); d != "" {
				t.Fatal(d)
			}
			loaded.checkPostings(t)
			same(t, loaded.rows(t), streamed.rows(t))
			if found := loaded.differences(t, false); len(found) > 0 {
				t.Errorf("a check finds %d differences, the first %+v", len(found), found[0])
			}
			// The next batch continues from it.
			for _, in := range []*installation{streamed, loaded} {
				in.apply(t, world(seed+100, 10))
			}
			same(t, loaded.rows(t), streamed.rows(t))
		})
	}
}

// Two kinds are loaded at once, and their records are never compared.
func TestLoad_SeveralKinds(t *testing.T) {
	t.Parallel()
	person := match.New(match.Person(), match.DefaultTermFrequencies())
	streamed, loaded := open(t, t.TempDir(), nil), holding(t, t.TempDir(), nil)
	var ops []resolve.Op
	for _, op := range world(4, 25) {
		ops = append(ops, op)
		op.Kind, op.Source = "person", op.Source+"-people"
		op.Attributes = entity.Attributes{"name": op.Attributes["name"], "phones": op.Attributes["phones"]}
		ops = append(ops, op)
	}
	for _, in := range []*installation{streamed, loaded} {
		if _, err := in.Migrate(t.Context(), person.Schema(), nil); err != nil {
			t.Fatal(err)
		}
		in.apply(t, ops)
	}
	loaded.load(t)
	kinds := map[string]int{}
	loaded.each(t, func(tx storage.Tx, lo entity.PUID) error {
		found, err := tx.ListEntities(t.Context(), lo, 1<<20)
		for _, e := range found {
			kinds[e.Kind]++
		}
		return err
	})
	if len(kinds) != 2 {
		t.Errorf("entities of the kinds %v, want two", kinds)
	}
	same(t, loaded.rows(t), streamed.rows(t))
}

// A load that is killed between any two commits loses nothing: another load finishes it, also after more records were
// put, and so does a resolver without load.
func TestP09_AKilledLoadIsFinished(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := rand.New(rand.NewPCG(25, 25))
	ops := unsettled(r, 3, 12)
	more := unsettled(r, 8, 5) // other content of some of the keys
	for i := range more {
		more[i].Observed = more[i].Observed.Add(1000 * time.Hour)
	}
	base := t.TempDir()
	first := holding(t, base, nil)
	first.apply(t, ops)
	if err := first.cells.Close(); err != nil {
		t.Fatal(err)
	}
	plain, changed := open(t, t.TempDir(), nil), open(t, t.TempDir(), nil)
	plain.apply(t, ops)
	plain.check(t)
	changed.apply(t, ops)
	changed.apply(t, more)
	changed.check(t)
	want, wantChanged := plain.rows(t), changed.rows(t)

	killed := 0
	for step := 0; ; step += longtest.Stride(40) {
		fault := &crash{left: step}
		dir := copied(t, base)
		in := holding(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		err := in.Load(t.Context(), func(resolve.LoadProgress) {})
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		killed++
		for i, finish := range []func(in *installation){
			func(in *installation) { in.load(t) },
			func(in *installation) { in.apply(t, more); in.load(t) },
		} {
			in := holding(t, copied(t, dir), nil)
			if finish(in); i == 0 {
				same(t, in.rows(t), want)
			} else {
				same(t, in.rows(t), wantChanged)
			}
			in.check(t)
			in.checkPostings(t)
		}
		in = open(t, dir, nil)
		in.check(t)
		same(t, in.rows(t), want)
	}
	if killed < 4 {
		t.Errorf("killed at %d places only", killed)
	}
}

// A load of everything also processes records that were resolved before.
func TestP09_ALoadIntoResolvedRecords(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(4) {
		r := rand.New(rand.NewPCG(seed, 26))
		before, after := unsettled(r, seed, 15), unsettled(r, seed+50, 30)
		for i := range after {
			after[i].Observed = after[i].Observed.Add(1000 * time.Hour)
		}
		dir := t.TempDir()
		streamed, in := open(t, t.TempDir(), nil), open(t, dir, nil)
		for _, some := range []*installation{streamed, in} {
			some.apply(t, before)
			some.check(t)
		}
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		loaded := holding(t, dir, nil)
		if first, err := loaded.First(t.Context()); err != nil || first {
			t.Errorf("First = %v, %v while all records are resolved", first, err)
		}
		for _, some := range []*installation{streamed, loaded} {
			some.apply(t, after)
		}
		loaded.load(t)
		streamed.check(t)
		loaded.check(t)
		loaded.checkPostings(t)
		same(t, loaded.rows(t), streamed.rows(t))
	}
}

// A load applies decisions. A decision with a redo entry has to be processed before the load.
func TestLoad_AfterADecision(t *testing.T) {
	t.Parallel()
	base := prepared(t, func(in *installation) {
		res := in.Apply(t.Context(), world(1, 10)[:2])
		for _, d := range in.Decide(t.Context(), []entity.Decision{{Verdict: entity.VerdictSame, A: res[0].PUID, B: res[1].PUID}}) {
			if d.Err != nil {
				t.Fatal(d.Err)
			}
		}
	})
	for _, partly := range []bool{false, true} {
		streamed, loaded := open(t, copied(t, base), nil), holding(t, copied(t, base), nil)
		loaded.LoadPartly(partly)
		for _, in := range []*installation{streamed, loaded} {
			in.apply(t, world(2, 10))
		}
		loaded.load(t)
		streamed.check(t)
		same(t, loaded.rows(t), streamed.rows(t))
	}
	fault := &crash{left: 1 << 30}
	in := open(t, base, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
	in.apply(t, nil)
	decisions := in.decisions(t, rulings(rand.New(rand.NewPCG(1, 1)), world(1, 10)[:2], 1))
	fault.left = 1
	in.Decide(t.Context(), decisions)
	if err := in.cells.Close(); err != nil {
		t.Fatal(err)
	}
	in = holding(t, base, nil)
	if err := in.Load(t.Context(), func(resolve.LoadProgress) {}); !errors.Is(err, resolve.ErrLoad) {
		t.Errorf("Load = %v, want ErrLoad", err)
	}
	in.check(t)
}

// A resolver that is released resolves what was put.
func TestRelease(t *testing.T) {
	t.Parallel()
	in := holding(t, t.TempDir(), nil)
	if first, err := in.First(t.Context()); err != nil || !first {
		t.Fatalf("First = %v, %v in an empty installation", first, err)
	}
	ops := world(1, 20)
	for i, res := range in.Apply(t.Context(), ops) {
		if res.Err != nil || !res.Pending {
			t.Fatalf("%v: %+v, want a durable and pending record", ops[i].Ref, res)
		}
	}
	if err := in.Drain(t.Context()); err != nil || in.depth(t) == 0 {
		t.Fatalf("Drain = %v and resolved what is held", err)
	}
	in.Release()
	in.apply(t, ops[:1])
	in.check(t)
}

// Two processes share the cells and one of them loads. Records that the other one puts are durable at once and resolved
// after the load.
func TestP09_ALoadBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	cells := open(t, t.TempDir(), nil).cells
	loader, other := heldBack(t, cells, "loader", nil), process(t, cells, "other", nil)
	ops := world(6, 40)
	half := len(ops) / 2
	loader.apply(t, ops[:half])
	loader.Rest(t.Context())
	put, step := 0, resolve.LoadStep("")
	if err := loader.Load(t.Context(), func(p resolve.LoadProgress) {
		// Between two steps the other process puts new records that are not part of the load.
		if p.Step != step && put < len(ops)-half && (p.Step == resolve.LoadPost || p.Step == resolve.LoadWrite) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // it waits for the lease until its deadline
			defer cancel()
			for _, res := range other.Apply(ctx, ops[half+put:half+put+5]) {
				if res.Err != nil || !res.Pending {
					t.Errorf("put during a load: %+v, want it durable and pending", res)
				}
			}
			put += 5
		}
		step = p.Step
	}); err != nil {
		t.Fatal(err)
	}
	if put == 0 {
		t.Fatal("nothing was put during the load")
	}
	loader.Leave(t.Context())
	other.apply(t, ops[half+put:])
	other.check(t)
	other.checkPostings(t)
}
