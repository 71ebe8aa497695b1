// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage/postgres"
)

// Growth to several servers, the last of which accepts too few connections, is refused before a database is
// created.
func TestP08_GrowthAsksTheServers(t *testing.T) {
	t.Parallel()
	good, small := pgtest.Shared(t), pgtest.Start(t, &pgtest.Options{InMemory: true, Settings: map[string]string{"max_connections": "73"}})
	cells, err := postgres.OpenMap(t.Context(), good.URL("asks"), &postgres.MapOptions{Cells: 2, Driver: postgres.NewDriver(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer cells.Close()
	g := cell.Growth{Cells: 4, URLs: []string{good.URL("more_g{g}_{i}"), small.URL("more_g{g}_{i}")}}
	_, err = cells.PlanGrowth(t.Context(), g)
	for what, err := range map[string]error{"plan": err, "grow": cell.Grow(t.Context(), cells, g, nil)} {
		if !errors.Is(err, cell.ErrTooMany) || !strings.Contains(err.Error(), "the server takes 73") || !strings.Contains(err.Error(), "max_connections") {
			t.Errorf("%s: %v, want ErrTooMany", what, err)
		}
	}
	for _, s := range []*pgtest.Server{good, small} {
		if made := s.Exec(t, "postgres", "SELECT datname FROM pg_database WHERE datname LIKE 'more%'"); len(made) > 0 {
			t.Errorf("made although it was refused: %v", made)
		}
	}
	if cells.Map().Generations() != 1 {
		t.Errorf("%d generations", cells.Map().Generations())
	}
}
