// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// differences returns what a check of the installation finds.
func (in *installation) differences(t testing.TB, repair bool) (found []resolve.Difference) {
	t.Helper()
	err := in.Check(t.Context(), resolve.Checking{Repair: repair, Report: func(d resolve.Difference) error {
		found = append(found, d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (in *installation) clean(t testing.TB) {
	t.Helper()
	if found := in.differences(t, false); len(found) > 0 {
		t.Fatalf("%d differences where nothing is damaged, such as %+v", len(found), found[0])
	}
}

// damage is a change to the rows of a cell, as a disk or an operator may cause it.
type damage struct {
	name string
	// what lists the types of the expected differences, of which at least one must be found.
	what string
	// unrepaired marks damage that only a person can repair.
	unrepaired bool
	do         func(ctx context.Context, tx storage.Tx, r *rand.Rand) error
}

// some returns a random row of a table that satisfies a condition.
func some(ctx context.Context, tx storage.Tx, table string, r *rand.Rand, ok func([]any) bool) ([]any, error) {
	rows, err := tx.ReadRows(ctx, table, nil, 1<<20)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row []any) bool { return ok != nil && !ok(row) })
	if len(rows) == 0 {
		return nil, fmt.Errorf("no row of %s can be damaged", table)
	}
	return rows[r.IntN(len(rows))], nil
}

// change writes a row with altered values.
func change(table string, key int, ok func([]any) bool, alter func(row []any)) func(context.Context, storage.Tx, *rand.Rand) error {
	return func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		row, err := some(ctx, tx, table, r, ok)
		if err != nil {
			return err
		}
		if err := tx.DeleteRows(ctx, table, [][]any{row[:key]}); err != nil || alter == nil {
			return err
		}
		alter(row)
		return tx.WriteRows(ctx, table, [][]any{row})
	}
}

// keyOfLive damages the key of a live record. The record of a deleted key could not be found without it.
func keyOfLive(alter func(row []any)) func(context.Context, storage.Tx, *rand.Rand) error {
	return func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		live, err := some(ctx, tx, "record", r, liveRow)
		if err != nil {
			return err
		}
		return change("locus_key", 2, func(row []any) bool { return row[2] == live[0] }, alter)(ctx, tx, r)
	}
}

func liveRow(row []any) bool { return row[7] != nil }

var damages = []damage{
	{"a posting is gone", "posting", false, change("posting", 2, nil, nil)},
	{"a posting names another record", "posting", false, change("posting", 2, nil, func(row []any) { row[1] = row[1].(int64) + 1<<40 })},
	{"a posting is of another blocking key", "posting", false, change("posting", 2, nil, func(row []any) { row[0] = row[0].(int64) ^ 1 })},
	{"an edge is gone", "edge", false, change("edge", 2, nil, nil)},
	{"an edge has another score", "edge", false, change("edge", 2, nil, func(row []any) { row[3] = row[3].(int64) ^ 64 })},
	{"an edge leads to no record", "edge", false, change("edge", 2, nil, func(row []any) { row[1] = row[1].(int64) + 1<<30 })},
	{"an edge lies in another cell", "edge", false, change("edge", 2, nil, func(row []any) { row[0] = -row[0].(int64) })},
	{"a record names another anchor", "member", false, change("record", 1, liveRow, func(row []any) { row[5] = row[0].(int64) + 3 })},
	{"a record names an anchor beyond all cells", "member", false, change("record", 1, liveRow, func(row []any) { row[5] = int64(-1 << 63) })},
	{"a birth is gone", "birth", false, change("birth", 1, func(row []any) bool { return row[1] != int64(0) }, nil)},
	{"the birth of a deleted record is gone", "birth", true, func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		deleted, err := some(ctx, tx, "record", r, func(row []any) bool { return !liveRow(row) && !bytes.Equal(row[4].([]byte), make([]byte, 16)) })
		if err != nil {
			return err
		}
		return tx.DeleteRows(ctx, "birth", [][]any{{deleted[4]}})
	}},
	{"a birth leads to another record", "birth", false, change("birth", 1, func(row []any) bool { return row[1] != int64(0) }, func(row []any) { row[1] = row[1].(int64) + 1 })},
	{"a key is gone", "key", false, keyOfLive(nil)},
	{"a key has another hash", "key", false, keyOfLive(func(row []any) { row[1].([]byte)[3] ^= 1 })},
	{"a record is gone", "birth", true, change("record", 1, liveRow, nil)},
	{"an entity is gone", "entity", false, func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		row, err := some(ctx, tx, cell.JournaledEntity, r, nil)
		if err != nil {
			return err
		}
		return errors.Join(tx.DeleteEntities(ctx, []entity.PUID{entity.PUID(row[0].(int64))}), tx.AddCounts(ctx, entity.Counts{Entities: -1}))
	}},
	{"an entity shows another view", "entity", false, func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		return spoil(ctx, tx, r, func(e *entity.Indexed) { e.View[0].Values[0].Value += "x" })
	}},
	{"an entity lacks a member", "entity", false, func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		return spoil(ctx, tx, r, func(e *entity.Indexed) { e.Members = e.Members[:len(e.Members)-1]; e.View = nil })
	}},
	{"an entity has another rank", "entity", false, func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		return spoil(ctx, tx, r, func(e *entity.Indexed) { e.Rank.Known ^= 1 })
	}},
	{"an entity is not found", "search", false, func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		return spoil(ctx, tx, r, func(*entity.Indexed) {})
	}},
	{"an entity has no anchor", "entity", false, func(ctx context.Context, tx storage.Tx, r *rand.Rand) error {
		return errors.Join(tx.AddCounts(ctx, entity.Counts{Entities: 1}), spoil(ctx, tx, r, func(e *entity.Indexed) { e.Members[0].PUID += 1 << 20 }))
	}},
	{"a total is wrong", "total", false, func(ctx context.Context, tx storage.Tx, _ *rand.Rand) error {
		return tx.AddCounts(ctx, entity.Counts{Records: 2, Entities: -1})
	}},
	{"a decision stands under one record only", "decision", false, change("decision", 2, nil, nil)},
}

