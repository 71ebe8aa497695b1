// SPDX-License-Identifier: Apache-2.0

// Package blank makes installations for tests: directories of new SQLite cells, copied from one that is created once. The
// test imports the backend. A
// copy takes a third of the processor time of a creation, and waits for the disk a seventh as long.
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
	blank = map[int]fstest.MapFS{} // by the number of cells
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
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	if blank[cells] == nil {
		made, err := create(cells)
		if err != nil {
			return err
		}
		blank[cells] = made
	}
	return os.CopyFS(dir, blank[cells])
}

// create returns the files of a new installation.
func create(n int) (made fstest.MapFS, err error) {
	dir, err := os.MkdirTemp("", "locus-blank-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cells, err := storage.Open(context.Background(), dir, &storage.Options{Cells: n, Scratch: true})
	if err == nil {
		err = cells.Close()
	}
	made = fstest.MapFS{}
	return made, errors.Join(err, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		made[path] = &fstest.MapFile{Data: text, Mode: 0o600}
		return err
	}))
}
