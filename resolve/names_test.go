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
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// tenants are distinct words for names.
var tenants = []string{
	"Golden", "Blue", "Harbor", "Maple", "Royal", "Sunny", "Twin", "Velvet", "Quill", "Zephyr", "Amber", "Copper", "Falcon", "Garnet", "Juniper", "Saffron",
}

// tenant returns a record of one of the houses. All records of a house have its phone number.
func tenant(key, name, house, at int) resolve.Op {
	return resolve.Op{
		Ref: entity.Ref{Source: "s", Key: fmt.Sprint(key)}, Observed: time.UnixMilli(1700000000000 + int64(at)),
		Attributes: entity.Attributes{
			"name": {tenants[name%len(tenants)] + " " + seconds[key%2]}, "city": {"Springfield"}, "postcode": {"10001"},
			"phones": {fmt.Sprintf("415-555-91%02d", house)}, "address": {fmt.Sprintf("%d Elm St.", 7+house)},
		},
	}
}

// weights counts the numbers by their weight, which depends on their number of names.
func (in *installation) weights(t testing.TB) (heavy, less, least int) {
	t.Helper()
	_, live := in.state(t)
	norms := make([]*match.Record, len(live))
	for i, rec := range live {
		norms[i] = in.by.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
	}
	for _, names := range match.CountNames(norms) {
		switch {
		case names > match.PhoneCrowd:
			least++
		case names > match.PhoneNames:
			less++
		default:
			heavy++
		}
	}
	return heavy, less, least
}

// Records are added, change names and numbers and are deleted, so that a number gets several names, then
// many, then few again, in batches of any size. After each batch the entities match the oracle, and a check
// finds nothing.
func TestP09_WhatANumberWeighsFollowsItsNames(t *testing.T) {
	t.Parallel()
	for seed := range seeds(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 38))
			in := open(t, t.TempDir(), nil)
			var was [3]int
			crossed, at := 0, 0
			for round := range 40 {
				keys := []int{6, 30, 10, 40}[round/10]
				var ops []resolve.Op
				for range 1 + r.IntN(keys/2) {
					at++
					op := tenant(r.IntN(keys), r.IntN(len(tenants)), r.IntN(2), at)
					op.Delete = r.IntN(3) == 0 || keys == 10 && r.IntN(2) == 0
					ops = append(ops, op)
				}
				if keys == 10 { // delete some of the many records put before
					for key := 10; key < 30; key++ {
						if r.IntN(6) == 0 {
							ops = append(ops, resolve.Op{Ref: entity.Ref{Source: "s", Key: fmt.Sprint(key)}, Delete: true})
						}
					}
				}
				in.apply(t, ops)
				in.check(t)
				heavy, less, least := in.weights(t)
				if is := [3]int{heavy, less, least}; is != was {
					was, crossed = is, crossed+1
				}
			}
			if crossed < 6 {
				t.Errorf("%d batches changed what a number weighs: the test does not reach what it is for", crossed)
			}
			in.checkPostings(t)
			if found := in.differences(t, false); len(found) > 0 {
				t.Errorf("%d differences, the first %+v", len(found), found[0])
			}
		})
	}
}

// A crash between any two commits of a batch that moves numbers over a limit and back, by new records,
// other names and deletions, leaves no edge at the former weight.
func TestP09_ACrashLeavesNoFormerWeight(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	base := prepared(t, func(in *installation) {
		var ops []resolve.Op
		for i := range 3 { // three names: one more lowers the weight
			ops = append(ops, tenant(i, 13+i, 0, 0))
		}
		for i := range 5 { // five names: two less raise the weight
			ops = append(ops, tenant(10+i, i, 1, 0))
		}
		for i := range 12 { // eight names, the first with five records: five other names give the lowest weight
			ops = append(ops, tenant(20+i, 5+max(i-4, 0), 2, 0))
		}
		in.apply(t, ops)
		in.check(t)
	})
	batch := []resolve.Op{
		tenant(3, 12, 0, 1), tenant(11, 0, 1, 1), {Ref: entity.Ref{Source: "s", Key: "12"}, Delete: true}, {Ref: entity.Ref{Source: "s", Key: "13"}, Delete: true},
	}
	for i := range 5 {
		batch = append(batch, tenant(20+i, 13+i, 2, 1))
	}
	undone := 0
	for step, crashed := 0, true; crashed; step++ {
		dir := copied(t, base)
		fault := &crash{left: step}
		in := open(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		crashed = slices.ContainsFunc(in.Apply(t.Context(), batch), func(r resolve.Result) bool {
			return r.Pending || r.Err != nil && !errors.Is(r.Err, entity.ErrNotFound)
		})
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		in = open(t, dir, nil)
		if in.depth(t) > 0 {
			undone++
		}
		in.check(t)
		in.apply(t, batch)
		in.check(t)
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if undone == 0 {
		t.Error("no crash left anything to repair: the test does not reach what it is for")
	}
}
