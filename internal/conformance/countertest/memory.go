// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
)

// NewMemory returns a cell in memory that passes the suite, for tests of the users of a Store.
func NewMemory() counter.Database {
	m := conformance.NewMemory(model.New, (*model.Cell).Clone, "")
	return counter.Database{
		Update: func(_ context.Context, fn func(counter.Tx) error) error {
			return m.Update(func(m *model.Cell) error { return fn(m) })
		},
		View: func(_ context.Context, fn func(counter.Tx) error) error {
			return m.View(func(m *model.Cell) error { return fn(m) })
		},
	}
}
