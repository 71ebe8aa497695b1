// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/copytest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// Rows are the same in every kind of database: those copied from one arrive in the other.
func TestCopier(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, nil)
	file := func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "cell.db") }
	database := func(t *testing.T) string { return server.URL(server.Database(t)) }
	t.Run("from a file to a server", func(t *testing.T) {
		copytest.Run(t, func(t *testing.T) copytest.Pair {
			return copytest.Pair{From: dial(t, file(t)), To: dial(t, database(t))}
		})
	})
	t.Run("from a server to a file", func(t *testing.T) {
		longtest.Gate(t, "the other way, and each backend to itself")
		copytest.Run(t, func(t *testing.T) copytest.Pair {
			return copytest.Pair{From: dial(t, database(t)), To: dial(t, file(t))}
		})
	})
}

func dial(t *testing.T, url string) storage.Cell {
	t.Helper()
	driver, err := storage.DriverOf(url)
	if err != nil {
		t.Fatal(err)
	}
	c, err := driver.Dial(t.Context(), url, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Identify(t.Context(), cell.Identity{Map: "m", Lo: -1 << 40, Hi: -1<<40 + 1<<32 - 1}); err != nil {
		t.Fatal(err)
	}
	return c
}
