// SPDX-License-Identifier: Apache-2.0

// Package blank makes installations for tests: directories of new SQLite cells, copied from one that is created once. A
// copy takes a third of the processor time of a creation, and waits for the disk a seventh as long. A test imports the
// backend itself.
package blank

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/locus-db/locus/storage"
)

var (
	mu    sync.Mutex
	fills = map[int]func(dir string) error{} // by the number of cells
)

// Dir returns a new directory with an installation of that many cells. All have the same id.
func Dir(t testing.TB, cells int) string {
	t.Helper()
	dir := t.TempDir()
	if err := Fill(dir, cells); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Fill makes dir an installation of that many cells if it is empty or does not exist.
func Fill(dir string, cells int) error {
	mu.Lock()
	fill := fills[cells]
	if fill == nil {
		fill = New(func(dir string) error {
			opened, err := storage.Open(context.Background(), dir, &storage.Options{Cells: cells, Scratch: true})
			if err != nil {
				return err
			}
			return opened.Close()
		})
		fills[cells] = fill
	}
	mu.Unlock()
	return fill(dir)
}

// New returns a function that fills a directory that is empty or does not exist with a copy of what create has written
// to another one. It calls create once.
func New(create func(dir string) error) (fill func(dir string) error) {
	files := sync.OnceValues(func() (fs.FS, error) {
		dir, err := os.MkdirTemp("", "locus-blank-")
		if err != nil {
			return nil, err
		}
		err = create(dir)
		made := fstest.MapFS{}
		return made, errors.Join(err, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(dir, path))
			made[path] = &fstest.MapFile{Data: text, Mode: 0o600}
			return err
		}), os.RemoveAll(dir))
	})
	return func(dir string) error {
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			return nil
		}
		from, err := files()
		if err != nil {
			return err
		}
		return os.CopyFS(dir, from)
	}
}
