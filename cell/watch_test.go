// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// A cell that goes back while a process runs is closed and rejected; the others continue, and the process can close,
// even during a beat.
func TestP01_ACellThatGoesBackIsLetGoOf(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			memory := &celltest.Memory{}
			o := options(memory, 3)
			o.Beat = time.Second
			c, err := cell.OpenCells(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			put := func(index uint32, key int64) error {
				db, err := c.Cell(cell.ID{Index: index})
				if err != nil {
					t.Fatal(err)
				}
				return db.Update(t.Context(), func(s cell.Store) error {
					_, err := s.Allocate(t.Context(), []cell.Key{{Ring: key}})
					return err
				})
			}
			restore := memory.Save("mem:g0-2")
			if err := errors.Join(put(2, 1), put(2, 2)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second) //nolint:forbidigo // of a bubble
			restore()
			if err := put(2, 3); err != nil { // no process has looked yet
				t.Fatal(err)
			}
			if !closing {
				time.Sleep(2 * time.Second) //nolint:forbidigo // of a bubble
				if err := put(2, 4); !errors.Is(err, cell.ErrWentBack) {
					t.Errorf("a cell that went back takes a write: %v", err)
				}
				if err := put(1, 5); err != nil {
					t.Errorf("another cell does not: %v", err)
				}
			}
			closeCells(t, c)
		})
	}
}
