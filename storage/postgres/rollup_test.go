// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// generation returns a generation with a watermark equal to its number.
func generation(n int64) rollup.Generation {
	d, err := rollup.Definition{Name: "places", Kind: "place", Group: []string{"city"}}.Check(rollup.Kind{Name: "place", Many: map[string]bool{"city": false}})
	if err != nil {
		panic(err)
	}
	return rollup.Generation{Number: n, Definition: d, State: rollup.Following}
}

func version(n int64) rollup.Rollup {
	return rollup.Rollup{Name: "places", Last: n, Next: &rollup.Version{Generation: n, Definition: generation(n).Definition}}
}

// Within an update no other transaction changes the rows that it read, not even by inserting. A transaction that has
// waited sees the changes. A read-only transaction does not wait.
func TestRollupsAreReadByOneAtATime(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		put  func(tx storage.Tx, n int64) error
		read func(tx storage.Tx) (highest int64, err error)
	}{
		"generations": {
			func(tx storage.Tx, n int64) error { return tx.PutGeneration(ctx, generation(n)) },
			func(tx storage.Tx) (highest int64, err error) {
				all, err := tx.Generations(ctx)
				for _, g := range all {
					highest = max(highest, g.Number)
				}
				return highest, err
			},
		},
		"rollups": {
			func(tx storage.Tx, n int64) error { return tx.PutRollup(ctx, version(n)) },
			func(tx storage.Tx) (int64, error) {
				all, err := tx.Rollups(ctx)
				return rollup.Catalog(all).Highest(), err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := direct(t)
			d := at.open(t)
			next := func(tx storage.Tx) error {
				n, err := c.read(tx)
				return errors.Join(err, c.put(tx, n+1))
			}
			first := stay(t, d, func(_ *paused, tx storage.Tx) error { return next(tx) })
			second := begins(t, at, d, 1, func() error { return d.Update(ctx, next) })
			third := begins(t, at, d, 2, func() error { return d.Update(ctx, func(tx storage.Tx) error { return c.put(tx, 1) }) })
			must(t, d.View(ctx, func(tx storage.Tx) error {
				n, err := c.read(tx)
				if n != 0 {
					t.Errorf("what is not committed was read: %d", n)
				}
				return err
			}))
			first.end(t)
			must(t, errors.Join(second(), third()))
			if name == "generations" { // the third one has written an existing one
				must(t, d.View(ctx, func(tx storage.Tx) error {
					all, err := tx.Generations(ctx)
					if diff := cmp.Diff([]rollup.Generation{generation(1), generation(2)}, all); diff != "" {
						t.Errorf("generations (-want +got):\n%s", diff)
					}
					return err
				}))
			}
		})
	}
}

// Transactions that write records do not wait for those that work with rollups.
func TestRollupsStopNoWriter(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := direct(t).open(t)
	follows := stay(t, d, func(_ *paused, tx storage.Tx) error {
		_, errLease := tx.Lease(ctx, rollup.LeaseName)
		_, err := tx.Generations(ctx)
		_, errRows := tx.Rows(ctx, 1, [][]byte{{1}})
		return errors.Join(errLease, err, errRows, tx.PutGeneration(ctx, generation(1)), tx.PutRows(ctx, 1, []rollup.Row{{Key: []byte{1}, Body: []byte{1}}}))
	})
	must(t, d.Update(t.Context(), appends(1)))
	follows.end(t)
}
