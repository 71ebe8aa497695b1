// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage/sqlite"
)

// A cell comes back from a backup that is some batches older than the other cells: records that were put, changed
// and deleted in between are lost in it, and what followed from them stays elsewhere. Once that is settled, and once
// what was lost is put again, the entities are those that the records make.
func TestP09_ARestoredCellLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for lost := range 3 {
		t.Run(fmt.Sprintf("cell %d", lost), func(t *testing.T) {
			t.Parallel()
			dir, backup := t.TempDir(), t.TempDir()
			name := fmt.Sprintf("g0-%d.db", lost)
			ops := world(uint64(lost)+40, 60)
			early, late := ops[:len(ops)/2], ops[len(ops)/2:]
			for i := range len(early) / 3 { // what the backup has another version of, or has though it was deleted
				op := early[3*i]
				op.Observed = op.Observed.AddDate(1, 0, 0)
				op.Attributes = early[(3*i+7)%len(early)].Attributes
				op.Delete = i%4 == 0
				late = append(late, op)
			}
			in := open(t, dir, nil)
			in.apply(t, early)
			in.close(t)
			copyFile(t, filepath.Join(dir, "cells", name), filepath.Join(backup, name))
			in = open(t, dir, nil)
			in.apply(t, late)
			in.check(t)
			in.close(t)
			copyFile(t, filepath.Join(backup, name), filepath.Join(dir, "cells", name))

			cells, err := sqlite.OpenDir(t.Context(), dir, &sqlite.DirOptions{Rules: "test", Restored: true})
			if err == nil {
				err = errors.Join(cell.Reincarnate(t.Context(), cells), cells.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			in = open(t, dir, nil)
			in.settle(t)
			in.check(t)
			in.apply(t, late)
			in.settle(t)
			in.check(t)
			in.checkPostings(t)
			if found := in.differences(t, false); len(found) > 0 {
				for _, d := range found { // a key or an id that led to what was lost cannot be led elsewhere
					if d.What != "birth" {
						t.Errorf("%+v", d)
					}
				}
			}
		})
	}
}

// settle works off what cells that came back have lost, as a service does.
func (in *installation) settle(t *testing.T) {
	t.Helper()
	if err := in.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for in.Unsettled() {
		if err := in.Settle(t.Context(), func(resolve.Difference) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func (in *installation) close(t *testing.T) {
	t.Helper()
	if err := in.cells.Close(); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if info, err := os.Stat(from + suffix); err == nil && info.Size() > 0 {
			t.Fatalf("%s is there: the file is not all of the cell", from+suffix)
		}
		_ = os.Remove(to + suffix)
	}
}
