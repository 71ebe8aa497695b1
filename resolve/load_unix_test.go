// SPDX-License-Identifier: Apache-2.0

//go:build unix

package resolve_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// The same as TestP09_ALoadIsWhatAStreamIs and TestP09_AKilledLoadIsFinished, in PostgreSQL.
func TestP09_ALoadInPostgres(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	server := pgtest.Shared(t)
	ops := unsettled(rand.New(rand.NewPCG(25, 27)), 4, 10)
	begin := func() *installation { return openServer(t, server.URL(server.Database(t)), nil).admitted(t) }
	streamed := alike(t, nil, func() *installation {
		in := begin()
		in.apply(t, ops)
		return in
	})
	streamed.check(t)
	want := streamed.rows(t)

	killed := 0
	for step := longtest.Sample(9, 9, 9, 2); ; step += longtest.Sample(61, 61, 37, 5) {
		cells := alike(t, streamed, func() *installation {
			in := heldBack(t, begin().cells, "", nil)
			in.apply(t, ops)
			return in
		}).cells
		fault := &crash{left: step}
		in := heldBack(t, cells, "", func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
		in.LoadPartly(step%2 > 0)
		err := in.Load(t.Context(), func(resolve.LoadProgress) {})
		if err != nil {
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			killed++
			in = heldBack(t, cells, "", nil)
			in.LoadPartly(step%2 > 0)
			in.load(t)
		}
		in.check(t)
		in.checkPostings(t)
		same(t, in.rows(t), want)
		if found := in.differences(t, false); len(found) > 0 {
			t.Errorf("a check finds %d differences, the first %+v", len(found), found[0])
		}
		if err == nil {
			break
		}
	}
	if killed == 0 {
		t.Error("no load was killed")
	}
}

// alike repeats the put until no puid was skipped between two records of a cell, and until records have the puids that
// they have in another installation, if there is one. A transaction that the server makes the client repeat has used up
// the puids that it drew, and then the rows of two installations cannot be compared.
func alike(t *testing.T, other *installation, put func() *installation) *installation {
	t.Helper()
	for range 20 {
		in, dense := put(), true
		in.each(t, func(tx storage.Tx, _ entity.PUID) error {
			records, err := tx.ReadRows(t.Context(), "record", nil, 1<<20)
			if n := len(records); n > 0 {
				dense = dense && records[n-1][0].(int64)-records[0][0].(int64) == int64(n-1)
			}
			return err
		})
		if dense && (other == nil || maps.Equal(in.puids(t), other.puids(t))) {
			return in
		}
	}
	t.Fatal("puids were skipped in every installation")
	return nil
}

// admitted writes nothing in each cell. The first transaction of a new cell, which has older rules, draws puids before
// it is refused if and only if the cell has admitted another one.
func (in *installation) admitted(t *testing.T) *installation {
	t.Helper()
	for _, id := range in.cells.Map().Cells() {
		c, err := in.cells.Cell(id)
		if err == nil {
			err = c.Update(t.Context(), func(storage.Tx) error { return nil })
		}
		if err != nil {
			t.Fatalf("cell %v: %v", id, err)
		}
	}
	return in
}
