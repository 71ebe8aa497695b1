// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"testing"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/counter/countertest"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/storage/mongodb"
)

func TestCounterStore(t *testing.T) {
	t.Parallel()
	countertest.RunApart(t, func(t *testing.T) countertest.Cell {
		t.Helper()
		uri := mongotest.URI(t)
		d := documents(t, uri)
		run := func(how func(counter.Database) func(context.Context, func(counter.Tx) error) error) countertest.Transaction {
			return func(ctx context.Context, fn func(counter.Store) error) error {
				return how(countersOf(d))(ctx, func(tx counter.Tx) error { return fn(tx) })
			}
		}
		return countertest.Cell{
			Many: 44, Runs: 15,
			Update: run(func(db counter.Database) func(context.Context, func(counter.Tx) error) error { return db.Update }),
			View:   run(func(db counter.Database) func(context.Context, func(counter.Tx) error) error { return db.View }),
			Reopen: func() error {
				d = documents(t, uri)
				return nil
			},
		}
	})
}

func countersOf(d *mongodb.Documents) counter.Database {
	metrics := d.Metrics()
	return metrics.Cell(metrics.List()[0])
}
