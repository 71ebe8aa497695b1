// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"testing"

	"github.com/locus-db/locus/backend/sqlite"
	"github.com/locus-db/locus/resolve"
)

func TestOpenDir(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	for range 2 {
		d, err := sqlite.OpenDir(t.Context(), path, &sqlite.DirOptions{Rules: "r1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range d.Map().Cells() {
			c, err := d.Cell(id)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.View(t.Context(), func(tx resolve.Tx) error {
				_, err := tx.Counts(context.Background())
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Stats(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
