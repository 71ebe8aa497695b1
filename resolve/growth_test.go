// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Cells added during writes give the same entities as if they had always existed, and no record leaves its
// cell.
func TestP08_GrowthChangesNoEntityAndMovesNoRecord(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := rand.New(rand.NewPCG(8, 8))
	things := longtest.Sample(0, 40, max(30, longtest.Part(60)), 60)
	before, after := world(70, things), world(71, things)
	history := shuffled(r, before)
	// Then new versions, deletions, and records that were deleted before.
	history = append(history, shuffled(r, after)[:60]...)
	for _, op := range shuffled(r, before)[:40] {
		history = append(history, resolve.Op{Ref: op.Ref, Delete: true}, op)
	}
	want := madeOf(t, history)

	grown := open(t, t.TempDir(), nil)
	homes := map[entity.PUID]cell.ID{}
	for i, group := range groups(r, history, 25) {
		if n := grown.cells.Map().Count(grown.cells.Map().Current()); i%4 == 3 && n < 24 {
			if err := cell.Grow(t.Context(), grown.cells, cell.Growth{Cells: 2 * n}, nil); err != nil {
				t.Fatal(err)
			}
		}
		grown.apply(t, group)
		grown.check(t)
		grown.each(t, func(tx storage.Tx, lo entity.PUID) error {
			records, err := tx.ListRecords(t.Context(), "", lo, 10_000)
			for _, rec := range records {
				home, err := grown.cells.Map().Puid(int64(rec.PUID))
				if err != nil {
					t.Error(err)
				}
				if was, known := homes[rec.PUID]; known && was != home {
					t.Errorf("record %v moved from %v to %v", rec.Ref, was, home)
				}
				homes[rec.PUID] = home
			}
			return err
		})
	}
	if d := differ(grown.check(t), want); d != "" {
		t.Fatalf("with growth, other entities:\n%s", d)
	}
	used := map[string]int{}
	for _, home := range homes {
		used[fmt.Sprint("generation ", home.Gen)]++
	}
	if len(used) != 4 {
		t.Errorf("records by generation: %v; want some in each of 4", used)
	}
}

// A key that compaction copied into the current generation still names its record, also for a process that
// has never seen the key.
func TestP08_CompactedKeysLeadToTheirRecords(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	first := open(t, t.TempDir(), nil)
	history := world(72, 40)
	first.apply(t, history)
	if err := cell.Grow(t.Context(), first.cells, cell.Growth{Cells: 6}, nil); err != nil {
		t.Fatal(err)
	}
	want := first.check(t)
	if err := first.Compact(t.Context(), first.cells, 1, nil); err != nil {
		t.Fatal(err)
	}
	again := process(t, first.cells, "", nil)
	for pass := range 2 {
		for i, r := range again.Apply(t.Context(), history) {
			if home, err := again.cells.Map().Puid(int64(r.PUID)); r.Err != nil || err != nil || home.Gen != 0 || r.Outcome == resolve.Created {
				t.Errorf("pass %d: %v is %s, puid %v in cell %v, %v, %v", pass, history[i].Ref, r.Outcome, r.PUID, home, r.Err, err)
			}
		}
	}
	if d := differ(again.check(t), want); d != "" {
		t.Errorf("after a compaction, other entities:\n%s", d)
	}
}

// A cell restored from a backup lacks keys that were put since. A process with cached puids must not use
// them, because no other process would find the records.
func TestP07_RememberedPuidsOfALostCell(t *testing.T) {
	t.Parallel()
	first := open(t, t.TempDir(), nil)
	history := world(73, 40)
	var keys []cell.Key
	for _, op := range history {
		keys = append(keys, first.cells.Map().KeyOf(op.Source, op.Key))
	}
	first.apply(t, history)
	before, err := first.Directory().Lookup(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range first.cells.Map().Cells() {
		c, err := first.cells.Cell(id)
		if err == nil {
			err = c.Update(t.Context(), func(tx storage.Tx) error { return empty(t, tx) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first.apply(t, history)
	after, err := process(t, first.cells, "", nil).Directory().Lookup(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range first.Apply(t.Context(), history) {
		if r.Err != nil || int64(r.PUID) != after[i] || after[i] == cell.Nothing || after[i] == before[i] {
			t.Errorf("%v has puid %v for one process and %d for others, and had %d, %v", history[i].Ref, r.PUID, after[i], before[i], r.Err)
		}
	}
	first.check(t)
}

// empty deletes everything in a cell except the count of allocated puids.
func empty(t *testing.T, tx storage.Tx) error {
	t.Helper()
	for _, table := range tx.Tables() {
		rows, err := tx.ReadRows(t.Context(), table.Name, nil, 10_000)
		if err != nil {
			return err
		}
		if table.Name == cell.Total {
			for i := slices.Index(table.Columns, "records"); i < len(table.Columns); i++ {
				rows[0][i] = int64(0)
			}
			if err := tx.WriteRows(t.Context(), table.Name, rows); err != nil {
				return err
			}
			continue
		}
		for i := range rows {
			rows[i] = rows[i][:table.Key]
		}
		if err := tx.DeleteRows(t.Context(), table.Name, rows); err != nil {
			return err
		}
	}
	entities, err := tx.ListEntities(t.Context(), math.MinInt64, 10_000)
	if err != nil {
		return err
	}
	var anchors []entity.PUID
	for _, e := range entities {
		anchors = append(anchors, e.Anchor())
	}
	return tx.DeleteEntities(t.Context(), anchors)
}
