// SPDX-License-Identifier: Apache-2.0

package rolluptest

import (
	"context"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/rollup"
)

// Cases is the suite, for its own test.
var Cases = cases

// Memory is a cell backed by the model, seen through wrap, with bug if it is one of conformance.Memory.
func Memory(wrap func(rollup.Store) rollup.Store, bug string) Cell {
	m := conformance.NewMemory(newModel, (*model).clone, bug)
	return Cell{
		Update: func(_ context.Context, fn func(rollup.Store) error) error {
			return m.Update(func(m *model) error { return fn(wrap(m)) })
		},
		Reopen: m.Reopen,
	}
}
