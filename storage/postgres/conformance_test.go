// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cell/celltest"
	"github.com/locus-db/locus/cell/copytest"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changelog/changelogtest"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/counter/countertest"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/entity/entitytest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/lease/leasetest"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollup/rolluptest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
	"github.com/locus-db/locus/storage/storagetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// database is a cell in a database of the test that can be closed and reopened.
type database struct {
	*postgres.Cell
	name, url string
	id        cell.Identity
}

// identity returns the identity of a cell with negative puids, which are easily mishandled.
func identity() cell.Identity {
	return cell.Identity{Map: "7c0e31", Cell: cell.ID{Gen: 1, Index: 19}, Lo: -1 << 40, Hi: -1<<40 + 1<<32 - 1, Rules: "place/1"}
}

// place creates databases for cells and returns their URLs.
type place struct {
	server *pgtest.Server
	url    func(db string) string
}

// direct returns the shared server.
func direct(t testing.TB) place {
	t.Helper()
	s := pgtest.Shared(t)
	return place{s, s.URL}
}

// pooled returns the same server through a PgBouncer in transaction mode, with fewer connections than the tests
// need. Pooling affects transactions, locks, prepared statements and the creation of databases: the suites of
// StorageCell, CellStore and Driver. The others run pooled only in make test/long.
func pooled(t testing.TB) place {
	t.Helper()
	s := pgtest.Shared(t)
	p := s.Pooler(t, 3)
	return place{s, func(db string) string { return p.URL(db) + "&pooler=1" }}
}

// pooledToo is pooled for a suite whose statements are covered in the gate by StorageCell and CellStore.
func pooledToo(t testing.TB) place {
	t.Helper()
	longtest.Only(t, "TestPooled_StorageCell, TestPooled_CellStore and TestPooled_Driver go by way of a pooler")
	return pooled(t)
}

// empty is a database of the shared server with the tables of a cell: cloning one takes half as long as migrating
// one. TestDriver covers creation and migration.
var empty struct {
	sync.Once
	db  string
	err error
}

func formatted(t testing.TB, s *pgtest.Server) string {
	t.Helper()
	empty.Do(func() {
		empty.db = s.Database(t)
		c, err := driver.Dial(context.Background(), s.URL(empty.db), true)
		if err == nil {
			err = c.Close()
		}
		empty.err = err
	})
	if empty.err != nil {
		t.Fatal(empty.err)
	}
	return empty.db
}

