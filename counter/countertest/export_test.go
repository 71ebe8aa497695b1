// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
)

// Cases are the suite, for its own test.
var Cases = cases

// ApartCases are those of a Store that is Apart only.
var ApartCases = apartCases

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

// ApartMemory is a cell whose days are written apart, with a bug if that is not empty.
func ApartMemory(bug string) Cell {
	db := newApart(nil, bug).database()
	return Cell{
		Update: func(ctx context.Context, fn func(counter.Store) error) error {
			return db.Update(ctx, func(tx counter.Tx) error { return fn(tx) })
		},
		View: func(ctx context.Context, fn func(counter.Store) error) error {
			return db.View(ctx, func(tx counter.Tx) error { return fn(tx) })
		},
	}
}
