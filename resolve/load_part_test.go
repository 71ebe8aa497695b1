// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// crossing returns puts and deletions that take the number of records of one key across the limit of stop keys, and the
// number of names of another across the limit above which names count.
func crossing(r *rand.Rand, from int, later time.Duration) []resolve.Op {
	var ops []resolve.Op
	for i := range resolve.MaxBlockSize + 4 {
		op := spelled(i, "415-555-9111")
		if op.Delete = r.IntN(4) == 0; r.IntN(3) == 0 {
			op = spelled(i, fmt.Sprintf("415-555-91%02d", r.IntN(4)))
		}
		ops = append(ops, op)
	}
	for i := range 8 {
		op := sharing(5000+from+i, "415-555-9222")
		op.Delete = r.IntN(3) == 0
		ops = append(ops, op)
	}
	ops = append(ops, equal(4+r.IntN(10))...)
	for i := range ops {
		ops[i].Observed = ops[i].Observed.Add(later)
	}
	return shuffled(r, ops)[:len(ops)-r.IntN(len(ops)/2)]
}

// history fills an installation: records that came and went, and decisions about them.
func history(t *testing.T, r *rand.Rand, seed uint64, size int) (dir string) {
	return prepared(t, func(in *installation) {
		ops := append(unsettled(r, seed, size), crossing(r, 0, 0)...)
		for _, group := range groups(r, ops, 90) {
			in.apply(t, group)
		}
		in.check(t)
		if seed%3 > 0 {
			live := slices.DeleteFunc(world(seed, size), func(op resolve.Op) bool { return in.puids(t)[op.Ref] == 0 })
			in.decide(t, rulings(r, live, 12)...)
		}
		in.check(t)
	})
}

// later returns ops that change some of the records of a history and add others.
func later(r *rand.Rand, seed uint64, size int) []resolve.Op {
	ops := append(unsettled(r, seed, size/2), world(seed+70, size/2)...)
	for i := range ops {
		ops[i].Observed = ops[i].Observed.Add(1000 * time.Hour)
	}
	ops = append(ops, crossing(r, r.IntN(6), 2000*time.Hour)...)
	return ops[r.IntN(len(ops)*2/3):]
}

// Loading into an installation that has records gives the same rows as streaming, whatever happened before.
func TestP09_ALoadOfAPart(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 27))
			size := longtest.Sample(15, 40, 40, 25)
			dir := history(t, r, seed, size)
			streamed, loaded := open(t, copied(t, dir), nil), holding(t, dir, nil)
			loaded.LoadPartly(true)
			for turn := range uint64(2) {
				ops := later(r, seed+turn*(1+seed%2), size)
				for _, group := range groups(r, ops, 90) {
					streamed.apply(t, group)
					loaded.apply(t, group)
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
				if err := loaded.cells.Close(); err != nil {
					t.Fatal(err)
				}
				loaded = holding(t, dir, nil)
				loaded.LoadPartly(turn%2 == 0)
			}
		})
	}
}

// A partial load that is killed between any two commits is finished by another load, also after more records were put,
// or by a resolver without load. Records that a killed stream left unresolved are loaded as well.
func TestP09_AKilledLoadOfAPartIsFinished(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 28))
			before := history(t, r, seed+1, 10)
			ops := later(r, seed+1, 12)
			more := later(r, seed+2, 5)
			for i := range more {
				more[i].Observed = more[i].Observed.Add(4000 * time.Hour)
			}
			base := copied(t, before)
			first := holding(t, base, nil)
			first.apply(t, ops)
			if err := first.cells.Close(); err != nil {
				t.Fatal(err)
			}
			plain := open(t, copied(t, before), nil)
			plain.apply(t, ops)
			plain.check(t)
			want := []map[string]string{plain.rows(t)}
			plain.apply(t, more)
			plain.check(t)
			want = append(want, plain.rows(t))
			killed := map[bool]int{}
			for _, loads := range []bool{true, false} {
				for step := int(seed); ; step += longtest.Stride(19) {
					fault := &crash{left: step}
					faulty := func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} }
					var dir string
					var in *installation
					done := true
					if loads {
						dir = copied(t, base)
						in = holding(t, dir, faulty)
						in.LoadPartly(true)
						err := in.Load(t.Context(), func(resolve.LoadProgress) {})
						if done = err == nil; !done && !errors.Is(err, errCrash) {
							t.Fatal(err)
						}
					} else {
						dir = copied(t, before)
						in = open(t, dir, faulty)
						for _, res := range in.Apply(t.Context(), ops) {
							done = done && !res.Pending && (res.Err == nil || errors.Is(res.Err, entity.ErrNotFound))
						}
					}
					if err := in.cells.Close(); err != nil {
						t.Fatal(err)
					}
					if done {
						break
					}
					killed[loads]++
					for i, ops := range [][]resolve.Op{nil, more} {
						in := holding(t, copied(t, dir), nil)
						in.LoadPartly(true)
						in.apply(t, ops)
						in.load(t)
						in.check(t)
						in.checkPostings(t)
						if found := in.differences(t, false); len(found) > 0 {
							t.Errorf("a check finds %d differences, the first %+v", len(found), found[0])
						}
						if loads {
							same(t, in.rows(t), want[i])
						}
					}
					in = open(t, dir, nil)
					if in.check(t); loads {
						same(t, in.rows(t), want[0])
					}
				}
			}
			if killed[true] < 4 || killed[false] == 0 {
				t.Errorf("loads and streams were killed at so many places only: %v", killed)
			}
		})
	}
}

// A killed load has removed the edges of deleted records, and with them the links to the records that they joined. The
// next load still finds those records.
func TestP09_AKilledLoadOfAPartFindsWhatItWrote(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	// Each between record joins two that are in two cities.
	var before, between []resolve.Op
	for i := range 6 {
		name := []string{firsts[i] + " " + seconds[i]}
		phones := []string{fmt.Sprintf("415-555-%d00", 30+i), fmt.Sprintf("415-555-%d01", 30+i)}
		for side, phone := range phones {
			before = append(before, resolve.Op{
				Ref: entity.Ref{Source: "side", Key: fmt.Sprint(i, side)}, Attributes: entity.Attributes{"name": name, "phones": {phone}, "city": {cities[side]}, "address": {fmt.Sprint(10+side, " ", streets[side])}},
			})
		}
		between = append(between, resolve.Op{
			Ref: entity.Ref{Source: "between", Key: fmt.Sprint(i)}, Attributes: entity.Attributes{"name": name, "phones": phones},
		})
	}
	dir := prepared(t, func(in *installation) {
		in.apply(t, slices.Concat(before, between))
		if n := len(in.check(t)); n != 6 {
			t.Fatalf("%d entities, want 6 of three records each", n)
		}
	})
	base := copied(t, dir)
	for i := range between {
		between[i] = resolve.Op{Ref: between[i].Ref, Delete: true}
	}
	held := holding(t, base, nil)
	held.apply(t, between)
	if err := held.cells.Close(); err != nil {
		t.Fatal(err)
	}
	for step := 0; ; step++ {
		fault := &crash{left: step}
		dir := copied(t, base)
		in := holding(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		in.LoadPartly(true)
		err := in.Load(t.Context(), func(resolve.LoadProgress) {})
		if e := in.cells.Close(); e != nil {
			t.Fatal(e)
		}
		if err == nil {
			break
		}
		again := holding(t, dir, nil)
		again.LoadPartly(true)
		again.load(t)
		if n := len(again.check(t)); n != 12 {
			t.Fatalf("%d entities, want 12", n)
		}
		again.checkPostings(t)
	}
}