// spoil writes an altered entity of several records, without search keys.
func spoil(ctx context.Context, tx storage.Tx, r *rand.Rand, alter func(*entity.Indexed)) error {
	rows, err := tx.ReadRows(ctx, cell.JournaledEntity, nil, 1<<20)
	if err != nil {
		return err
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, row := range rows {
		found, err := tx.Entities(ctx, []entity.PUID{entity.PUID(row[0].(int64))})
		if err != nil || len(found[0].Members) < 2 {
			continue
		}
		e := entity.Indexed{Entity: found[0]}
		alter(&e)
		return tx.PutEntities(ctx, []entity.Indexed{e})
	}
	return errors.New("no entity has two records")
}

// hurt damages the first cell that has a suitable row.
func (in *installation) hurt(t *testing.T, d damage, r *rand.Rand) cell.ID {
	t.Helper()
	var last error
	for _, id := range in.cells.Map().Cells() {
		c, err := in.cells.Cell(id)
		if err == nil {
			err = c.Update(t.Context(), func(tx storage.Tx) error { return d.do(t.Context(), tx, r) })
		}
		if err == nil {
			return id
		}
		last = err
	}
	t.Fatal(last)
	return cell.ID{}
}

// live applies a history of puts, deletions and decisions to an installation.
func live(t *testing.T, in *installation, seed uint64) {
	t.Helper()
	ops := world(seed, longtest.Sample(14, 14, 20, 20))
	in.apply(t, ops)
	for i := 0; i < len(ops); i += 9 {
		in.apply(t, []resolve.Op{{Ref: ops[i].Ref, Delete: true}})
	}
	var puids []entity.PUID
	in.each(t, func(tx storage.Tx, lo entity.PUID) error {
		records, err := tx.ListRecords(t.Context(), "", lo, 10)
		for _, rec := range records {
			puids = append(puids, rec.PUID)
		}
		return err
	})
	for i := 0; i+7 < len(puids); i += 4 {
		verdict := []entity.Verdict{entity.VerdictSame, entity.VerdictDifferent}[i/4%2]
		if made := in.Decide(t.Context(), []entity.Decision{{Verdict: verdict, A: puids[i], B: puids[i+7], Author: "ann"}}); made[0].Err != nil {
			t.Fatal(made[0].Err)
		}
	}
}

// The short run damages copies of one history. The long run gives each damage a history of its own.
func TestP09_CheckFindsAndRepairsEachDamage(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	type history struct {
		dir  string
		want map[locality.ID]string
	}
	var histories []history
	for seed := range longtest.Times(1, len(damages)) {
		var h history
		h.dir = prepared(t, func(in *installation) {
			live(t, in, uint64(seed))
			h.want = in.check(t)
			in.clean(t)
		})
		histories = append(histories, h)
	}
	for i, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			h := histories[i%len(histories)]
			in := open(t, copied(t, h.dir), nil)
			at := in.hurt(t, d, rand.New(rand.NewPCG(uint64(i), 2)))
			found := in.differences(t, false)
			if !slices.ContainsFunc(found, func(f resolve.Difference) bool { return f.What == d.what && f.Cell == at || f.What == d.what }) {
				t.Fatalf("the check does not find it: %+v", found)
			}
			if i%longtest.Stride(4) == 0 {
				if again := in.differences(t, false); len(again) != len(found) {
					t.Errorf("a check that repairs nothing found %d differences, and then %d", len(found), len(again))
				}
			}
			repaired := in.differences(t, true)
			for _, f := range repaired {
				if !f.Repaired && !d.unrepaired {
					t.Errorf("not repaired: %+v", f)
				}
				if !f.Repaired && f.Advice == "" {
					t.Errorf("not repaired, and without advice: %+v", f)
				}
			}
			if left := in.differences(t, true); d.unrepaired != (len(left) > 0) {
				t.Fatalf("after the repair there are %d differences, such as %+v", len(left), left)
			}
			if d.unrepaired {
				return
			}
			if diff := differ(in.check(t), h.want); diff != "" {
				t.Errorf("repaired, the entities are others:\n%s", diff)
			}
		})
	}
}

