// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
	"github.com/locus-db/locus/storage/storagetest"
)

func openDir(t *testing.T, path string, opts *sqlite.DirOptions) *storage.Cells {
	t.Helper()
	d, err := sqlite.OpenDir(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeDir(t, d) })
	return d
}

func closeDir(t *testing.T, d *storage.Cells) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenDir_KeepsMapAndData(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "data")
	var first []byte
	for round := range int64(2) {
		d := openDir(t, path, &sqlite.DirOptions{Rules: "r1"})
		text, err := d.Map().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if string(text) != string(first) {
			t.Fatalf("round %d: the map is\n%s, was\n%s", round, text, first)
		}
		if n := len(d.Map().Cells()); n != 16 {
			t.Fatalf("%d cells, want 16", n)
		}
		for _, id := range d.Map().Cells() {
			c, err := d.Cell(id)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := countOf(t, c); n != round || err != nil {
				t.Fatalf("round %d: cell %s has %d records, %v", round, id, n, err)
			}
			if err := addOne(t, c); err != nil {
				t.Fatal(err)
			}
		}
		closeDir(t, d)
	}
}

// Each cell allocates puids from its range in the map.
func TestOpenDir_CellsAreThoseOfTheMap(t *testing.T) {
	t.Parallel()
	d := openDir(t, t.TempDir(), &sqlite.DirOptions{Cells: 6, Rules: "r"})
	for i, id := range d.Map().Cells() {
		c, err := d.Cell(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Update(t.Context(), func(tx storage.Tx) error {
			a, err := tx.Allocate(t.Context(), []cell.Key{{Ring: int64(i)}})
			if err != nil {
				return err
			}
			if of, err := d.Map().Puid(a[0].PUID); of != id || err != nil {
				return fmt.Errorf("cell %s gave a puid of %s, %w", id, of, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Cell(cell.ID{Gen: 1}); !errors.Is(err, cell.ErrNoCell) || !strings.Contains(err.Error(), "g1-0") {
		t.Errorf("a cell that the map has not: %v, want ErrNoCell", err)
	}
	if _, err := d.Stats(t.Context(), cell.ID{Gen: 1}); !errors.Is(err, cell.ErrNoCell) {
		t.Errorf("stats of a cell that the map has not: %v, want ErrNoCell", err)
	}
	if n := len(d.Map().Cells()); n != 6 {
		t.Fatalf("%d cells", n)
	}
	for i, id := range d.Map().Cells() {
		s, err := d.Stats(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Cell != d.Map().Cells()[i] || s.URL != fmt.Sprintf("sqlite:cells/g0-%d.db", i) || s.PUIDs != 1 || s.Bytes == 0 {
			t.Errorf("stats of cell %d are %+v", i, s)
		}
	}
}

func TestOpenDir_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, &sqlite.DirOptions{Cells: 1})
	_, err := sqlite.OpenDir(t.Context(), path, nil)
	if !errors.Is(err, storage.ErrInUse) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), fmt.Sprintf("process %d:", os.Getpid())) {
		t.Fatalf("a second server: %v, want ErrInUse with directory and process", err)
	}
	closeDir(t, d)
	closeDir(t, openDir(t, path, nil))
}

func TestOpenDir_Refuses(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	file := func(dir, id string) string { return filepath.Join(dir, "cells", id+".db") }
	for name, c := range map[string]struct {
		spoil func(dir string) error
		opts  sqlite.DirOptions
		want  error
		says  string
	}{
		"other rules":          {nil, sqlite.DirOptions{Rules: "r2"}, cell.ErrIdentity, `"r2"`},
		"another number":       {nil, sqlite.DirOptions{Rules: "r", Cells: 5}, storage.ErrCells, "has 4 cells, not 5"},
		"a cell missing":       {func(dir string) error { return os.Remove(file(dir, "g0-2")) }, sqlite.DirOptions{Rules: "r"}, storage.ErrLost, "g0-2.db"},
		"two cells swapped":    {func(dir string) error { return swap(file(dir, "g0-1"), file(dir, "g0-3")) }, sqlite.DirOptions{Rules: "r"}, cell.ErrIdentity, "swapped"},
		"a cell as authority":  {func(dir string) error { return swap(file(dir, "g0-0"), file(dir, "g0-3")) }, sqlite.DirOptions{Rules: "r"}, cell.ErrIdentity, "g0-3"},
		"nothing there":        {os.RemoveAll, sqlite.DirOptions{Rules: "r", MustExist: true}, cell.ErrMissing, "holds no data"},
		"a file, no directory": {func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) }, sqlite.DirOptions{Rules: "r"}, cell.ErrURL, "is a file"},
		"too many cells":       {os.RemoveAll, sqlite.DirOptions{Cells: 1 << 40}, cell.ErrMap, "cell"},
		"a cell of another place": {func(dir string) error {
			other := filepath.Join(dir, "other")
			if err := fourCells(other); err != nil {
				return err
			}
			return os.Rename(file(other, "g0-1"), file(dir, "g0-1"))
		}, sqlite.DirOptions{Rules: "r"}, cell.ErrIdentity, "another installation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			if err := fourCells(dir); err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				if err := c.spoil(dir); err != nil {
					t.Fatal(err)
				}
			}
			d, err := sqlite.OpenDir(t.Context(), dir, &c.opts)
			if err == nil {
				closeDir(t, d)
			}
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %v and %q", name, err, c.want, c.says)
			}
			if again, err := sqlite.OpenDir(t.Context(), dir, &c.opts); errors.Is(err, storage.ErrInUse) {
				t.Errorf("the refusal kept the lock: %v", err)
			} else if err == nil {
				closeDir(t, again)
			}
		})
	}
}