// open opens a new cell.
func (p place) open(t testing.TB) *database {
	t.Helper()
	d := &database{name: p.server.Clone(t, formatted(t, p.server)), id: identity()}
	d.url = p.url(d.name)
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// driver is shared by all tests, like in a process. Its timeouts are long because the stores are tested here, not
// the speed of a server on a busy machine.
var driver = postgres.NewDriver(&postgres.Options{
	ConnectTimeout: time.Minute, StatementTimeout: time.Minute, LockTimeout: time.Minute, IdleTimeout: 2 * time.Minute, ProbeAfter: time.Minute,
})

func (d *database) open() error {
	ctx := context.Background()
	c, err := driver.Dial(ctx, d.url, true)
	if err != nil {
		return err
	}
	d.Cell = c.(*postgres.Cell)
	return d.Identify(ctx, d.id)
}

func (d *database) reopen() error {
	if err := d.Close(); err != nil {
		return err
	}
	return d.open()
}

// dialled opens a cell at a URL until the end of the test, and identifies it unless that is refused.
func dialled(t *testing.T, driver *postgres.Driver, url string, id cell.Identity, create bool) (*postgres.Cell, error) {
	t.Helper()
	opened, err := driver.Dial(t.Context(), url, create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened.(*postgres.Cell), opened.Identify(t.Context(), id)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCellStore(t *testing.T)      { t.Parallel(); cellStore(t, direct(t)) }
func TestDriver(t *testing.T)         { t.Parallel(); drives(t, direct(t)) }
func TestEntityStore(t *testing.T)    { t.Parallel(); entityStore(t, direct(t)) }
func TestChangelogStore(t *testing.T) { t.Parallel(); changelogStore(t, direct(t)) }
func TestStorageCell(t *testing.T)    { t.Parallel(); storageCell(t, direct(t)) }

func TestPooled_CellStore(t *testing.T)   { t.Parallel(); cellStore(t, pooled(t)) }
func TestPooled_Driver(t *testing.T)      { t.Parallel(); drives(t, pooled(t)) }
func TestPooled_EntityStore(t *testing.T) { t.Parallel(); entityStore(t, pooledToo(t)) }
func TestPooled_StorageCell(t *testing.T) { t.Parallel(); storageCell(t, pooled(t)) }

func TestPooled_ChangelogStore(t *testing.T) { t.Parallel(); changelogStore(t, pooledToo(t)) }

func TestLeaseStore(t *testing.T) { t.Parallel(); leaseStore(t, direct(t)) }
func TestCopier(t *testing.T)     { t.Parallel(); copies(t, direct(t)) }

func TestRollupStore(t *testing.T)        { t.Parallel(); rollupStore(t, direct(t)) }
func TestPooled_RollupStore(t *testing.T) { t.Parallel(); rollupStore(t, pooledToo(t)) }

func TestCounterStore(t *testing.T)        { t.Parallel(); counterStore(t, direct(t)) }
func TestPooled_CounterStore(t *testing.T) { t.Parallel(); counterStore(t, pooledToo(t)) }

func counterStore(t *testing.T, at place) {
	countertest.Run(t, func(t *testing.T) countertest.Cell {
		d := at.open(t)
		return countertest.Cell{
			Update: func(ctx context.Context, fn func(counter.Store) error) error {
				return d.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			View: func(ctx context.Context, fn func(counter.Store) error) error {
				return d.View(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: d.reopen,
		}
	})
}

func rollupStore(t *testing.T, at place) {
	rolluptest.Run(t, func(t *testing.T) rolluptest.Cell {
		d := at.open(t)
		return rolluptest.Cell{
			Update: func(ctx context.Context, fn func(rollup.Store) error) error {
				return d.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: d.reopen,
		}
	})
}

func TestPooled_Copier(t *testing.T) { t.Parallel(); copies(t, pooledToo(t)) }

func leaseStore(t *testing.T, at place) {
	leasetest.Run(t, func(t *testing.T) leasetest.Update {
		d := at.open(t)
		return func(ctx context.Context, fn func(lease.Store) error) error {
			return d.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
		}
	})
}

func copies(t *testing.T, at place) {
	copytest.Run(t, func(t *testing.T) copytest.Pair { return copytest.Pair{From: at.open(t), To: at.open(t)} })
}

func cellStore(t *testing.T, at place) {
	celltest.Run(t, func(t *testing.T) celltest.Cell {
		d := at.open(t)
		return celltest.Cell{
			Database: celltest.Of[storage.Tx](d), Lo: d.id.Lo, Hi: d.id.Hi,
			LeaveRoom: func(n int64) error { return postgres.LeaveRoom(d.Cell, n) },
		}
	})
}

func drives(t *testing.T, at place) {
	celltest.RunDriver(t, func(t *testing.T) celltest.Kind[storage.Tx] {
		prefix := at.server.Database(t)
		return celltest.Kind[storage.Tx]{Driver: driver, URL: func(name string) string { return at.url(prefix + "_" + name) }}
	})
}

func entityStore(t *testing.T, at place) {
	entitytest.Run(t, func(t *testing.T) entitytest.Cell {
		d := at.open(t)
		return entitytest.Cell{
			Update: func(ctx context.Context, fn func(entity.Store) error) error {
				return d.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: d.reopen,
		}
	})
}

func changelogStore(t *testing.T, at place) {
	changelogtest.Run(t, func(t *testing.T) changelogtest.Cell {
		d := at.open(t)
		return changelogtest.Cell{
			Update: func(ctx context.Context, fn func(changelog.Store) error) error {
				return d.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: d.reopen,
		}
	})
}

func storageCell(t *testing.T, at place) {
	storagetest.Run(t, func(t *testing.T) storagetest.Cell {
		d := at.open(t)
		return storagetest.Cell{Cell: d, Reopen: d.reopen}
	})
}
