// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
)

// Cases is the suite, for its own test.
var Cases = cases

// ApartCases are the cases only for PerDocumentStore stores.
var ApartCases = apartCases

// Memory is a cell backed by the model, seen through wrap, with bug if it is one of conformance.Memory.
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

// ApartMemory is a cell with an PerDocumentStore store, with a bug if that is not empty.
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
