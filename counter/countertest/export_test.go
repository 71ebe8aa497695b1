// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"

	"github.com/locus-db/locus/conformance"
	"github.com/locus-db/locus/counter"
)

// Cases are the suite, for its own test.
var Cases = cases

// Memory is a cell that keeps the model itself, seen through wrap, with the bug of
// conformance.Memory if that is one.
func Memory(wrap func(counter.Store) counter.Store, bug string) Cell {
	m := conformance.NewMemory(newModel, (*model).clone, bug)
	return Cell{
		Update: func(_ context.Context, fn func(counter.Store) error) error {
			return m.Update(func(m *model) error { return fn(wrap(m)) })
		},
		View: func(_ context.Context, fn func(counter.Store) error) error {
			return m.View(func(m *model) error { return fn(wrap(m)) })
		},
		Reopen: m.Reopen,
	}
}
