// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// hung is a cell whose database accepts connections but does not respond while its gate is held.
type hung struct {
	storage.Cell
	gate *gate
}

func (h hung) wait() {
	h.gate.mu.Lock()
	open, waiting := h.gate.open, h.gate.waiting
	h.gate.mu.Unlock()
	if open != nil {
		waiting <- struct{}{}
		<-open
	}
}

func (h hung) Update(ctx context.Context, fn func(storage.Tx) error) error {
	h.wait()
	return h.Cell.Update(ctx, fn)
}

func (h hung) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	h.wait()
	return h.Cell.Exclusive(ctx, fn)
}

func (h hung) View(ctx context.Context, fn func(storage.Tx) error) error {
	h.wait()
	return h.Cell.View(ctx, fn)
}

func (h hung) Read(ctx context.Context, fn func(storage.Tx) error) error {
	h.wait()
	return h.Cell.Read(ctx, fn)
}

// New cells do not have the rules yet. The first batch is durable in its own cells before any other cell is
// contacted: a hung cell makes only its own writes commit_unknown.
func TestP12_TheFirstBatchWaitsForItsOwnCells(t *testing.T) {
	t.Parallel()
	g := &gate{}
	stuck := cell.ID{Index: 1}
	in := open(t, t.TempDir(), func(id cell.ID, c storage.Cell) storage.Cell {
		if id == stuck {
			return hung{c, g}
		}
		return c
	})
	m := in.cells.Map()
	var ops []resolve.Op
	for _, op := range world(1, 20) {
		if m.Home(m.KeyOf(op.Source, op.Key).Position()) != stuck {
			ops = append(ops, op)
		}
	}
	waiting, letGo := g.hold()
	q := resolve.NewQueue(in.Resolver, 10)
	defer q.Close()
	defer letGo()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-waiting // the context ends while the cell is contacted
		cancel()
	}()
	results, err := q.Do(ctx, ops)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil || r.PUID == 0 {
			t.Errorf("%v: %+v, want it durable", ops[i].Ref, r)
		}
	}
}
