// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// notes are a cell.Ledger in memory.
type notes struct {
	mu sync.Mutex
	of map[cell.ID]cell.Pulse
}

func (n *notes) Known(id cell.ID) (cell.Pulse, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.of[id]
	return p, ok
}

func (n *notes) Note(id cell.ID, p cell.Pulse) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if was, ok := n.of[id]; !ok || was.Before(p) {
		n.of[id] = p
	}
	return nil
}

func (n *notes) Sync() error { return nil }

func (n *notes) Accept(pulses map[cell.ID]cell.Pulse) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of = pulses
	return nil
}

// Noted pulses were committed: a note that is ahead, after a failed commit, would be a false alarm at the next start.
// And everything acknowledged is noted.
func TestP01_TheNoteIsNeverAhead(t *testing.T) {
	t.Parallel()
	memory, ledger := &celltest.Memory{}, &notes{of: map[cell.ID]cell.Pulse{}}
	o := options(memory, 2)
	o.Ledger = ledger
	c, err := cell.OpenCells(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	id := cell.ID{Index: 1}
	db, err := c.Cell(id)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := ledger.Known(id)
	for i, fails := range []celltest.Step{{}, {When: celltest.Begins, Do: "update"}, {}, {When: celltest.Replies, Do: "update"}} {
		memory.Hook(func(_ context.Context, s celltest.Step) error {
			if fails.Do != "" && s.When == fails.When && s.Do == fails.Do {
				return errTold
			}
			return nil
		})
		err := db.Update(t.Context(), func(s cell.Store) error {
			_, err := s.Allocate(t.Context(), []cell.Key{{Ring: int64(i)}})
			return err
		})
		if (err != nil) != (fails.Do != "") {
			t.Fatalf("%d: %v", i, err)
		}
		memory.Hook(nil)
		opened, err2 := memory.Dial(t.Context(), "mem:g0-1", false)
		if err2 != nil {
			t.Fatal(err2)
		}
		p, err2 := opened.Pulse(t.Context())
		if err2 = errors.Join(err2, opened.Close()); err2 != nil {
			t.Fatal(err2)
		}
		noted, _ := ledger.Known(id)
		if p.Before(noted) || err == nil && noted != p || err == nil && !before.Before(noted) {
			t.Fatalf("%d: the cell is at %v, noted is %v, before it was %v", i, p, noted, before)
		}
		before = noted
	}
	closeCells(t, c)
	closeCells(t, openNoted(t, memory, ledger))
}

func openNoted(t *testing.T, memory *celltest.Memory, ledger *notes) *process {
	t.Helper()
	o := options(memory, 0)
	o.Ledger = ledger
	c, err := cell.OpenCells(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// If the authority is older than the other cells, its old map is not used; Reincarnate gives it the newest copy.
func TestP08_AnOldMapIsNotWorkedBy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 2)
		restore := memory.Save("mem:g0-0")
		grow(t, c, 4)
		closeCells(t, c)
		restore()
		c, err := cell.OpenCells(t.Context(), options(memory, 0))
		if err == nil {
			err = c.OpenAll(t.Context())
			closeCells(t, c)
		}
		if !errors.Is(err, cell.ErrWentBack) || !strings.Contains(err.Error(), "g0-0") {
			t.Fatalf("%v, want ErrWentBack that names g0-0", err)
		}
		o := options(memory, 0)
		o.Restored = true
		if c, err = cell.OpenCells(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if err := cell.Reincarnate(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		closeCells(t, c)
		c = open(t, memory, 0)
		if m := c.Map(); m.Current() != 1 || m.Count(1) != 4 || head(t, c, cell.ID{}).Keys != cell.Sealed {
			t.Errorf("generation %d of %d cells is current, g0-0 is %v", m.Current(), m.Count(m.Current()),
				head(t, c, cell.ID{}).Keys)
		}
	})
}
