// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// trips counts round trips to the server.
type trips struct{ n atomic.Int64 }

func (c *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (c *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}

// tripping returns a new cell whose round trips are counted.
func tripping(t *testing.T) (*Cell, *trips) {
	t.Helper()
	c, counted := identified(t), new(trips)
	c.target.config.Tracer = counted
	c.pool.drop(c)
	return c, counted
}

// want fails unless a transaction takes that many round trips. It runs the transaction twice, because the first run
// prepares statements.
func (c *trips) want(t *testing.T, what string, want int64, run func() error) {
	t.Helper()
	for range 2 {
		c.n.Store(0)
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.n.Load(); got != want {
		t.Errorf("%s: %d round trips, want %d", what, got, want)
	}
}

// A follower's transaction for a batch of changes costs one round trip per read.
func TestRollup_RoundTrips(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, counted := tripping(t)
	g := rollup.Generation{Number: 1, Definition: rollup.Definition{Name: "a", Kind: "place", Over: rollup.Entities, Group: []string{"city"}}}
	for _, step := range []struct {
		what string
		run  func(context.Context, func(storage.Tx) error) error
		fn   func(tx storage.Tx) error
		want int64
	}{
		{"the lease with the beginning, the generations, rows, and the commit with all that is written", c.Update, func(tx storage.Tx) error {
			_, errLease := tx.Lease(ctx, rollup.LeaseName)
			_, err := tx.Generations(ctx)
			_, errRows := tx.Rows(ctx, 1, [][]byte{{1}, {2}})
			return errors.Join(errLease, err, errRows,
				tx.PutRows(ctx, 1, []rollup.Row{{Key: []byte{1}, Body: []byte{1}}, {Key: []byte{2}}}), tx.PutGeneration(ctx, g))
		}, 4},
		{"the generations with the beginning, changes with what was trimmed", c.View, func(tx storage.Tx) error {
			_, err := tx.Generations(ctx)
			_, errChanges := tx.Changes(ctx, 0, 10)
			return errors.Join(err, errChanges)
		}, 2},
		{"ranges of both directions with the beginning", c.View, func(tx storage.Tx) error {
			_, err := tx.ScanRows(ctx, 1, []rollup.Range{{Limit: 1}, {Limit: 1, Last: true}, {Limit: 1}})
			return err
		}, 1},
	} {
		counted.want(t, step.what, step.want, func() error { return step.run(ctx, step.fn) })
	}
}
