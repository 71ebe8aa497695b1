// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	for _, url := range []string{dir, "sqlite:" + dir} {
		opens(t, url)()
	}
}

// Concurrently, as if two processes had them open.
func TestOpen_PostgreSQL(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t, nil).URL("locus")
	first := opens(t, url)
	opens(t, url)()
	first()
	opens(t, url)()
}

// opens opens an installation of two cells, uses one, and returns a function that closes it.
func opens(t *testing.T, url string) (closed func()) {
	t.Helper()
	cells, err := storage.Open(t.Context(), url, &storage.Options{Cells: 2})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cells.Cell(cell.ID{Index: 1})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Update(t.Context(), func(storage.Tx) error { return nil })
	stats, err2 := cells.Stats(t.Context(), cell.ID{Index: 1})
	n := len(cells.Map().Cells())
	if err := errors.Join(err, err2); err != nil || n != 2 || stats.Cell.Index != 1 {
		t.Errorf("%s: %d cells, stats %+v, %v", url, n, stats, err)
	}
	return func() {
		if err := cells.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"mysql://db1/locus": `"mysql"`,
		"mongodb+srv://x":   `"mongodb+srv"`,
		"SQLITE:x":          `"SQLITE"`,
		"":                  "the directory is missing",
		"sqlite:":           "the directory is missing",
	} {
		cells, err := storage.Open(t.Context(), url, nil)
		if !errors.Is(err, cell.ErrURL) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "sqlite:DIR") {
			t.Errorf("%q: %v, want ErrURL and %s", url, err, says)
		}
		if cells != nil {
			t.Errorf("%q: cells beside an error", url)
		}
	}
	if cells, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "no"), &storage.Options{MustExist: true}); err == nil || cells != nil {
		t.Errorf("a directory that must exist: %v, %v", cells, err)
	}
}

// A new installation in a directory, and the first write in one of its cells.
func ExampleOpen_update() {
	dir, err := os.MkdirTemp("", "locus")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	cells, err := storage.Open(ctx, "sqlite:"+dir, &storage.Options{Cells: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cells.Close()

	key := cells.Map().KeyOf("osm", "node/240109189")
	id := cells.Map().Home(key.Position())
	home, err := cells.Cell(id)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		err = home.Update(ctx, func(tx storage.Tx) error {
			allocated, err := tx.Allocate(ctx, []cell.Key{key})
			if err == nil {
				fmt.Println(id, allocated[0].PUID, allocated[0].Fresh)
			}
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// g0-3 4611686018427387905 true
	// g0-3 4611686018427387905 false
}

// A parameter that the server refuses is an error of the URL: the server is available, and a retry is useless.
func TestOpen_RefusesParametersOfTheServer(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t, nil).URL("locus")
	for _, parameter := range []string{"nosuch=1", "options=-c%20fsync=off", "work_mem=much"} {
		cells, err := storage.Open(t.Context(), url+"&"+parameter, &storage.Options{Cells: 2})
		if !errors.Is(err, cell.ErrURL) || cells != nil || strings.Contains(err.Error(), "SQLSTATE") {
			t.Errorf("%s: %v, want ErrURL", parameter, err)
		}
	}
}
