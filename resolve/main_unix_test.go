// SPDX-License-Identifier: Apache-2.0

//go:build unix

package resolve_test

import (
	"os"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m).Run())
}

// openServer opens an installation in databases of PostgreSQL.
func openServer(t *testing.T, url string, wrap func(cell.ID, storage.Cell) storage.Cell) *installation {
	t.Helper()
	cells, err := postgres.OpenMap(t.Context(), url, &postgres.MapOptions{Cells: 2, Rules: "test", Notice: time.Second, Driver: postgres.NewDriver(&postgres.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cells.Close() })
	return process(t, cells, "", wrap)
}

// The same as TestP09_AnUpgradeThatStopsAnywhereGoesOn, in PostgreSQL.
func TestP09_AnUpgradeThatStopsAnywhereGoesOnInPostgres(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestP09_AnUpgradeThatStopsAnywhereGoesOn does it with SQLite")
	longtest.Slow(t)
	for step := 0; ; step += longtest.Sample(13, 29, 13, 1) {
		url := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
		in := openServer(t, url, nil)
		outdated(t, in, world(9, 8))
		fault := &crash{left: step}
		in = process(t, in.cells, "", func(_ cell.ID, c storage.Cell) storage.Cell { return stopCell{c, fault} })
		if in.upgradeUntilItStops(t, uint64(step)) {
			return
		}
	}
}
