// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"testing"

	"github.com/locus-db/locus/internal/conformance/perdocumenttest"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/internal/perdocument"
)

func TestCounterStore(t *testing.T) {
	t.Parallel()
	perdocumenttest.Run(t, func(t *testing.T) perdocumenttest.Cell {
		t.Helper()
		uri := mongotest.URI(t)
		c := perdocumenttest.Cell{Database: documents(t, uri).Days(), Many: 44, Runs: 15}
		d := c.Database
		c.Update = func(ctx context.Context, fn func(perdocument.Store) error) error { return d.Update(ctx, fn) }
		c.View = func(ctx context.Context, fn func(perdocument.Store) error) error { return d.View(ctx, fn) }
		c.Reopen = func() error {
			d = documents(t, uri).Days()
			return nil
		}
		return c
	})
}
