// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage/sqlite"
)

// A directory is not created with more cells than the process can open, and does not grow beyond that. A directory that
// has more reports it before opening them.
func TestP08_GrowthAsksTheMachine(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	refused := func(what string, err error, says ...string) {
		t.Helper()
		if !errors.Is(err, cell.ErrTooMany) || !errors.Is(err, cell.ErrPreflight) {
			t.Errorf("%s: %v, want ErrTooMany", what, err)
			return
		}
		for _, word := range append(says, "ulimit -n") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v does not say %q", what, err, word)
			}
		}
	}
	files := func() int {
		found, err := filepath.Glob(filepath.Join(dir, "cells", "*.db"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}

	_, err := sqlite.OpenDir(t.Context(), dir, &sqlite.DirOptions{Cells: 16, Files: 200})
	if refused("make", err, "16 cells", "256", "may have 200"); files() > 1 {
		t.Errorf("%d cells were made", files())
	}
	cells, err := sqlite.OpenDir(t.Context(), dir, &sqlite.DirOptions{Cells: 4, Files: 200, Notice: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	_, err = cells.PlanGrowth(t.Context(), cell.Growth{Cells: 16})
	refused("plan", err, "20 cells", "304", "may have 200")
	err = cell.Grow(t.Context(), cells, cell.Growth{Cells: 16}, nil)
	if refused("grow", err, "20 cells", "304", "may have 200"); files() != 4 || cells.Map().Generations() != 1 {
		t.Errorf("%d files and %d generations after a growth that was refused", files(), cells.Map().Generations())
	}
	if _, err := cells.PlanGrowth(t.Context(), cell.Growth{Cells: 4}); err != nil {
		t.Errorf("a growth that fits: %v", err)
	}
	if err := cells.Close(); err != nil {
		t.Fatal(err)
	}

	_, err = sqlite.OpenDir(t.Context(), dir, &sqlite.DirOptions{Files: 80})
	refused("open", err, "4 cells", "84", "may have 80", "raise the limit to 112")
	cells, err = sqlite.OpenDir(t.Context(), dir, nil)
	if err == nil {
		err = cells.Close()
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "cells", "g1-0.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a cell of a growth that was refused: %v", err)
	}
}
