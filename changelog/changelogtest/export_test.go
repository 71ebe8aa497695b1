// SPDX-License-Identifier: Apache-2.0

package changelogtest

import (
	"context"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
)

// Cases are the suite, for its own test.
var Cases = cases

// Memory is a cell that keeps the model itself, seen through wrap, with the bug of
// conformance.Memory if that is one.
func Memory(wrap func(changelog.Store) changelog.Store, bug string) Cell {
	m := conformance.NewMemory(func() *model { return &model{} }, (*model).clone, bug)
	return Cell{
		Update: func(_ context.Context, fn func(changelog.Store) error) error {
			return m.Update(func(m *model) error { return fn(wrap(m)) })
		},
		Reopen: m.Reopen,
	}
}
