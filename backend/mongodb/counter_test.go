// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/locus-db/locus/backend/mongodb"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/counter/countertest"
)

func TestCounterStore(t *testing.T) {
	t.Parallel()
	countertest.RunApart(t, func(t *testing.T) countertest.Cell {
		uri := fmt.Sprintf("mongodb://127.0.0.1:43209/t%d", rand.Int64())
		open := func() *mongodb.Database {
			d, err := mongodb.Open(context.Background(), uri, &mongodb.Options{UnsafeDurability: true})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		d := open()
		t.Cleanup(func() { _ = d.Close(context.Background()) })
		run := func(how func(counter.Database) func(context.Context, func(counter.Tx) error) error) countertest.Transaction {
			return func(ctx context.Context, fn func(counter.Store) error) error {
				m := d.Metrics()
				return how(m.Cell(m.List()[0]))(ctx, func(tx counter.Tx) error { return fn(tx) })
			}
		}
		return countertest.Cell{
			Update: run(func(db counter.Database) func(context.Context, func(counter.Tx) error) error { return db.Update }),
			View:   run(func(db counter.Database) func(context.Context, func(counter.Tx) error) error { return db.View }),
			Reopen: func() error {
				err := d.Close(context.Background())
				d = open()
				return err
			},
		}
	})
}
