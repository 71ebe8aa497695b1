// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage/sqlite"
)

// A cell is restored from a backup some batches older than the other cells: records put, changed and
// deleted since are lost, and their consequences remain in other cells. After Settle, and after the lost
// writes are repeated, the entities match the records.
func TestP09_ARestoredCellLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for lost := range 3 {
		t.Run(fmt.Sprintf("cell %d", lost), func(t *testing.T) {
			t.Parallel()
			dir, backup := t.TempDir(), t.TempDir()
			name := fmt.Sprintf("g0-%d.db", lost)
			ops := world(uint64(lost)+40, longtest.Sample(30, 30, 60, 60))
			early, late := ops[:len(ops)/2], ops[len(ops)/2:]
			for i := range len(early) / 3 { // older in the backup, or deleted since
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

			cells, err := sqlite.OpenDir(t.Context(), dir, &sqlite.DirOptions{Rules: "test", Restored: true, Scratch: true})
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
				for _, d := range found { // a key or an id that named a lost record cannot be redirected
					if d.What != "birth" {
						t.Errorf("%+v", d)
					}
				}
			}
		})
	}
}

// settle repairs the consequences of restored cells, as a service does.
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
