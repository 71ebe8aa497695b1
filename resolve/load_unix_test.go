// SPDX-License-Identifier: Apache-2.0

//go:build unix

package resolve_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/locus-db/locus/cell"
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
	streamed := openServer(t, server.URL(server.Database(t)), nil)
	streamed.apply(t, ops)
	streamed.check(t)
	want := streamed.rows(t)

	killed := 0
	for step := longtest.Sample(9, 9, 9, 2); ; step += longtest.Sample(61, 61, 37, 5) {
		cells := alike(t, streamed, func() *installation {
			in := heldBack(t, openServer(t, server.URL(server.Database(t)), nil).cells, "", nil)
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

// alike repeats the put until each cell has the puids that it has in another installation. A transaction that the server
// makes the client repeat has used up the puids that it drew, often the first one of a new cell; then the rows of two
// installations cannot be compared.
func alike(t *testing.T, other *installation, put func() *installation) *installation {
	t.Helper()
	want := other.puids(t)
	for range 20 {
		in := put()
		if maps.Equal(in.puids(t), want) {
			return in
		}
	}
	t.Fatal("no installation has the same puids")
	return nil
}
