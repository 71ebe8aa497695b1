// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// strangers returns records that share nothing.
func strangers(n int) (ops []resolve.Op) {
	for i := range n {
		ops = append(ops, resolve.Op{
			Ref: entity.Ref{Source: "stranger", Key: fmt.Sprint(i)}, Observed: time.UnixMilli(1700000000000),
			Attributes: entity.Attributes{
				"name": {fmt.Sprintf("%c%cquill %c%czephyr", 'a'+i, 'b'+i, 'c'+i, 'd'+i)}, "phones": {fmt.Sprintf("%d-555-%04d", 415+10*i, 1000+137*i)},
			},
		})
	}
	return ops
}

// A process that crashes after any of its commits leaves no decision half done: it is stored under both
// records or neither, and the entities match.
func TestP09_ACrashWhilePeopleDecide(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := rand.New(rand.NewPCG(27, 27))
	for name, ops := range map[string][]resolve.Op{"records that resemble each other": world(30, 14), "strangers": strangers(16)} {
		var first, second []ruling
		if name != "strangers" {
			first, second = rulings(r, ops, 12), rulings(r, ops, 10)
		}
		for i := range len(ops) / 2 { // joined by decisions alone
			first = append(first, ruling{verdict: entity.VerdictSame, a: ops[i].Ref, b: ops[len(ops)-1-i].Ref})
		}
		for i := range first { // and most decisions are withdrawn
			if i%4 > 0 {
				second = append(second, first[i])
				second[len(second)-1].withdrawn = true
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crashWhileDeciding(t, ops, first, second)
		})
	}
}

