// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance/audittest"
	"github.com/locus-db/locus/internal/conformance/celltest"
	"github.com/locus-db/locus/internal/conformance/changelogtest"
	"github.com/locus-db/locus/internal/conformance/copytest"
	"github.com/locus-db/locus/internal/conformance/countertest"
	"github.com/locus-db/locus/internal/conformance/entitytest"
	"github.com/locus-db/locus/internal/conformance/leasetest"
	"github.com/locus-db/locus/internal/conformance/rolluptest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// Backend is a backend under test.
type Backend struct {
	// Open returns a new, empty cell. It is called once for each case, and cleans up with t.Cleanup.
	Open func(t *testing.T) Cell
	// Driver returns the driver that opens cells by URL, and URLs of databases that do not exist yet.
	Driver func(t *testing.T) celltest.Kind[storage.Tx]
}

// Cell is a new, empty cell under test.
type Cell struct {
	storage.Cell
	// Identity is the identity that the cell was opened with.
	Identity cell.Identity
	// Reopen closes the cell's database and opens it again, as a restart does. A backend that cannot reopen leaves it
	// nil; the cases that need it are then skipped.
	Reopen func() error
	// LeaveRoom makes the cell continue as if all but n of its puids had been allocated.
	LeaveRoom func(n int64) error
}

// Suite is the name of a suite, and of the subtest of Run that is its result.
type Suite string

// The suites: one for each Store of a transaction, for the transaction as a whole, for the driver, and for copying a
// cell.
const (
	CellStore      Suite = "CellStore"
	Driver         Suite = "Driver"
	EntityStore    Suite = "EntityStore"
	ChangelogStore Suite = "ChangelogStore"
	LeaseStore     Suite = "LeaseStore"
	RollupStore    Suite = "RollupStore"
	CounterStore   Suite = "CounterStore"
	AuditStore     Suite = "AuditStore"
	Transaction    Suite = "Transaction"
	Copier         Suite = "Copier"
)

var suites = map[Suite]func(*testing.T, Backend){
	CellStore: func(t *testing.T, b Backend) {
		celltest.Run(t, func(t *testing.T) celltest.Cell {
			c := b.Open(t)
			return celltest.Cell{
				Database: celltest.Of(cell.Database[storage.Tx](c.Cell)), Lo: c.Identity.Lo, Hi: c.Identity.Hi, LeaveRoom: c.LeaveRoom,
			}
		})
	},
	Driver: func(t *testing.T, b Backend) { celltest.RunDriver(t, b.Driver) },
	EntityStore: func(t *testing.T, b Backend) {
		entitytest.Run(t, func(t *testing.T) entitytest.Cell {
			c := b.Open(t)
			return entitytest.Cell{Update: as[entity.Store](c.Update), Reopen: c.Reopen}
		})
	},
	ChangelogStore: func(t *testing.T, b Backend) {
		changelogtest.Run(t, func(t *testing.T) changelogtest.Cell {
			c := b.Open(t)
			return changelogtest.Cell{Update: as[changelog.Store](c.Update), Reopen: c.Reopen}
		})
	},
	LeaseStore: func(t *testing.T, b Backend) {
		leasetest.Run(t, func(t *testing.T) leasetest.Update { return as[lease.Store](b.Open(t).Update) })
	},
	RollupStore: func(t *testing.T, b Backend) {
		rolluptest.Run(t, func(t *testing.T) rolluptest.Cell {
			c := b.Open(t)
			return rolluptest.Cell{Update: as[rollup.Store](c.Update), Reopen: c.Reopen}
		})
	},
	CounterStore: func(t *testing.T, b Backend) {
		countertest.Run(t, func(t *testing.T) countertest.Cell {
			c := b.Open(t)
			return countertest.Cell{Update: as[counter.Store](c.Update), View: as[counter.Store](c.View), Reopen: c.Reopen}
		})
	},
	AuditStore: func(t *testing.T, b Backend) {
		audittest.Run(t, func(t *testing.T) audittest.Update { return as[audit.Store](b.Open(t).Update) })
	},
	Transaction: func(t *testing.T, b Backend) { cases.Run(t, b.Open) },
	Copier: func(t *testing.T, b Backend) {
		copytest.Run(t, func(t *testing.T) copytest.Pair { return copytest.Pair{From: b.Open(t), To: b.Open(t)} })
	},
}

// Run checks a backend with the named suites, or with all if none is named. Each is a subtest; they and their cases run
// in parallel.
func Run(t *testing.T, b Backend, names ...Suite) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		if len(names) == 0 || slices.Contains(names, name) {
			t.Run(string(name), func(t *testing.T) {
				t.Parallel()
				suites[name](t, b)
			})
		}
	}
}

// as runs transactions as one of the Stores that they implement.
func as[S any](transact func(context.Context, func(storage.Tx) error) error) func(context.Context, func(S) error) error {
	return func(ctx context.Context, fn func(S) error) error {
		return transact(ctx, func(tx storage.Tx) error { return fn(any(tx).(S)) })
	}
}
