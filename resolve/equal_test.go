// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
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

// equal returns n records with identical content, in different spellings, under n keys.
func equal(n int) (ops []resolve.Op) {
	for i := range n {
		ops = append(ops, resolve.Op{
			Ref:      entity.Ref{Source: []string{"crm", "web"}[i%2], Key: fmt.Sprintf("h%05d", i)},
			Observed: time.UnixMilli(1700000000000 + int64(i)),
			Attributes: entity.Attributes{
				"name": {[]string{"Brass Heron", "BRASS  heron"}[i%2]}, "phones": {"212-555-0101"}, "address": {"12 Oak Ave"}, "postcode": {"10001"},
			},
		})
	}
	return ops
}

// largest returns the number of records of the largest entity.
func (in *installation) largest(t *testing.T) (n int) {
	t.Helper()
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		found, err := tx.ListEntities(t.Context(), lo, 1<<20)
		for _, e := range found {
			n = max(n, len(e.Members))
		}
		return err
	})
	return n
}

// More identical records than may carry a blocking key are one entity, in any order and batches, also while the
// first of them is deleted, changes and returns, and while a decision takes one out.
func TestP09_TheSixtyFifthRecordDissolvesNothing(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const n = 2*resolve.MaxBlockSize + 7
	for seed := range seeds(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 65))
			in := open(t, t.TempDir(), nil)
			ops := equal(n)
			for i := range 20 { // some are nearly identical, and others share only the phone
				near := ops[i]
				near.Key, near.Attributes = fmt.Sprintf("n%d", i), entity.Attributes{"name": {"Brass Heron " + pick(r, seconds)}, "phones": {"212-555-0101"}, "address": {"12 Oak Ave"}}
				other := near
				other.Key, other.Attributes = fmt.Sprintf("o%d", i), entity.Attributes{"name": {pick(r, firsts) + " " + pick(r, seconds)}, "phones": {"212-555-0101"}}
				ops = append(ops, near, other)
			}
			all := shuffled(r, ops)
			for _, group := range groups(r, all, 60) {
				in.apply(t, group)
			}
			want := func(least, most int) {
				t.Helper()
				in.check(t)
				in.checkPostings(t)
				if got := in.largest(t); got < least || got > most {
					t.Fatalf("the largest entity has %d records, want %d to %d", got, least, most)
				}
			}
			want(n, n+20)
			var own []*entity.Record
			in.each(t, func(tx storage.Tx, lo entity.PUID) error {
				found, err := tx.ListRecords(t.Context(), "", lo, 1<<20)
				own = append(own, found...)
				return err
			})
			own = slices.DeleteFunc(own, func(rec *entity.Record) bool { return rec.Key[0] != 'h' })
			slices.SortFunc(own, func(a, b *entity.Record) int { return int(min(max(a.PUID-b.PUID, -1), 1)) })
			first, second := own[0], own[1]
			in.apply(t, []resolve.Op{{Ref: first.Ref, Delete: true}})
			want(n-1, n+19)
			in.apply(t, []resolve.Op{{Ref: second.Ref, Observed: time.UnixMilli(1800000000000), Attributes: entity.Attributes{"name": {"Quill Optics"}, "phones": {"212-555-7777"}}}})
			want(n-2, n+18)
			for _, op := range ops {
				if op.Ref == first.Ref || op.Ref == second.Ref {
					op.Observed = time.UnixMilli(1900000000000)
					in.apply(t, []resolve.Op{op})
				}
			}
			want(n, n+20)
			var decisions []entity.Decision
			for _, rec := range own[1:] {
				decisions = append(decisions, entity.Decision{Verdict: entity.VerdictDifferent, A: first.PUID, B: rec.PUID})
			}
			for _, d := range in.Decide(t.Context(), decisions) {
				if d.Err != nil {
					t.Fatal(d.Err)
				}
			}
			want(n-1, n+19)
			if found := in.differences(t, false); len(found) > 0 {
				t.Errorf("%d differences, the first %+v", len(found), found[0])
			}
		})
	}
}

// A crash between any two transactions leaves identical records as one entity, with one leader.
func TestP09_ACrashLeavesOneLeader(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	ops := equal(8)
	for step, crashed := 0, true; crashed; step += longtest.Sample(1, 3, 1, 1) {
		dir := t.TempDir()
		fault := &crash{left: step}
		in := open(t, dir, func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		in.Apply(t.Context(), ops[4:])
		in.Apply(t.Context(), ops[:4])
		var gone []resolve.Op
		for _, op := range ops[:6] {
			gone = append(gone, resolve.Op{Ref: op.Ref, Delete: true})
		}
		in.Apply(t.Context(), gone)
		crashed = fault.left == 0
		if err := in.cells.Close(); err != nil {
			t.Fatal(err)
		}
		in = open(t, dir, nil)
		in.check(t)
		in.checkPostings(t)
		in.apply(t, ops[:1])
		in.check(t)
		in.checkPostings(t)
	}
}

// Two records of a deduplicated source are never one entity, even if records between them match both.
func TestP09_ASourceThatListsNothingTwice(t *testing.T) {
	t.Parallel()
	s := match.Place()
	s.Sources = map[string]match.Source{"clean": {Deduplicated: true}}
	m := match.New(s, match.DefaultTermFrequencies())
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 66))
		in := open(t, t.TempDir(), nil)
		in.change(t, m, nil)
		ops := world(seed, 60)
		for i := range ops {
			if ops[i].Source == "crawl" || ops[i].Source == "sales" {
				ops[i].Source, ops[i].Key = "clean", ops[i].Source+ops[i].Key
			}
		}
		for _, group := range groups(r, shuffled(r, ops), 50) {
			in.apply(t, group)
		}
		in.check(t)
		in.each(t, func(tx storage.Tx, lo entity.PUID) error {
			found, err := tx.ListEntities(t.Context(), lo, 1<<20)
			for _, e := range found {
				clean := 0
				for _, member := range e.Members {
					if member.Source == "clean" {
						clean++
					}
				}
				if clean > 1 {
					t.Errorf("entity %v has %d records of a source that lists nothing twice", e.ID, clean)
				}
			}
			return err
		})
	}
}
