// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
)

// Cases exports the suite to its own test.
var Cases = cases

// Memory is a cell backed by the model, seen through wrap. A non-empty bug names a bug of
// conformance.Memory.
func Memory(wrap func(entity.Store) entity.Store, bug string) Cell {
	m := conformance.NewMemory(newModel, (*model).clone, bug)
	return Cell{
		Update: func(_ context.Context, fn func(entity.Store) error) error {
			return m.Update(func(m *model) error { return fn(wrap(m)) })
		},
		Reopen: m.Reopen,
	}
}
