// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
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
// need.
func pooled(t testing.TB) place {
	t.Helper()
	s := pgtest.Shared(t)
	p := s.Pooler(t, 3)
	return place{s, func(db string) string { return p.URL(db) + "&pooler=1" }}
}

// empty is a database of the shared server with the tables of a cell: cloning one takes half as long as migrating
// one. The suite of the driver covers creation and migration.
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

// driver is shared by all tests, like in a process. Its timeouts are long because these tests check the stores and not
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

func TestBackend(t *testing.T) { t.Parallel(); storagetest.Run(t, backend(direct(t))) }

// Pooling affects transactions, locks, prepared statements and the creation of databases.
func TestBackend_Pooled(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestBackend runs them without a pooler, and TestPooler what differs with one")
	storagetest.Run(t, backend(pooled(t)), storagetest.Transaction, storagetest.CellStore, storagetest.Driver)
}

func TestBackend_PooledStores(t *testing.T) {
	t.Parallel()
	longtest.Only(t, "their statements go by way of a pooler in TestBackend_Pooled")
	storagetest.Run(t, backend(pooled(t)), storagetest.EntityStore, storagetest.ChangelogStore, storagetest.RollupStore, storagetest.CounterStore, storagetest.Copier)
}

// backend is this backend, with databases in a place.
func backend(at place) storagetest.Backend {
	return storagetest.Backend{
		Open: func(t *testing.T) storagetest.Cell {
			d := at.open(t)
			return storagetest.Cell{
				Cell: d, Identity: d.id, Reopen: d.reopen, LeaveRoom: func(n int64) error { return postgres.LeaveRoom(d.Cell, n) },
			}
		},
		Driver: func(t *testing.T) celltest.Kind[storage.Tx] {
			prefix := at.server.Database(t)
			return celltest.Kind[storage.Tx]{Driver: driver, URL: func(name string) string { return at.url(prefix + "_" + name) }}
		},
	}
}
