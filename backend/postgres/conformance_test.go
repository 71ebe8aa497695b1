// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/backend/postgres"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cell/celltest"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changelog/changelogtest"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/entity/entitytest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/resolve/resolvetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// database is a cell in a database of the test, which can be closed and opened again.
type database struct {
	*postgres.Cell
	url string
	id  cell.Identity
}

// identity is that of a cell whose puids are negative, for those are easily mistreated.
func identity() cell.Identity {
	return cell.Identity{Map: "7c0e31", Cell: cell.ID{Gen: 1, Index: 19}, Lo: -1 << 40, Hi: -1<<40 + 1<<32 - 1, Rules: "place/1"}
}

// open opens a new cell on a server.
func open(t testing.TB, server *pgtest.Server) *database {
	t.Helper()
	d := &database{url: server.URL(server.Database(t)), id: identity()}
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

// driver is one for all tests, as a process has one.
var driver = postgres.NewDriver(nil)

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

func TestCellStore(t *testing.T) {
	t.Parallel()
	celltest.Run(t, func(t *testing.T) celltest.Cell {
		d := open(t, pgtest.Shared(t))
		return celltest.Cell{
			Database: celltest.Of[resolve.Tx](d), Lo: d.id.Lo, Hi: d.id.Hi,
			LeaveRoom: func(n int64) error { return postgres.LeaveRoom(d.Cell, n) },
		}
	})
}

func TestEntityStore(t *testing.T) {
	t.Parallel()
	entitytest.Run(t, func(t *testing.T) entitytest.Cell {
		d := open(t, pgtest.Shared(t))
		return entitytest.Cell{
			Update: func(ctx context.Context, fn func(entity.Store) error) error {
				return d.Update(ctx, func(tx resolve.Tx) error { return fn(tx) })
			},
			Reopen: d.reopen,
		}
	})
}

func TestChangelogStore(t *testing.T) {
	t.Parallel()
	changelogtest.Run(t, func(t *testing.T) changelogtest.Cell {
		d := open(t, pgtest.Shared(t))
		return changelogtest.Cell{
			Update: func(ctx context.Context, fn func(changelog.Store) error) error {
				return d.Update(ctx, func(tx resolve.Tx) error { return fn(tx) })
			},
			Reopen: d.reopen,
		}
	})
}

func TestResolveCell(t *testing.T) {
	t.Parallel()
	resolvetest.Run(t, func(t *testing.T) resolvetest.Cell {
		d := open(t, pgtest.Shared(t))
		return resolvetest.Cell{Cell: d, Reopen: d.reopen}
	})
}
