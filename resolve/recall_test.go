// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// A group of records waits for the cells as often as a smaller one, although more of its records join others. Each
// transaction takes a second, so that seconds are waits.
func TestApply_LargeGroupsWaitAsOften(t *testing.T) {
	t.Parallel()
	const places = 26
	nth := func(n, from, to int) (ops []resolve.Op) { // the nth records of some places
		for i := from; i < to; i++ {
			ops = append(ops, resolve.Op{Ref: entity.Ref{Source: fmt.Sprint("source ", n), Key: fmt.Sprint(i)}, Attributes: entity.Attributes{
				"name":    {fmt.Sprintf("%s Bakery%s", strings.Repeat(string(rune('a'+i)), 3+i%5), []string{"", " Ltd", " Inc", " & Sons"}[n])},
				"address": {fmt.Sprint(i, " Main Street")}, "city": {"Springfield"}, "phones": {fmt.Sprintf("415-555-%04d", i)},
			}})
		}
		return ops
	}
	slow := func(_ cell.ID, c storage.Cell) storage.Cell { return slowCell{c, time.Second, time.Second} }
	warmed(t, nth(0, 0, places))
	synctest.Test(t, func(t *testing.T) {
		in := open(t, t.TempDir(), slow)
		waits := func(in *installation, ops []resolve.Op) int {
			before := time.Now()
			in.apply(t, ops)
			return int(time.Since(before) / time.Second)
		}
		in.apply(t, nth(0, 0, places))
		in.apply(t, nth(1, 0, places))
		for _, to := range []int{1, 4, 26} {
			if n := waits(in, nth(2, to/4, to)); n > 3 { // the put, its blocking keys, the decisions
				t.Errorf("%d records that join what is remembered waited %d times", to-to/4, n)
			}
		}
		for _, to := range []int{1, 4, places} {
			other := process(t, in.cells, "", slow)
			if err := other.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := waits(other, nth(3, to/4, to)); n > 5 { // also their candidates with edges; entities
				t.Errorf("%d records that join what is not remembered waited %d times", to-to/4, n)
			}
		}
		in = process(t, in.cells, "", nil)
		if got := in.check(t); len(got) != places {
			t.Errorf("there are %d entities, want %d", len(got), places)
		}
	})
}

// A process that reacquires the lease reads what another process decided in between, also if its next batch is not a
// repair.
func TestP09_WhatAnotherProcessDecidedIsReadAgain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 100))
	cells := open(t, t.TempDir(), nil).cells
	processes := []*installation{process(t, cells, "one", nil), process(t, cells, "other", nil)}
	ops := slices.Concat(rewritten(r, 1, 2, 3)...)
	for i, group := range groups(r, ops, 12) {
		in := processes[i%2]
		if err := in.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		in.apply(t, group)
		in.Leave(t.Context())
	}
	processes[0].check(t)
}

// rewritten returns other contents of the same records for each seed.
func rewritten(r *rand.Rand, seeds ...uint64) (all [][]resolve.Op) {
	for _, seed := range seeds {
		ops := shuffled(r, world(seed, 20))
		for i := range ops {
			ops[i].Observed = time.Time{}
		}
		all = append(all, ops)
	}
	return all
}

// inGroups applies ops in several batches. The first one of a process is a repair, which remembers nothing.
func (in *installation) inGroups(t *testing.T, r *rand.Rand, ops []resolve.Op) {
	t.Helper()
	for _, group := range groups(r, ops, 12) {
		in.apply(t, group)
	}
}

// A batch that is too large for what a process remembers ends what it remembered before.
func TestP09_WhatALargeBatchDecidedIsReadAgain(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := rand.New(rand.NewPCG(2, 100))
	in := open(t, t.TempDir(), nil)
	ops := rewritten(r, 1, 2, 3)
	for i := range 1000 {
		name := []byte("Quq")
		for n := i; n > 0; n /= 20 {
			name = append(name, "bcdfghjklmnpqrstvwxz"[n%20], 'u')
		}
		ops[1] = append(ops[1], resolve.Op{Ref: entity.Ref{Source: "others", Key: fmt.Sprint(i)}, Attributes: entity.Attributes{"name": {string(name)}}})
	}
	in.inGroups(t, r, ops[0])
	in.apply(t, ops[1])
	in.inGroups(t, r, ops[2])
	in.check(t)
}