// fourCells creates a data directory and closes it.
func fourCells(dir string) error {
	d, err := sqlite.OpenDir(context.Background(), dir, &sqlite.DirOptions{Cells: 4, Rules: "r"})
	if err != nil {
		return err
	}
	return d.Close()
}

func swap(a, b string) error {
	return errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b))
}

// A directory whose creation was interrupted is completed by the next start.
func TestOpenDir_FinishesAnInterruptedCreation(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, spoil := range map[string]func(dir string) error{
		"with some cells": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "cells", "g0-2.db")), sqlite.Script(filepath.Join(dir, "cells", "g0-0.db"), "UPDATE locus_cell SET known_epoch = 0"))
		},
		"with an empty authority": func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "cells")), os.Remove(filepath.Join(dir, "witness")), os.Mkdir(filepath.Join(dir, "cells"), 0o700),
				os.WriteFile(filepath.Join(dir, "cells", "g0-0.db"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := errors.Join(fourCells(dir), spoil(dir)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := fourCells(dir); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A directory whose map has no date gets one at the next start, after the IDs of all records, so that cells can be
// added.
func TestOpenDir_DatesTheMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDir(t, dir, &sqlite.DirOptions{Cells: 2})
	newest := time.Date(2031, 5, 1, 12, 0, 0, 1e6, time.UTC)
	l := storagetest.NewLoad()
	l.Tick = newest.UnixMilli() - 10
	c, err := d.Cell(cell.ID{Index: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Write(t.Context(), c, 10); err != nil {
		t.Fatal(err)
	}
	spec := d.Map().Spec()
	closeDir(t, d)
	spec.Until = time.Time{}
	m, err := cell.NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	script(t, filepath.Join(dir, "cells", "g0-0.db"), "UPDATE locus_map SET body = '"+string(text)+"'")

	want := newest.Add(time.Second).Truncate(time.Second)
	for range 2 {
		d := openDir(t, dir, nil)
		if got := d.Map().Until(); !got.Equal(want) || d.Map().Epoch() != 2 {
			t.Errorf("the map of epoch %d speaks until %v, want epoch 2 and %v: the newest id is of %v", d.Map().Epoch(), got, want, newest)
		}
		closeDir(t, d)
	}
}

// Cells that are added later are next to the first ones and are opened with them.
func TestOpenDir_CellsAreAdded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDir(t, dir, &sqlite.DirOptions{Cells: 2})
	if until := d.Map().Until(); until.IsZero() || time.Until(until) > 2*time.Minute {
		t.Errorf("a new map speaks until %v, want a minute from now", until)
	}
	spec := d.Map().Spec()
	first := spec.Generations[0]
	spec.Epoch, spec.Generations = spec.Epoch+1, append(spec.Generations, cell.Generation{Cells: 8, Starts: spec.Until, URLs: first.URLs})
	next, err := cell.NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Swap(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if err := d.Ensure(t.Context(), next.Cells()); err != nil {
		t.Fatal(err)
	}
	closeDir(t, d)
	if _, err := os.Stat(filepath.Join(dir, "cells", "g1-7.db")); err != nil {
		t.Error(err)
	}
	d = openDir(t, dir, &sqlite.DirOptions{Cells: 2})
	for _, id := range d.Map().Cells() {
		c, err := d.Cell(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := addOne(t, c); err != nil {
			t.Error(err)
		}
	}
	if n := len(d.Map().Cells()); n != 10 {
		t.Errorf("%d cells, want 10", n)
	}
	closeDir(t, d)
	if err := os.Remove(filepath.Join(dir, "cells", "g1-5.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.OpenDir(t.Context(), dir, nil); !errors.Is(err, cell.ErrMissing) || !strings.Contains(err.Error(), "g1-5.db") {
		t.Errorf("a cell that was added is missing: %v, want ErrMissing and its file", err)
	}
}

// Versions of the map that differ only in their end replace each other.
func TestCellMaps_KeepWhatChanged(t *testing.T) {
	t.Parallel()
	d := openDir(t, t.TempDir(), &sqlite.DirOptions{Cells: 1})
	for i := range 5 {
		spec := d.Map().Spec()
		spec.Epoch, spec.Until = spec.Epoch+1, spec.Until.Add(time.Minute)
		if i == 2 {
			spec.MinFormat++
		}
		next, err := cell.NewMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Swap(t.Context(), next); err != nil {
			t.Fatal(err)
		}
	}
	c, err := d.Cell(cell.ID{})
	if err != nil {
		t.Fatal(err)
	}
	var epochs []uint64
	if err := c.View(t.Context(), func(tx storage.Tx) error {
		texts, err := tx.CellMaps(t.Context())
		for _, text := range texts {
			m, err := cell.ParseMap(text)
			if err != nil {
				return err
			}
			epochs = append(epochs, m.Epoch())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(epochs, []uint64{3, 6}) {
		t.Errorf("epochs %d are kept, want 3 and 6", epochs)
	}
}

// BenchmarkOpenDir opens an existing directory of 16 cells.
func BenchmarkOpenDir(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		d, err := sqlite.OpenDir(b.Context(), dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
