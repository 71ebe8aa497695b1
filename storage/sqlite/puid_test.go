// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/storage"
)

// A puid is not used again even if its key is gone: the directory was dropped after its keys were copied to newer
// cells, and the process was restarted.
func TestP07_APuidIsNeverGivenAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f := openFile(t)
	var last int64
	next := int64(0)
	allocate := func(n int) {
		t.Helper()
		var keys []cell.Key
		for range n {
			next++
			keys = append(keys, cell.Key{Ring: next})
		}
		if err := f.Update(ctx, func(tx storage.Tx) error {
			allocated, err := tx.Allocate(ctx, keys)
			for _, a := range allocated {
				if a.PUID <= last {
					t.Errorf("puid %d is given after %d", a.PUID, last)
				}
				last = max(last, a.PUID)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	last = f.id.Lo
	for name, spoil := range map[string]func(tx storage.Tx) error{
		"dropped": func(tx storage.Tx) error {
			_, err := tx.Drop(ctx, 1000)
			return err
		},
		"skipped": func(tx storage.Tx) error {
			last += 1000
			return tx.Skip(ctx, 1000)
		},
	} {
		allocate(3)
		if err := f.Exclusive(ctx, spoil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		allocate(1)
		if err := f.reopen(); err != nil {
			t.Fatal(err)
		}
		allocate(1)
	}
	if err := f.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Allocate(context.Background(), []cell.Key{{Ring: -1}})
		return errors.Join(err, conformance.ErrRollback)
	}); !errors.Is(err, conformance.ErrRollback) {
		t.Fatal(err)
	}
	allocate(1)
}
