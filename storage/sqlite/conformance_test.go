// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cell/celltest"
	"github.com/locus-db/locus/cell/copytest"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changelog/changelogtest"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/counter/countertest"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/entity/entitytest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/lease/leasetest"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollup/rolluptest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
	"github.com/locus-db/locus/storage/storagetest"
)

// file is a cell in a directory of the test that can be closed and reopened.
type file struct {
	*sqlite.Cell
	path string
	id   cell.Identity
}

// identity returns the identity of a cell with negative puids, which are easily mishandled.
func identity() cell.Identity {
	return cell.Identity{Map: "7c0e31", Cell: cell.ID{Gen: 1, Index: 19}, Lo: -1 << 40, Hi: -1<<40 + 1<<32 - 1, Rules: "place/1"}
}

func openFile(t testing.TB) *file {
	t.Helper()
	f := &file{path: filepath.Join(t.TempDir(), "cell.db"), id: identity()}
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *file) open() (err error) {
	f.Cell, err = sqlite.Open(context.Background(), f.path, f.id, nil)
	return err
}

func (f *file) reopen() error {
	if err := f.Close(); err != nil {
		return err
	}
	return f.open()
}

func TestCellStore(t *testing.T) {
	t.Parallel()
	celltest.Run(t, func(t *testing.T) celltest.Cell {
		f := openFile(t)
		return celltest.Cell{
			Database: celltest.Of(cell.Database[storage.Tx](f)), Lo: f.id.Lo, Hi: f.id.Hi,
			LeaveRoom: func(n int64) error { return sqlite.LeaveRoom(f.Cell, n) },
		}
	})
}

func TestDriver(t *testing.T) {
	t.Parallel()
	celltest.RunDriver(t, func(t *testing.T) celltest.Kind[storage.Tx] {
		return celltest.Kind[storage.Tx]{
			Driver: &sqlite.Driver{Dir: t.TempDir()}, URL: func(name string) string { return "sqlite:cells/" + name + ".db" },
		}
	})
}

func TestEntityStore(t *testing.T) {
	t.Parallel()
	entitytest.Run(t, func(t *testing.T) entitytest.Cell {
		f := openFile(t)
		return entitytest.Cell{
			Update: func(ctx context.Context, fn func(entity.Store) error) error {
				return f.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: f.reopen,
		}
	})
}

func TestChangelogStore(t *testing.T) {
	t.Parallel()
	changelogtest.Run(t, func(t *testing.T) changelogtest.Cell {
		f := openFile(t)
		return changelogtest.Cell{
			Update: func(ctx context.Context, fn func(changelog.Store) error) error {
				return f.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: f.reopen,
		}
	})
}

func TestStorageCell(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, func(t *testing.T) storagetest.Cell {
		f := openFile(t)
		return storagetest.Cell{Cell: f, Reopen: f.reopen}
	})
}

func TestLeaseStore(t *testing.T) {
	t.Parallel()
	leasetest.Run(t, func(t *testing.T) leasetest.Update {
		f := openFile(t)
		return func(ctx context.Context, fn func(lease.Store) error) error {
			return f.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
		}
	})
}

func TestRollupStore(t *testing.T) {
	t.Parallel()
	rolluptest.Run(t, func(t *testing.T) rolluptest.Cell {
		f := openFile(t)
		return rolluptest.Cell{
			Update: func(ctx context.Context, fn func(rollup.Store) error) error {
				return f.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: f.reopen,
		}
	})
}

func TestCounterStore(t *testing.T) {
	t.Parallel()
	countertest.Run(t, func(t *testing.T) countertest.Cell {
		f := openFile(t)
		return countertest.Cell{
			Update: func(ctx context.Context, fn func(counter.Store) error) error {
				return f.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			View: func(ctx context.Context, fn func(counter.Store) error) error {
				return f.View(ctx, func(tx storage.Tx) error { return fn(tx) })
			},
			Reopen: f.reopen,
		}
	})
}

func TestCopier(t *testing.T) {
	t.Parallel()
	copytest.Run(t, func(t *testing.T) copytest.Pair { return copytest.Pair{From: openFile(t), To: openFile(t)} })
}
