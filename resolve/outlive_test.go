// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
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
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

func openCells(t testing.TB, n int) *storage.Cells {
	t.Helper()
	cells, err := sqlite.OpenDir(t.Context(), t.TempDir(), &sqlite.DirOptions{Cells: n, Rules: "test", Notice: time.Second, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cells.Close() })
	return cells
}

// Decisions outlive their records: records that are deleted and put again are joined and separated as
// before, and chosen values are shown again. New generations of cells do not change that.
func TestP09_DecisionsOutliveTheirRecords(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(1) {
		r := rand.New(rand.NewPCG(seed, 23))
		ops := world(seed+7, 40)
		in := open(t, t.TempDir(), nil)
		in.apply(t, ops)
		without := members(in.check(t))
		in.decide(t, rulings(r, ops, 60)...)
		want, views := members(in.check(t)), contents(in.views(t))
		made := len(in.decided(t))
		if slices.Equal(want, without) {
			t.Error("the decisions change nothing: the test does not reach what it is for")
		}
		var deletes []resolve.Op
		for _, op := range ops {
			deletes = append(deletes, resolve.Op{Ref: op.Ref, Delete: true})
		}
		for _, group := range groups(r, shuffled(r, deletes), 30) {
			in.apply(t, group)
			in.check(t)
		}
		if left := len(in.decided(t)); left != made {
			t.Errorf("%d decisions are left of %d", left, made)
		}
		if err := cell.Grow(t.Context(), in.cells, cell.Growth{Cells: 6}, nil); err != nil {
			t.Fatal(err)
		}
		for _, group := range groups(r, shuffled(r, ops), 30) {
			in.apply(t, group)
			in.check(t)
		}
		// Birth ids are the same as before, because the test derives them from the key.
		if got := members(in.check(t)); !slices.Equal(got, want) {
			t.Fatalf("seed %d: records returned into other entities", seed)
		}
		if got := contents(in.views(t)); !slices.Equal(got, views) {
			t.Fatalf("seed %d: records returned to other views", seed)
		}
	}
}

// members returns the entities without their ids.
func members(entities map[locality.ID]string) []string { return slices.Sorted(maps.Values(entities)) }

func contents(views map[locality.ID]string) []string { return slices.Sorted(maps.Values(views)) }

// A decision that is made and withdrawn leaves entities as they were: ids, members and views.
func TestP09_MergeThenUnmergeRestores(t *testing.T) {
	t.Parallel()
	for seed := range seeds(1) {
		r := rand.New(rand.NewPCG(seed, 24))
		ops := world(seed+11, 60)
		in := open(t, t.TempDir(), nil)
		in.apply(t, ops)
		want, views := in.check(t), in.views(t)
		made := rulings(r, ops, 40)
		for _, group := range [][]ruling{made[:20], made[20:]} {
			in.decide(t, group...)
			if differ(in.check(t), want) == "" {
				t.Error("the decisions change nothing: the test does not reach what it is for")
			}
		}
		r.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
		for i := range made {
			made[i].withdrawn = true
		}
		in.decide(t, made[:25]...)
		in.check(t)
		in.decide(t, made[25:]...)
		if d := differ(in.check(t), want); d != "" {
			t.Fatalf("seed %d: taken back is not as never decided:\n%s", seed, d)
		}
		if d := differ(in.views(t), views); d != "" {
			t.Fatalf("seed %d: taken back, other views:\n%s", seed, d)
		}
	}
}

// bridge invents two things of n records each, and one record that resembles both.
func bridge(n int) (ops []resolve.Op, between resolve.Op) {
	put := func(key, name, street string, phones ...string) resolve.Op {
		return resolve.Op{
			Ref: entity.Ref{Source: "bridge", Key: key}, Observed: time.UnixMilli(1700000000000),
			Attributes: entity.Attributes{"name": {name}, "address": {street}, "city": {"Springfield"}, "phones": phones},
		}
	}
	for i := range n {
		ops = append(ops, put(fmt.Sprint("left-", i), "Quillab Zephyr Noodles", "100 Market Street", "415-555-2300"),
			put(fmt.Sprint("right-", i), "Marzipan Harbor Optics", "7 Elm St.", "415-555-7700"))
	}
	return ops, put("between", "Quillab Zephyr Noodles Marzipan Harbor Optics", "100 Market Street", "415-555-2300", "415-555-7700")
}

