// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// A process that starts while the authority is down uses the newest copy of the rules in another cell. Its
// records stay pending until the authority is back, and are then resolved under the authority's rules.
func TestP12_RulesAreBorrowedWhileTheAuthorityIsAway(t *testing.T) {
	t.Parallel()
	cells := open(t, t.TempDir(), nil).cells
	ids := cells.Map().Cells()
	authority := cells.Map().Authority()
	var down, deaf atomic.Bool // the authority; another cell
	start := func(name string) *installation {
		return process(t, cells, name, func(id cell.ID, c storage.Cell) storage.Cell {
			switch id {
			case authority:
				return faulty{c, &down, new(atomic.Int64)}
			case ids[2]:
				return faulty{c, &deaf, new(atomic.Int64)}
			}
			return c
		})
	}
	refused := func(name string) {
		t.Helper()
		err := start(name).Reload(t.Context())
		if !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(err.Error(), "no other cell that answers has a copy") {
			t.Errorf("%s reads the rules: %v, want ErrUnavailable that says what to start", name, err)
		}
	}
	down.Store(true)
	refused("before there are copies")
	down.Store(false)

	ops := world(9, 40)
	first := start("first")
	first.apply(t, ops[:20])
	deaf.Store(true) // the migration does not reach this cell, whose copy stays old
	if _, err := first.Migrate(t.Context(), noPhones().Schema(), noPhones().TermFrequencies()); err != nil {
		t.Fatal(err)
	}
	_ = first.Resume(t.Context(), nil) // it waits for the cell
	deaf.Store(false)
	first.Leave(t.Context())

	down.Store(true)
	second := start("second")
	if err := second.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := second.Rules().Version, first.Rules().Version; got != want {
		t.Fatalf("the rules have version %d, want %d: not the newest copy", got, want)
	}
	pending := 0
	for i, res := range second.Apply(t.Context(), ops[20:]) {
		home := cells.Map().Home(cells.Map().KeyOf(ops[20+i].Source, ops[20+i].Key).Position())
		switch {
		case res.Err == nil && res.Pending && home != authority:
			pending++
		case res.Err == nil:
			t.Errorf("%v of cell %v: %+v, want it to wait", ops[20+i].Ref, home, res)
		case !errors.Is(res.Err, cell.ErrUnavailable) && home != ids[2]: // that cell refuses: it has other rules
			t.Errorf("%v of cell %v: %v", ops[20+i].Ref, home, res.Err)
		}
	}
	if pending == 0 {
		t.Error("no record waits: the test does not reach what it is for")
	}
	err := cellOf(t, cells, ids[1]).Update(t.Context(), func(tx storage.Tx) error {
		return tx.PutDefinition(t.Context(), "rules/copy", []byte("{"))
	})
	if err != nil {
		t.Fatal(err)
	}
	third := start("third")
	if err := third.Reload(t.Context()); err != nil || third.Rules().Version != 1 {
		t.Errorf("one copy is damaged, the other has version 1: %v, version %d", err, third.Rules().Version)
	}

	down.Store(false)
	if err := third.Resume(t.Context(), nil); err != nil { // the borrowed rules are too old to resolve by
		t.Fatal(err)
	}
	third.by = noPhones()
	third.apply(t, ops)
	if err := third.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := third.Rules().Version; v != first.Rules().Version {
		t.Errorf("the authority is back, and the process works by version %d, want %d", v, first.Rules().Version)
	}
	third.check(t)
	third.checkPostings(t)
}

func cellOf(t *testing.T, cells *storage.Cells, id cell.ID) storage.Cell {
	t.Helper()
	c, err := cells.Cell(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