func crashWhileDeciding(t *testing.T, ops []resolve.Op, first, second []ruling) {
	t.Helper()
	unfinished := 0
	base := prepared(t, func(in *installation) {
		in.apply(t, ops)
		in.decide(t, first...)
	})
	for step := 0; ; step += longtest.Stride(3) {
		dir := copied(t, base)
		fault := &crash{left: step}
		in := open(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		answers := in.Decide(t.Context(), in.decisions(t, second))
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}

		in = open(t, dir, nil)
		if in.depth(t) > 0 {
			unfinished++
		}
		in.check(t)
		in.reads(t).same(t, in)
		stored := map[entity.DecisionKey]entity.Decision{}
		for _, d := range in.decided(t) {
			stored[d.Key()] = d
		}
		done := true
		for _, a := range answers {
			done = done && a.Err == nil && !a.Pending
			if d := stored[a.Key()]; a.Err == nil && d.At.Before(a.At) {
				t.Fatalf("a crash after %d commits lost %+v", step, a.Decision)
			}
		}
		if done {
			t.Logf("%d places to crash, %d left work behind", step, unfinished)
			break
		}
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if unfinished < 2 {
		t.Error("hardly a crash left anything to repair: the test does not reach what it is for")
	}
}

// Deletions and returns of records with decisions are repaired like any others.
func TestP09_ACrashAmongDecisions(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := rand.New(rand.NewPCG(28, 28))
	ops := world(31, 14)
	crashAmongDecisions(t, ops, rulings(r, ops, 16))
	ops = strangers(16)
	var made []ruling
	for i := range len(ops) / 2 {
		made = append(made, ruling{verdict: entity.VerdictSame, a: ops[i].Ref, b: ops[len(ops)-1-i].Ref})
	}
	crashAmongDecisions(t, ops, made)
}

func crashAmongDecisions(t *testing.T, ops []resolve.Op, made []ruling) {
	t.Helper()
	var gone []resolve.Op
	for _, op := range ops[:12] {
		gone = append(gone, resolve.Op{Ref: op.Ref, Delete: true})
	}
	base := prepared(t, func(in *installation) {
		in.apply(t, ops)
		in.decide(t, made...)
		in.apply(t, gone[:6])
		in.check(t)
	})
	batch := slices.Concat(gone[6:], ops[:6]) // some are deleted, others return
	for step := 0; ; step += longtest.Stride(3) {
		dir := copied(t, base)
		fault := &crash{left: step}
		in := open(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		results := in.Apply(t.Context(), batch)
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		in = open(t, dir, nil)
		in.check(t)
		in.reads(t).same(t, in)
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(results, func(r resolve.Result) bool { return r.Err != nil || r.Pending }) {
			break
		}
	}
}

// Several processes write and decide over the same cells; the result is that of one process over one cell.
func TestP09_ManyProcessesDecide(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(1) {
		r := rand.New(rand.NewPCG(seed, 29))
		ops := shuffled(r, world(seed+80, longtest.Sample(0, 20, 40, 40)))
		var made []ruling // each record is in at most one, so that their order does not matter
		for i := 0; i+1 < len(ops)/2; i += 2 {
			made = append(made, ruling{verdict: []entity.Verdict{entity.VerdictSame, entity.VerdictDifferent}[i/2%2], a: ops[i].Ref, b: ops[i+1].Ref})
		}
		alone := openCells(t, 1)
		one := processOver(t, alone, alone, "", ticks())
		one.apply(t, ops)
		one.decide(t, made...)
		want := members(one.check(t))
		for _, shape := range []struct{ cells, processes int }{{1, 4}, {16, 1}, {16, 4}} {
			cells := openCells(t, shape.cells)
			var all []*installation
			for p := range shape.processes {
				all = append(all, process(t, cells, fmt.Sprint("process ", p), nil))
			}
			early, late := ops[:len(ops)/2], ops[len(ops)/2:]
			all[0].apply(t, early)
			all[0].Leave(t.Context())
			decisions := all[0].decisions(t, made)
			work := make(chan func(in *installation))
			var wg sync.WaitGroup
			for _, in := range all {
				wg.Go(func() {
					for do := range work {
						do(in)
					}
					in.Leave(context.Background())
				})
			}
			put := groups(r, late, 15)
			for i := range max(len(put), len(decisions)) {
				if i < len(put) {
					work <- func(in *installation) {
						for i, res := range in.Apply(context.Background(), put[i]) {
							if res.Err != nil {
								t.Errorf("%v: %v", put[i], res.Err)
							}
						}
					}
				}
				if i < len(decisions) {
					work <- func(in *installation) {
						for _, d := range in.Decide(context.Background(), decisions[i:i+1]) {
							if d.Err != nil {
								t.Errorf("%+v: %v", d.Decision, d.Err)
							}
						}
					}
				}
			}
			close(work)
			wg.Wait()
			got := members(all[0].check(t))
			all[0].Leave(t.Context())
			if !slices.Equal(got, want) {
				t.Errorf("%d cells, %d processes: other entities", shape.cells, shape.processes)
			}
			if len(all[0].decided(t)) != 2*len(decisions) {
				t.Errorf("%d decisions of %d", len(all[0].decided(t)), 2*len(decisions))
			}
		}
	}
}

// A cell is down when decisions about its records are made: they are pending and take effect when the cell
// is back.
func TestP09_DecisionsWaitForACellThatIsDown(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for which := range 3 {
		r := rand.New(rand.NewPCG(uint64(which), 30))
		in, down := openFaulty(t, which)
		ops := world(uint64(which)+90, 30)
		in.apply(t, ops)
		in.check(t)
		decisions := in.decisions(t, rulings(r, ops, 30))
		down.Store(true)
		failed, pending := 0, 0
		var again []entity.Decision
		for _, d := range decisions {
			a := in.Decide(t.Context(), []entity.Decision{d})[0]
			if a.Err != nil {
				failed++
				again = append(again, d)
			} else if a.Pending {
				pending++
			}
		}
		if failed == 0 {
			t.Error("no decision failed: the test does not reach what it is for")
		}
		down.Store(false)
		for _, a := range in.Decide(t.Context(), again) {
			if a.Err != nil {
				t.Fatalf("%+v: %v", a.Decision, a.Err)
			}
		}
		t.Logf("cell %d: %d failed, %d waited", which, failed, pending)
		in.apply(t, []resolve.Op{ops[0]})
		in.check(t)
	}
}