// One record that resembles two things, or that decisions assign to both, does no harm that remains after its deletion.
func TestP09_ABridgeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, decided := range []bool{false, true} {
		ops, between := bridge(12)
		in := open(t, t.TempDir(), nil)
		in.apply(t, ops)
		want, views := in.check(t), in.views(t)
		if len(want) != 2 {
			t.Fatalf("%d entities, want 2", len(want))
		}
		for range 2 { // the second time the decisions already exist
			in.apply(t, []resolve.Op{between})
			if decided {
				in.decide(t, ruling{verdict: entity.VerdictSame, a: between.Ref, b: ops[0].Ref}, ruling{verdict: entity.VerdictSame, a: ops[1].Ref, b: between.Ref})
			}
			joined := false
			for _, members := range in.check(t) {
				joined = joined || strings.Contains(members+" ", ops[0].Key+" ") && strings.Contains(members+" ", ops[1].Key+" ")
			}
			if joined != decided {
				t.Errorf("decided %v, and the two are joined %v", decided, joined)
			}
			in.apply(t, []resolve.Op{{Ref: between.Ref, Delete: true}})
			if d := differ(in.check(t), want); d != "" {
				t.Fatalf("after the bridge is gone:\n%s", d)
			}
			if d := differ(in.views(t), views); d != "" {
				t.Fatalf("after the bridge is gone, other views:\n%s", d)
			}
		}
	}
}

// A phone number carried by more than H records joins none of them. Decisions about its records still
// count, and when some records are deleted it joins the others as before.
func TestP09_HotKeysWithdrawAndReturn(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 25))
	var ops []resolve.Op
	for i := range resolve.MaxBlockSize + 6 { // in pairs, spelled in two ways, because identical records count once
		name := firsts[i/2%len(firsts)] + " " + seconds[i/2/len(firsts)]
		if i%2 == 1 {
			name += "s"
		}
		ops = append(ops, resolve.Op{
			Ref: entity.Ref{Source: "hot", Key: fmt.Sprint(i)}, Observed: time.UnixMilli(1700000000000),
			Attributes: entity.Attributes{"name": {name}, "phones": {"415-555-9000"}},
		})
	}
	few := ops[:resolve.MaxBlockSize-10]
	in := open(t, t.TempDir(), nil)
	in.apply(t, few)
	in.decide(t, rulings(r, few, 12)...)
	want, views := in.check(t), in.views(t)
	for _, group := range groups(r, ops[len(few):], 5) {
		in.apply(t, group)
		in.check(t)
	}
	crowded := members(in.check(t))
	if !slices.ContainsFunc(members(want), func(m string) bool { return !slices.Contains(crowded, m) }) {
		t.Error("a generic number joins as before")
	}
	in.decide(t, rulings(r, ops[len(few):], 5)...)
	in.check(t)
	var deletes []resolve.Op
	for _, op := range ops[len(few):] {
		deletes = append(deletes, resolve.Op{Ref: op.Ref, Delete: true})
	}
	for _, group := range groups(r, shuffled(r, deletes), 5) {
		in.apply(t, group)
		in.check(t)
	}
	if d := differ(in.check(t), want); d != "" {
		t.Fatalf("the number joins other records than before:\n%s", d)
	}
	if d := differ(in.views(t), views); d != "" {
		t.Fatalf("the number makes other views than before:\n%s", d)
	}
}

