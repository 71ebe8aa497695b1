// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
)

// Cases is the suite, for its own test.
var Cases = cases

// Memory is a cell backed by the model, seen through wrap, with bug if it is one of conformance.Memory.
func Memory(wrap func(counter.Store) counter.Store, bug string) Cell {
	m := conformance.NewMemory(model.New, (*model.Cell).Clone, bug)
	return Cell{
		Update: func(_ context.Context, fn func(counter.Store) error) error {
			return m.Update(func(m *model.Cell) error { return fn(wrap(m)) })
		},
		View: func(_ context.Context, fn func(counter.Store) error) error {
			return m.View(func(m *model.Cell) error { return fn(wrap(m)) })
		},
		Reopen: m.Reopen,
	}
}
