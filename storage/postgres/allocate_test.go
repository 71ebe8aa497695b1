// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"errors"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// A cell that refuses transactions loses a puid only by the first of them, and none if it has not admitted one yet.
func TestAllocate_OfARefusedTransaction(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	id := twoGenerations(t).IdentityOf(cell.ID{Index: 1}, "r")
	c, err := dialled(t, postgres.NewDriver(nil), s.URL(s.Database(t)), id, true)
	must(t, err)
	refuse := func() {
		refused := errors.New("refused")
		for n := range uint64(3) {
			if err := c.Update(t.Context(), func(tx storage.Tx) error {
				if err := tx.Require(t.Context(), func(cell.Head) error { return refused }); err != nil {
					return err
				}
				_, err := tx.Allocate(t.Context(), []cell.Key{key(10 + n)})
				return err
			}); !errors.Is(err, refused) {
				t.Fatal(err)
			}
		}
	}
	refuse()
	first := allocateOne(t, c, key(1))
	refuse()
	if first != id.Lo+1 {
		t.Errorf("the first puid is %d, want %d", first, id.Lo+1)
	}
	if second := allocateOne(t, c, key(2)); second > first+2 {
		t.Errorf("puid %d after %d: each refused transaction used one up", second, first)
	}
}
