// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// A process advances to the map with the new place of its authority, and has not closed the former database yet. A
// refresh that still reads the former database is not a failure, because the map names the new one.
func TestRefresh_WhileThisProcessMovesTheAuthority(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	var between func()
	o := options(memory, 2)
	o.OnEvent = func(e cell.Event) {
		if e.What == cell.EventMap && between != nil {
			between()
		}
	}
	a, err := cell.OpenCells(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer closeCells(t, a)
	b := open(t, memory, 0)
	if h := head(t, b, cell.ID{}); h.Home != cell.Serving {
		t.Fatalf("the authority is %v", h.Home)
	}
	m := next(t, a, func(s *cell.Spec) { s.Moved = map[cell.ID]cell.Home{{}: {URL: "mem:new", Incarnation: 2}} })
	fill(t, a, m)
	refreshed := false
	between = func() {
		between = nil
		refreshed = true
		if err := update(t, b, cell.ID{}, cell.Database[cell.Store].Exclusive, func(s cell.Store) error {
			return s.SetHead(t.Context(), cell.Head{Home: cell.Moved, Incarnation: 1, KnownEpoch: m.Epoch()})
		}); err != nil {
			t.Error(err)
		}
		if err := a.Refresh(t.Context()); err != nil {
			t.Errorf("refresh: %v", err)
		}
	}
	if err := a.Swap(t.Context(), m); err != nil {
		t.Error(err)
	}
	if got := head(t, a, cell.ID{}); got.Incarnation != 2 || a.Map().Epoch() != m.Epoch() || !refreshed {
		t.Errorf("the authority is asked at incarnation %d, epoch %d, refreshed: %v", got.Incarnation,
			a.Map().Epoch(), refreshed)
	}
}

// fill creates the database to which a map moves the authority.
func fill(t *testing.T, c *process, m *cell.Map) {
	t.Helper()
	db, err := c.Dial(t.Context(), "mem:new", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Identify(t.Context(), m.IdentityOf(cell.ID{}, "r")),
		db.Exclusive(t.Context(), func(s cell.Store) error {
			return errors.Join(s.PutCellMap(t.Context(), m.Epoch(), text(t, m)),
				s.SetHead(t.Context(), cell.Head{Incarnation: 2, KnownEpoch: m.Epoch()}))
		}), db.Close()); err != nil {
		t.Fatal(err)
	}
}
