// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// The head of a moving cell may already be copied. A fence set then would be lost, and the former lease
// holder could write in the new database. So the next holder waits until the cell has moved.
func TestP09_AFenceIsNotSetInACellThatMoves(t *testing.T) {
	t.Parallel()
	cells := open(t, t.TempDir(), nil).cells
	m := cells.Map()
	ops := world(70, 30)
	moving := cell.ID{Index: 1}
	elsewhere := slices.DeleteFunc(slices.Clone(ops), func(op resolve.Op) bool {
		return m.Home(m.KeyOf(op.Source, op.Key).Position()) == moving
	})
	setHome := func(home cell.Placement) (head cell.Head) {
		t.Helper()
		c, err := cells.Cell(moving)
		if err == nil {
			err = c.Exclusive(t.Context(), func(tx storage.Tx) (err error) {
				if head, err = tx.Head(t.Context()); err != nil {
					return err
				}
				head.Home = home
				return tx.SetHead(t.Context(), head)
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		return head
	}
	// Another process has the lease and does not renew it.
	authority, err := cells.Cell(m.Spec().Authority)
	if err == nil {
		err = authority.Update(t.Context(), func(tx storage.Tx) error {
			return tx.PutLease(t.Context(), "resolve", lease.Lease{Owner: "gone", Token: 5, TTL: time.Millisecond})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	in := process(t, cells, "next", nil)
	setHome(cell.Moving)
	for _, res := range in.Apply(t.Context(), elsewhere) {
		if res.Err != nil || !res.Pending {
			t.Fatalf("written while a cell moves: %+v, want it to wait", res)
		}
	}
	if head := setHome(cell.Serving); head.Fence != 0 {
		t.Errorf("the cell was given the fence %d while it moved", head.Fence)
	}
	in.apply(t, ops)
	if head := setHome(cell.Serving); head.Fence != 6 {
		t.Errorf("the cell has the fence %d, want 6", head.Fence)
	}
	in.check(t)
	in.Leave(context.Background())
}
