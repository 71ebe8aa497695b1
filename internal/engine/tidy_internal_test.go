// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"log/slog"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// A cell that is written to is left alone. A cell at rest is made cheap to read, in its turns or at once.
func TestTidy_CellsAtRest(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cells, err := storage.Open(ctx, t.TempDir(), &storage.Options{Cells: 2, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cells.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := &Engine{Cells: cells, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	anchor := entity.PUID(0)
	write := func(id cell.ID) {
		t.Helper()
		anchor++
		indexed := []entity.Indexed{{Entity: &entity.Entity{ID: locality.Max(), Members: []entity.Member{{PUID: anchor}}},
			Words: []string{"blue"}}}
		if err := e.Update(ctx, id, func(tx storage.Tx) error { return tx.PutEntities(ctx, indexed) }); err != nil {
			t.Fatal(err)
		}
	}
	more := func(id cell.ID) bool {
		t.Helper()
		at, _, err := cells.Tidy(ctx, id, cell.Pulse{}) // too early, so that nothing is done
		if err != nil {
			t.Fatal(err)
		}
		_, more, err := cells.Tidy(ctx, id, at)
		if err != nil {
			t.Fatal(err)
		}
		return more
	}
	busy, rests := cell.ID{Index: 0}, cell.ID{Index: 1}
	for range 10 {
		write(busy)
		write(rests)
	}
	m := e.NewMaintainer()
	for range 10 {
		write(busy)
		m.tidy(ctx)
		m.done.Wait()
	}
	if !more(busy) || more(rests) {
		t.Error("the busy cell is tidied, or the one at rest is not")
	}
	write(busy)
	write(rests)
	e.Tidy(ctx)
	if more(busy) || more(rests) {
		t.Error("not all cells are tidied")
	}
}
