// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// A transaction that only read stays open for the next one on its connection, but not for long, because until then the
// server keeps the old versions of all rows.
func TestView_LeavesNoTransactionOpen(t *testing.T) {
	t.Parallel()
	s, _, opened := opens(t, 1, &postgres.Options{IdleTimeout: time.Hour}) // the server does not end it
	c := opened[0]
	missing := errors.New("there is no such thing")
	for _, want := range []error{nil, missing} {
		if err := c.View(t.Context(), func(tx storage.Tx) error {
			_, err := tx.Counts(t.Context())
			return errors.Join(err, want)
		}); !errors.Is(err, want) {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for s.Exec(t, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'locus' AND xact_start IS NOT NULL")[0][0] != "0" {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("a transaction is still open")
		}
	}
}

// Rows that a transaction reads together with the head are not returned if the head is not as required.
func TestView_RequiresTheHead(t *testing.T) {
	t.Parallel()
	_, _, opened := opens(t, 1, nil)
	c, ctx := opened[0], t.Context()
	refused := errors.New("not this head")
	refuse := func(cell.Head) error { return refused }
	for name, run := range map[string]func(context.Context, func(storage.Tx) error) error{"view": c.View, "update": c.Update, "exclusive": c.Exclusive} {
		var at string
		err := run(ctx, func(tx storage.Tx) error {
			if err := tx.Require(ctx, refuse); err != nil {
				at = "at once"
				return err
			}
			_, err := tx.Lookup(ctx, []cell.Key{key(1)})
			at = "with the read"
			if err == nil {
				t.Errorf("%s: read", name)
			}
			return nil // of an error that is dropped the transaction fails all the same
		})
		if want := map[string]string{"view": "with the read", "update": "with the read", "exclusive": "at once"}[name]; !errors.Is(err, refused) || at != want {
			t.Errorf("%s: %v, refused %s, want %s", name, err, at, want)
		}
		if err := run(ctx, func(tx storage.Tx) error { _, err := tx.Lookup(ctx, []cell.Key{key(1)}); return err }); err != nil {
			t.Errorf("%s after it: %v", name, err)
		}
	}
}
