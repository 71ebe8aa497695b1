// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// A read-only process checks a damaged installation whose map has expired. It finds the damage and changes no row, not
// even the lease.
func TestP06_ACheckWritesNothing(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"files", "server"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			where, behind := t.TempDir(), func(where string, id cell.ID) database {
				return openFile(t, filepath.Join(where, "cells", id.String()+".db"))
			}
			if backend == "server" {
				where = pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
				behind = func(where string, id cell.ID) database { return openServer(t, where, id) }
			}
			open := func(options *locus.Options) (*locus.DB, *storage.Cells) {
				opened, err := storage.Open(t.Context(), where, &storage.Options{Cells: 2, Notice: time.Second, Scratch: true})
				must(t, err)
				s, err := locus.OpenCells(t.Context(), opened, options)
				must(t, err)
				return s, opened
			}
			s, opened := open(nil)
			populate(t, s)
			settled(t, s)
			ids, end := opened.Map().Cells(), opened.Map().Until()
			for _, id := range ids {
				db, err := opened.Cell(id)
				must(t, err)
				must(t, db.Update(t.Context(), func(tx storage.Tx) error { // postings and entities of the first records are gone
					for _, table := range []string{"posting", "edge"} {
						rows, err := tx.ReadRows(t.Context(), table, nil, 3)
						if err != nil {
							return err
						}
						for _, row := range rows {
							if err := tx.DeleteRows(t.Context(), table, [][]any{row[:2]}); err != nil {
								return err
							}
						}
					}
					lo, _ := opened.Map().PuidRange(id)
					return tx.DeleteEntities(t.Context(), []entity.PUID{entity.PUID(lo + 1), entity.PUID(lo + 2)})
				}))
			}
			must(t, s.Close())
			select {
			case <-time.After(time.Until(end)):
			case <-t.Context().Done():
			}
			dump := func() (text []string) {
				for _, id := range ids {
					text = append(text, behind(where, id).dump()...)
				}
				return text
			}
			before := dump()
			s, _ = open(&locus.Options{Passive: true})
			found, err := look(t, s)
			must(t, err)
			must(t, s.Close())
			for _, what := range []string{"posting", "edge", "entity"} {
				if !slices.ContainsFunc(found, func(d cells.Difference) bool { return d.What == what }) {
					t.Errorf("the check finds no %s among %d differences", what, len(found))
				}
			}
			if after := dump(); !slices.Equal(before, after) {
				t.Errorf("the check has changed rows:\n%.2000s", cmp.Diff(strings.Join(before, "\n"), strings.Join(after, "\n")))
			}
			s, _ = open(nil)
			must(t, s.Cells().Check(t.Context(), cells.Checking{Repair: true}, func(cells.Difference) error { return nil }, nil))
			until(t, "everything to be repaired, and the rollup to be counted again", func() (bool, string) {
				found := differences(t, s)
				return len(found) == 0, fmt.Sprint(found)
			})
			must(t, s.Close())
		})
	}
}
