// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/conformance/celltest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
	"github.com/locus-db/locus/storage/storagetest"
)

// file is a cell in a directory of the test that can be closed and reopened.
type file struct {
	*sqlite.Cell
	path string
	id   cell.Identity
	opts *sqlite.Options
}

// identity returns the identity of a cell with negative puids, which are easily mishandled.
func identity() cell.Identity {
	return cell.Identity{Map: "7c0e31", Cell: cell.ID{Gen: 1, Index: 19}, Lo: -1 << 40, Hi: -1<<40 + 1<<32 - 1, Rules: "place/1"}
}

// empty copies a new cell to a directory, which takes a third of the time of creating it.
var empty = blank.New(func(dir string) error {
	cell, err := sqlite.Open(context.Background(), filepath.Join(dir, "cell.db"), identity(), &sqlite.Options{Scratch: true})
	if err != nil {
		return err
	}
	return cell.Close()
})

func openFile(t testing.TB) *file { return openWith(t, nil) }

func openWith(t testing.TB, opts *sqlite.Options) *file {
	t.Helper()
	f := &file{path: filepath.Join(t.TempDir(), "cell.db"), id: identity(), opts: opts}
	if err := errors.Join(empty(filepath.Dir(f.path)), f.open()); err != nil {
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
	f.Cell, err = sqlite.Open(context.Background(), f.path, f.id, f.opts)
	return err
}

func (f *file) reopen() error {
	if err := f.Close(); err != nil {
		return err
	}
	return f.open()
}

func TestBackend(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, storagetest.Backend{
		Open: func(t *testing.T) storagetest.Cell {
			f := openWith(t, &sqlite.Options{Scratch: testing.Short()}) // the gate waits for the disk
			return storagetest.Cell{
				Cell: f, Identity: f.id, Reopen: f.reopen, LeaveRoom: func(n int64) error { return sqlite.LeaveRoom(f.Cell, n) },
			}
		},
		Driver: func(t *testing.T) celltest.Kind[storage.Tx] {
			return celltest.Kind[storage.Tx]{
				Driver: &sqlite.Driver{Dir: t.TempDir()}, URL: func(name string) string { return "sqlite:cells/" + name + ".db" },
			}
		},
	})
}
