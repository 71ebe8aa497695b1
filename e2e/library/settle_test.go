// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// A cell is restored from a backup without records that others were joined with. The service repairs the data derived
// from them in other cells, reports this until it is done, and afterwards a check finds nothing.
func TestP09_AServiceSettlesACellThatCameBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	file, backup := filepath.Join(dir, "cells", "g0-1.db"), filepath.Join(t.TempDir(), "g0-1.db")
	twins := func(s *locus.DB, name string) {
		for i := range 24 {
			put(t, s, place(fmt.Sprintf("%s%d", name, i), fmt.Sprintf("Zephyr Trampolines %d", i), "sport", "Springfield"))
		}
	}
	s := open(t, dir, 2)
	twins(s, "a")
	must(t, s.Close())
	copyFile(t, file, backup)
	s = open(t, dir, 2)
	twins(s, "b")
	must(t, s.Close())
	copyFile(t, backup, file)

	cells, err := storage.Open(t.Context(), dir, &storage.Options{Restored: true, Scratch: true})
	must(t, err)
	s, err = locus.OpenCells(t.Context(), cells, nil)
	must(t, err)
	if found := differences(t, s); len(found) == 0 {
		t.Fatal("nothing of what was lost is in the other cell: the test shows nothing")
	}
	must(t, cell.Reincarnate[storage.Tx](t.Context(), cells))
	if status, err := s.Cells().Status(t.Context()); err != nil || status.Redo == 0 {
		t.Errorf("a cell came back, and %d records are to be worked off: %v", status.Redo, err)
	}
	must(t, s.Close())
	s = open(t, dir, 2)
	defer s.Close()
	until(t, "the cell to be settled", func() (bool, string) {
		status, err := s.Cells().Status(t.Context())
		return err == nil && status.Redo == 0, fmt.Sprint(err)
	})
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("%d differences, such as %+v", len(found), found[0])
	}
	twins(s, "b")
	if found := differences(t, s); len(found) > 0 {
		t.Errorf("what was lost is put again: %d differences, such as %+v", len(found), found[0])
	}
}

func differences(t *testing.T, s *locus.DB) (found []cells.Difference) {
	t.Helper()
	must(t, s.Cells().Check(t.Context(), cells.Checking{}, func(d cells.Difference) error {
		found = append(found, d)
		return nil
	}, nil))
	return found
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, errors.Join(err, os.WriteFile(to, text, 0o600)))
}