func TestP09_CheckIsQuietWhileOthersWrite(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	in := open(t, dir, nil)
	ops := world(7, 60)
	in.apply(t, ops)
	other := process(t, in.cells, "other", nil)
	checking := process(t, in.cells, "checking", nil)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		r := rand.New(rand.NewPCG(7, 3))
		n := 0
		for ; ctx.Err() == nil; n++ {
			var batch []resolve.Op
			for range 1 + r.IntN(8) {
				op := ops[r.IntN(len(ops))]
				switch r.IntN(3) {
				case 0:
					op = resolve.Op{Ref: op.Ref, Delete: true}
				case 1:
					op.Attributes = entity.Attributes{"name": {pick(r, firsts) + " " + pick(r, seconds)}, "city": op.Attributes["city"], "phones": {fmt.Sprintf("415-555-%04d", r.IntN(50))}}
				}
				op.Observed = op.Observed.AddDate(1, 0, n)
				batch = append(batch, op)
			}
			other.Apply(context.WithoutCancel(ctx), batch)
		}
		other.Leave(context.WithoutCancel(ctx))
		done <- n
	}()
	for range 3 {
		var found []string
		err := checking.Check(ctx, resolve.Checking{Report: func(d resolve.Difference) error {
			found = append(found, fmt.Sprintf("%+v", d))
			return nil
		}})
		if err != nil {
			t.Error(err)
		}
		if len(found) > 0 {
			t.Errorf("%d differences, and nothing is damaged:\n%s", len(found), strings.Join(found[:min(5, len(found))], "\n"))
		}
	}
	stop()
	if n := <-done; n < 10 {
		t.Errorf("only %d batches were written beside the checks", n)
	}
}

// A damaged or missing row of packed postings is reported, and a repair posts its records again.
func TestP09_ACheckMendsPostings(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	flip := func(ctx context.Context, tx storage.Tx, table string, row []any) error {
		body := bytes.Clone(row[1].([]byte))
		body[len(body)/2] ^= 1
		return tx.WriteRows(ctx, table, [][]any{{row[0], body, row[2]}})
	}
	for name, c := range map[string]struct {
		table string
		do    func(ctx context.Context, tx storage.Tx, table string, row []any) error
		found bool
	}{
		"a chunk is damaged":  {"posting_chunk", flip, true},
		"the list of runs is": {"posting_state", flip, true},
		"a chunk is gone": {"posting_chunk", func(ctx context.Context, tx storage.Tx, table string, row []any) error {
			return tx.DeleteRows(ctx, table, [][]any{row[:1]})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := open(t, t.TempDir(), nil)
			live(t, in, 3)
			var id any
			for _, at := range in.cells.Map().Cells() {
				of, err := in.cells.Cell(at)
				if err != nil {
					t.Fatal(err)
				}
				if err := of.Update(t.Context(), func(tx storage.Tx) error {
					if err := tx.MergePostings(t.Context(), false); err != nil || id != nil {
						return err
					}
					rows, err := tx.ReadRows(t.Context(), c.table, nil, 1)
					if err != nil || len(rows) == 0 {
						return err
					}
					id = rows[0][0]
					return c.do(t.Context(), tx, c.table, rows[0])
				}); err != nil {
					t.Fatal(err)
				}
			}
			named := fmt.Sprintf("%s %v", c.table, id)
			is := func(d resolve.Difference) bool { return d.What == "checksum" && d.ID == named }
			var found []resolve.Difference
			err := in.Check(t.Context(), resolve.Checking{Report: func(d resolve.Difference) error { found = append(found, d); return nil }})
			if damaged, isDamaged := errors.AsType[*cell.DamagedError](err); !isDamaged || damaged.Table != c.table || damaged.Key != fmt.Sprint(id) {
				t.Errorf("a check returns %v, want %s named", err, named)
			}
			if slices.ContainsFunc(found, is) != c.found {
				t.Errorf("%s among %+v: want %v", named, found, c.found)
			}
			if mended := in.differences(t, true); !slices.ContainsFunc(mended, func(d resolve.Difference) bool { return is(d) && d.Repaired }) {
				t.Errorf("%s is not repaired: %+v", named, mended)
			}
			in.clean(t)
			in.checkPostings(t)
		})
	}
}
