// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// twoGenerations returns a map whose second generation is current; a test has a cell of the first.
func twoGenerations(t *testing.T) *cell.Map {
	t.Helper()
	m, err := cell.NewMap(cell.Spec{
		ID: "7c0e31", Epoch: 3, Current: 1, Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		Generations: []cell.Generation{{Cells: 2}, {Cells: 4, Starts: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func headOf(t *testing.T, c cell.Database[storage.Tx]) (h cell.Head) {
	t.Helper()
	if err := c.View(t.Context(), func(tx storage.Tx) (err error) { h, err = tx.Head(t.Context()); return err }); err != nil {
		t.Fatalf("read the head: %v", err)
	}
	return h
}

func allocateOne(t *testing.T, c cell.Database[storage.Tx], k cell.Key) (puid int64) {
	t.Helper()
	if err := c.Update(t.Context(), func(tx storage.Tx) error {
		a, err := tx.Allocate(t.Context(), []cell.Key{k})
		if err == nil {
			puid = a[0].PUID
		}
		return err
	}); err != nil {
		t.Fatalf("allocate: %v", err)
	}
	return puid
}

// A copy of a cell's database is refused until it is adopted. Then it gives out no puid or log position that the
// original may have given out, and is sealed if the map says so, whatever the copy contains.
func TestP07_ACopyIsAdopted(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, nil)
	m := twoGenerations(t)
	id := m.IdentityOf(cell.ID{Index: 1}, "r")
	original, err := dialled(t, postgres.NewDriver(nil), s.URL("original"), id, true)
	must(t, err)
	allocateOne(t, original, key(1))
	putLease(t, original, lease.Lease{Token: 7, TTL: time.Second})
	must(t, original.Close())
	s.Exec(t, "postgres", "CREATE DATABASE copy TEMPLATE original")
	original, err = dialled(t, postgres.NewDriver(nil), s.URL("original"), id, false)
	must(t, err)
	lost := allocateOne(t, original, key(2)) // after the backup was made
	owned := lease.Lease{Owner: "who goes on", Token: 8, TTL: time.Second}
	putLease(t, original, owned)
	must(t, original.Update(t.Context(), appends(1)))

	copied, err := dialled(t, postgres.NewDriver(nil), s.URL("copy"), id, true)
	if !errors.Is(err, storage.ErrStrange) || !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(err.Error(), "copy") {
		t.Fatalf("a copy: %v, want ErrStrange", err)
	}
	err = copied.Update(t.Context(), func(storage.Tx) error { return errors.New("it ran") })
	if !errors.Is(err, storage.ErrStrange) {
		t.Fatalf("an update of a copy: %v, want ErrStrange", err)
	}
	away := errors.New("away")
	if err := copied.Adopt(t.Context(), func(context.Context) (*cell.Map, error) { return nil, away }); !errors.Is(err, away) {
		t.Errorf("adopted though the authority is away: %v", err)
	}
	other, err := cell.NewMap(cell.Spec{ID: "other", Generations: []cell.Generation{{Cells: 2}}})
	must(t, err)
	if err := copied.Adopt(t.Context(), func(context.Context) (*cell.Map, error) { return other, nil }); !errors.Is(err, cell.ErrIdentity) {
		t.Errorf("adopted by another map: %v", err)
	}
	for range 2 {
		must(t, copied.Adopt(t.Context(), func(context.Context) (*cell.Map, error) { return m, nil }))
	}
	must(t, copied.Identify(t.Context(), id))
	if got, want := headOf(t, copied), (cell.Head{Keys: cell.Sealed, Incarnation: 2, Epoch: 3, KnownEpoch: 3, Returns: 1}); got != want {
		t.Errorf("head %+v, want %+v", got, want)
	}
	if puid := allocateOne(t, copied, key(3)); puid <= lost+1<<19 {
		t.Errorf("the copy gives puid %d, the original gave %d after it was made", puid, lost)
	}
	if last, given := bounds(t, copied).Last, bounds(t, original).Last; last <= given+1<<19 {
		t.Errorf("the log of the copy goes on after %d, the original gave %d after it was made", last, given)
	}
	// The owner of the lease at that time is behind its fence, even if the lease was released since.
	must(t, copied.View(t.Context(), func(tx storage.Tx) error {
		l, err := tx.Lease(t.Context(), "resolve")
		if err == nil && (l.Fence <= owned.Token || l.Token < l.Fence) {
			t.Errorf("the copy has the lease %+v, the original %+v", l, owned)
		}
		return err
	}))
	areIntact(t, copied)
	must(t, copied.Update(t.Context(), func(tx storage.Tx) error { // a lease that is only looked at
		_, err := tx.Lease(t.Context(), "another")
		return err
	}))
	areIntact(t, copied)
	// Later connections find it at home.
	again, err := dialled(t, postgres.NewDriver(nil), s.URL("copy"), id, false)
	must(t, err)
	headOf(t, again)
}

// A growth creates its cells before it is announced. If their server is then replaced by its standby, the next growth
// takes them as it would have on the former server. A cell that was written to is not taken.
func TestP06_WhatAGrowthLeftIsAdopted(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, nil)
	before, err := cell.NewMap(cell.Spec{ID: "7c0e31", Epoch: 2, Generations: []cell.Generation{{Cells: 2}}})
	must(t, err)
	newest := func(context.Context) (*cell.Map, error) { return before, nil }
	id := twoGenerations(t).IdentityOf(cell.ID{Gen: 1, Index: 3}, "r")
	left, err := dialled(t, postgres.NewDriver(nil), s.URL("left"), id, true)
	must(t, err)
	must(t, left.Close())
	s.Exec(t, "postgres", "CREATE DATABASE promoted TEMPLATE \"left\"")
	promoted, err := dialled(t, postgres.NewDriver(nil), s.URL("promoted"), id, true)
	if !errors.Is(err, storage.ErrStrange) {
		t.Fatalf("another database: %v, want ErrStrange", err)
	}
	must(t, promoted.Adopt(t.Context(), newest))
	id.Lo, id.Hi = id.Lo+1<<20, id.Hi+1<<20 // of a growth to another number of cells
	must(t, promoted.Identify(t.Context(), id))
	if got, want := headOf(t, promoted), (cell.Head{Incarnation: 1}); got != want {
		t.Errorf("head %+v, want %+v", got, want)
	}
	areIntact(t, promoted)
	allocateOne(t, promoted, key(1))
	must(t, promoted.Close())

	s.Exec(t, "postgres", "CREATE DATABASE used TEMPLATE promoted")
	used, err := dialled(t, postgres.NewDriver(nil), s.URL("used"), id, true)
	if !errors.Is(err, storage.ErrStrange) {
		t.Fatalf("another database: %v, want ErrStrange", err)
	}
	if err := used.Adopt(t.Context(), newest); !errors.Is(err, cell.ErrIdentity) {
		t.Errorf("a cell with keys that the map does not have: %v, want ErrIdentity", err)
	}
}

// areIntact checks that every row that has a checksum matches it.
func areIntact(t *testing.T, c cell.Database[storage.Tx]) {
	t.Helper()
	must(t, c.View(t.Context(), func(tx storage.Tx) error {
		for _, table := range tx.Summed() {
			rows, err := tx.ReadRows(t.Context(), table.Name, nil, 100)
			if err != nil {
				return err
			}
			for _, row := range rows {
				if !table.Intact(row) {
					t.Errorf("table %s: the row %v does not match its checksum", table.Name, row)
				}
			}
		}
		return nil
	}))
}

// A replica that missed the seal is promoted: the driver seals it by the map of the authority before it serves.
func TestP06_APromotedReplicaAsksTheAuthority(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	primary, authority := pgtest.Start(t, nil), pgtest.Start(t, nil)
	urls := []string{authority.URL("g{g}_{i}"), primary.URL("g{g}_{i}")}
	open := func(url func(string) string) *storage.Cells {
		t.Helper()
		driver := postgres.NewDriver(nil)
		cells, err := cell.OpenCells(ctx, cell.CellsOptions[storage.Tx]{
			Authority: authority.URL("g0_0"), Rules: "r", New: &cell.Spec{Generations: []cell.Generation{{Cells: 2, URLs: urls}}},
			// The server of cell 1 is whatever its name currently points to.
			Driver: func(string) (storage.Driver, error) {
				return redirected{driver, primary.URL(""), url("")}, nil
			},
		})
		must(t, err)
		driver.Follow(cells)
		t.Cleanup(func() {
			if err := cells.Close(); err != nil {
				t.Error(err)
			}
		})
		return cells
	}
	cells := open(primary.URL)
	one := cell.ID{Index: 1}
	db, err := cells.Cell(one)
	must(t, err)
	allocateOne(t, db, key(1))

	replica := primary.Standby(t)
	replica.CatchUp(t, primary)
	replica.Stop(t)
	// The newest map has a second generation, and the primary's cell is sealed; the replica misses that.
	spec := cells.Map().Spec()
	spec.Epoch++
	spec.Current = 1
	spec.Generations = append(spec.Generations, cell.Generation{Cells: 4, Starts: spec.Until, URLs: urls})
	spec.Until = spec.Until.Add(time.Hour)
	next, err := cell.NewMap(spec)
	must(t, err)
	text, err := next.MarshalJSON()
	must(t, err)
	root, err := cells.Cell(cell.ID{})
	must(t, err)
	must(t, root.Update(ctx, func(tx storage.Tx) error { return tx.PutCellMap(ctx, next.Epoch(), text) }))
	lost := allocateOne(t, db, key(2))
	must(t, db.Exclusive(ctx, func(tx storage.Tx) error {
		h, err := tx.Head(ctx)
		if err != nil {
			return err
		}
		return tx.SetHead(ctx, h.Seal(next.Epoch()))
	}))
	must(t, cells.Close())
	primary.Kill(t)
	replica.Restart(t)
	replica.Promote(t)

	promoted, err := open(replica.URL).Cell(one)
	must(t, err)
	h := headOf(t, promoted)
	if h.Keys != cell.Sealed || h.Incarnation != 2 {
		t.Errorf("the promoted replica answers with %+v", h)
	}
	if puid := allocateOne(t, promoted, key(3)); puid <= lost {
		t.Errorf("the promoted replica gives puid %d, the old primary gave %d", puid, lost)
	}
}

// redirected dials another server in place of the one in a URL.
type redirected struct {
	*postgres.Driver
	from, to string
}

func (r redirected) Dial(ctx context.Context, url string, create bool) (cell.Opened[storage.Tx], error) {
	host := func(url string) string { _, host, _ := strings.Cut(url, "?"); return host }
	return r.Driver.Dial(ctx, strings.Replace(url, host(r.from), host(r.to), 1), create)
}

// The authority itself is adopted only with Restored; then the whole installation is, cell by cell.
func TestP07_ARestoredInstallation(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := pgtest.Start(t, nil)
	open := func(maps string, o *postgres.Options, mustExist bool) (*storage.Cells, error) {
		cells, err := postgres.OpenMap(ctx, s.URL(maps), &postgres.MapOptions{Cells: 2, Driver: postgres.NewDriver(o), MustExist: mustExist})
		if err == nil {
			t.Cleanup(func() {
				if err := cells.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		return cells, err
	}
	cells, err := open("a", nil, false)
	must(t, err)
	puids := map[cell.ID]int64{}
	for _, id := range cells.Map().Cells() {
		db, err := cells.Cell(id)
		must(t, err)
		puids[id] = allocateOne(t, db, key(1))
	}
	must(t, cells.Close())
	for _, name := range []string{"_g0_0", "_g0_1"} { // the server has lost them, and they are restored
		s.Exec(t, "postgres", "CREATE DATABASE backup TEMPLATE a"+name)
		s.Exec(t, "postgres", "DROP DATABASE a"+name)
		s.Exec(t, "postgres", "CREATE DATABASE a"+name+" TEMPLATE backup")
		s.Exec(t, "postgres", "DROP DATABASE backup")
	}
	if _, err := open("a", nil, true); !errors.Is(err, storage.ErrStrange) || !strings.Contains(err.Error(), "locus cell restored") {
		t.Errorf("a restored installation: %v, want ErrStrange and what to do", err)
	}
	cells, err = open("a", &postgres.Options{Restored: true}, true)
	must(t, err)
	must(t, cell.Reincarnate(ctx, cells))
	must(t, cells.Close())
	cells, err = open("a", nil, true)
	must(t, err)
	for _, id := range cells.Map().Cells() {
		db, err := cells.Cell(id)
		must(t, err)
		if h := headOf(t, db); h.Incarnation < 2 || h.Keys != cell.Open {
			t.Errorf("cell %v: head %+v", id, h)
		}
		if puid := allocateOne(t, db, key(2)); puid <= puids[id]+1<<19 {
			t.Errorf("cell %v gives %d, it gave %d before it was restored", id, puid, puids[id])
		}
	}
}

// putLease writes the lease of a cell.
func putLease(t *testing.T, c *postgres.Cell, l lease.Lease) {
	t.Helper()
	must(t, c.Update(t.Context(), func(tx storage.Tx) error { return tx.PutLease(t.Context(), "resolve", l) }))
}