// A chosen value is shown first, in its own spelling and with its supporters, and the entity is found by
// it.
func TestResolver_ShowsWhatPeopleChose(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	ops, _ := bridge(2)
	in.apply(t, ops)
	in.decide(t, ruling{verdict: entity.VerdictValue, a: ops[2].Ref, attribute: "name", value: "QUILLAB zephyr noodles!"},
		ruling{verdict: entity.VerdictValue, a: ops[1].Ref, attribute: "name", value: "Optikos"},
		ruling{verdict: entity.VerdictValue, a: ops[0].Ref, attribute: "phones", value: "415-555-0199"},
		ruling{verdict: entity.VerdictAnchor, a: ops[2].Ref})
	if found := in.found(t, "optikos"); found != 1 {
		t.Errorf("%d entities are found by the chosen name", found)
	}
	puid := in.puids(t)[ops[2].Ref]
	home, err := in.cells.Map().Puid(int64(puid))
	if err != nil {
		t.Fatal(err)
	}
	c, err := in.cells.Cell(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.View(t.Context(), func(tx storage.Tx) error {
		found, err := tx.Entities(t.Context(), []entity.PUID{puid})
		if err != nil || found[0] == nil || found[0].Members[0].Ref != ops[2].Ref {
			t.Fatalf("the entity of the chosen anchor is %+v, %v", found[0], err)
		}
		got := fmt.Sprintf("%+v", found[0].View)
		for _, want := range []string{
			"{Name:name Values:[{Value:QUILLAB zephyr noodles! Members:[0 1] Pinned:true}]}",
			"{Name:phones Values:[{Value:415-555-0199 Members:[] Pinned:true} {Value:415-555-2300 Members:[0 1] Pinned:false}]}",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("the view is\n%s, want in it\n%s", got, want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// found counts the entities that have a word in their names.
func (in *installation) found(t testing.TB, word string) (n int) {
	t.Helper()
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		found, err := tx.Search(t.Context(), entity.Query{Words: []string{word}, After: lo, Limit: 5})
		n += len(found)
		return err
	})
	return n
}

// Every id ever issued leads to an entity, or to the end of an entity whose last record was deleted, also with chosen
// anchors.
func TestP09_IdsUnderChosenAnchorsLeadOn(t *testing.T) {
	t.Parallel()
	for seed := range seeds(1) {
		r := rand.New(rand.NewPCG(seed, 26))
		ops, _ := bridge(10)
		in := open(t, t.TempDir(), nil)
		in.apply(t, ops)
		side := map[locality.ID]string{} // which of the two things an id belonged to
		note := func() {
			for id, members := range in.check(t) {
				side[id] = members[:len("bridge:l")]
			}
		}
		for range 12 {
			note()
			puids := in.puids(t)
			var here, gone []resolve.Op
			for _, op := range ops {
				if puids[op.Ref] != 0 {
					here = append(here, op)
				} else {
					gone = append(gone, op)
				}
			}
			in.decide(t, ruling{verdict: entity.VerdictAnchor, a: here[r.IntN(len(here))].Ref, withdrawn: r.IntN(4) == 0})
			note()
			batch := shuffled(r, gone)[:len(gone)/2]
			left := map[string]int{}
			for _, op := range here {
				left[op.Key[:1]]++
			}
			for _, op := range shuffled(r, here)[:4] {
				if left[op.Key[:1]]--; left[op.Key[:1]] > 0 {
					batch = append(batch, resolve.Op{Ref: op.Ref, Delete: true})
				}
			}
			in.apply(t, batch)
		}
		note()
		now := in.check(t)
		for id, of := range side {
			to := in.leads(t, id)
			if members, ok := now[to]; !ok || members[:len("bridge:l")] != of {
				t.Errorf("seed %d: id %v of %s leads to %v: %q", seed, id, of, to, members)
			}
		}
		if len(side) < 6 {
			t.Errorf("%d ids only were given", len(side))
		}
	}
}

// leads follows an id to its current entity.
func (in *installation) leads(t testing.TB, id locality.ID) (to locality.ID) {
	t.Helper()
	births, records := map[locality.ID]entity.Birth{}, map[entity.PUID]*entity.Record{}
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		rows, err := tx.ReadRows(t.Context(), "birth", nil, 1<<20)
		if err != nil {
			return err
		}
		var ids []locality.ID
		for _, row := range rows {
			ids = append(ids, locality.ID(row[0].([]byte)))
		}
		found, err := tx.Births(t.Context(), ids)
		for _, b := range found {
			births[b.ID] = *b
		}
		if err != nil {
			return err
		}
		live, err := tx.ListRecords(t.Context(), "", lo, 1<<20)
		for _, rec := range live {
			records[rec.PUID] = rec
		}
		return err
	})
	for range births {
		b, there := births[id]
		switch {
		case !there:
			t.Fatalf("id %v is forgotten", id)
		case b.PUID != 0:
			return records[records[b.PUID].Anchor].Birth
		}
		id = b.Successor
	}
	return id
}
