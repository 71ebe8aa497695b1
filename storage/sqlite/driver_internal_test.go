// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
)

func TestDriver_Path(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), t.TempDir()
	in, out := &Driver{Dir: dir}, &Driver{}
	for _, c := range []struct {
		driver    *Driver
		url, want string
	}{
		{in, "sqlite:cells/g0-1.db", filepath.Join(dir, "cells", "g0-1.db")},
		{in, "sqlite:a #b.db", filepath.Join(dir, "a #b.db")},
		{in, "sqlite:" + root + "/x.db", filepath.Join(root, "x.db")},
		{out, "sqlite:" + root + "/x.db", filepath.Join(root, "x.db")},
	} {
		if got, err := c.driver.path(c.url); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.url, got, err, c.want)
		}
	}
	for url, c := range map[string]struct {
		driver *Driver
		says   string
	}{
		"sqlite:../x.db":     {in, "absolute"},
		"sqlite:a/../../x":   {in, "absolute"},
		"sqlite:x.db":        {out, "no data directory"},
		"sqlite:":            {in, "sqlite:PATH"},
		"postgres://db1/x":   {in, "sqlite:PATH"},
		"/x.db":              {in, "sqlite:PATH"},
		"SQLITE:" + root:     {in, "sqlite:PATH"},
		"sqlite:cells/../..": {in, "absolute"},
		"sqlite://host/x.db": {in, "no host"},
		"sqlite:x.db?a=b":    {in, "without parameters"},
		"sqlite:100%.db":     {in, "without parameters"},
	} {
		if got, err := c.driver.path(url); !errors.Is(err, cell.ErrURL) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v, want an error that says %s", url, got, err, c.says)
		}
	}
}

// The more cells are open, the smaller the page cache of each of their connections.
func TestDriver_SharesTheCache(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	ctx := t.Context()
	d := &Driver{Dir: t.TempDir()}
	dial := func(i int) *Cell {
		t.Helper()
		c, err := d.Dial(ctx, fmt.Sprintf("sqlite:g0-%d.db", i), true)
		if err == nil {
			err = c.Identify(ctx, cell.Identity{Map: "m", Cell: cell.ID{Index: uint32(i)}, Hi: 9})
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		return c.(*dialled).Cell
	}
	pages := func(run func(context.Context, func(storage.Tx) error) error) (kib int64) {
		t.Helper()
		if err := run(ctx, func(rt storage.Tx) error {
			r, err := rt.(*tx).conn.do("PRAGMA cache_size")
			if err == nil {
				kib = -r.int(0)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return kib
	}
	first := dial(0)
	for i := 1; i < defaultCells; i++ {
		dial(i)
	}
	const whole = cacheSize / defaultCells / 1024
	if w, r := pages(first.Update), pages(first.View); w != whole/2 || r != whole/8 {
		t.Errorf("%d cells: the writer has %d KiB, a reader %d, want %d and %d", defaultCells, w, r, whole/2, whole/8)
	}
	for i := range defaultCells {
		dial(defaultCells + i)
	}
	if w, r := pages(first.Update), pages(first.View); w != whole/4 || r != whole/16 {
		t.Errorf("twice as many cells: the writer has %d KiB, a reader %d, want %d and %d", w, r, whole/4, whole/16)
	}
	last := dial(2 * defaultCells)
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	if w := pages(first.Read); w >= whole/4 {
		t.Errorf("the driver was not told of one more cell: %d KiB", w)
	}
}

func TestDial_AFileThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "cell.db")
	_, err := dial(path, nil)
	if !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrFiles) || !strings.Contains(err.Error(), path) {
		t.Errorf("a file in a directory that is not there: %v, want ErrUnavailable and its path", err)
	}
}
