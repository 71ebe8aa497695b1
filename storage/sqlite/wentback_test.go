// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

// writerDir is the environment variable with the directory whose cells a child process writes to.
const writerDir = "LOCUS_TEST_CRASH_DIR"

// writeDir commits in changing cells of a directory, and prints the cell after each commit.
func writeDir(path string) error {
	ctx := context.Background()
	d, err := sqlite.OpenDir(ctx, path, &sqlite.DirOptions{Cells: 4, Rules: "r"})
	if err != nil {
		return err
	}
	for i := int64(0); ; i++ {
		id := cell.ID{Index: uint32(rand.IntN(4))}
		c, err := d.Cell(id)
		if err == nil {
			err = c.Update(ctx, func(tx storage.Tx) error { return tx.AddCounts(ctx, entity.Counts{Records: 1}) })
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Println(id.Index); err != nil {
			return err
		}
	}
}

// killDir runs the child until it has acknowledged enough commits, kills it, and returns the number acknowledged in
// each cell. 0 kills it during its start.
func killDir(t *testing.T, dir string, enough int) (acknowledged [4]int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), writerDir+"="+dir)
	var said strings.Builder
	child.Stderr = &said
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	early := make(chan struct{})
	if enough == 0 {
		go func() {
			time.Sleep(rand.N(200 * time.Millisecond)) //nolint:forbidigo // a moment of the start is what is looked for
			_ = child.Process.Kill()
			close(early)
		}()
	} else {
		close(early)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); {
		var index int
		if _, err := fmt.Sscan(lines.Text(), &index); err != nil {
			t.Fatalf("the child said %q", lines.Text())
		}
		acknowledged[index]++
		if n++; n == enough {
			_ = child.Process.Kill()
		}
	}
	<-early
	_ = child.Wait()
	if said.Len() > 0 {
		t.Fatalf("the child: %s", said.String())
	}
	return acknowledged
}

// A process that is killed at any point, even in its first start, leaves a directory that opens and contains every
// acknowledged write: a false alarm would be worse than no alarm.
func TestP01_AKilledProcessStartsAgain(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	kills := longtest.Sample(4, 12, 12, 40)
	dir := t.TempDir()
	var acknowledged [4]int64
	for kill := range kills {
		for i, n := range killDir(t, dir, rand.IntN(3)*rand.IntN(40)) {
			acknowledged[i] += n
		}
		if kill%3 != 0 {
			continue // the child itself must start
		}
		d := openDir(t, dir, &sqlite.DirOptions{Cells: 4, Rules: "r"})
		for i, want := range acknowledged {
			c, err := d.Cell(cell.ID{Index: uint32(i)})
			if err != nil {
				t.Fatal(err)
			}
			n, err := countOf(t, c)
			if err != nil || n < want {
				t.Fatalf("kill %d: cell %d has %d, %v; %d were acknowledged", kill, i, n, err, want)
			}
			acknowledged[i] = n
		}
		closeDir(t, d)
	}
	t.Logf("%d kills, %v commits", kills, acknowledged)
}

// copyTree copies a directory like cp -a, keeping the inodes of existing target files.
func copyTree(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A cell that went back is refused by name, however often it is tried, and accepted by cell restored.
func TestP01_WhatWentBackIsNotServed(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir, old string) // old is a closed copy of the directory from before the last commits
		names  string
	}{
		"a log that is missing": {func(t *testing.T, dir, _ string) { remove(t, dir, "cells/g0-1.db-wal", "cells/g0-1.db-shm") }, "cell g0-1"},
		"a log that was cut": {func(t *testing.T, dir, _ string) {
			wal := filepath.Join(dir, "cells", "g0-2.db-wal")
			info, err := os.Stat(wal)
			if err == nil {
				err = os.Truncate(wal, info.Size()/2) // the last frames may belong to a commit that the kill cut off
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "cell g0-2"},
		"an old copy of a cell": {func(t *testing.T, dir, old string) {
			remove(t, dir, "cells/g0-3.db-wal", "cells/g0-3.db-shm")
			copyFile(t, filepath.Join(dir, "cells/g0-3.db"), filepath.Join(old, "cells/g0-3.db"))
		}, "cell g0-3"},
		"an old copy of the cell of the map": {func(t *testing.T, dir, old string) {
			remove(t, dir, "cells/g0-0.db-wal", "cells/g0-0.db-shm")
			copyFile(t, filepath.Join(dir, "cells/g0-0.db"), filepath.Join(old, "cells/g0-0.db"))
		}, "cell g0-0"},
		"old cells, new witnesses": {func(t *testing.T, dir, old string) {
			if err := os.RemoveAll(filepath.Join(dir, "cells")); err != nil {
				t.Fatal(err)
			}
			copyTree(t, filepath.Join(dir, "cells"), filepath.Join(old, "cells"))
		}, "cell g0-"},
		"no witnesses": {func(t *testing.T, dir, _ string) { remove(t, dir, "witness") }, "file of witnesses"},
		"damaged witnesses": {func(t *testing.T, dir, _ string) {
			path := filepath.Join(dir, "witness")
			text, err := os.ReadFile(path)
			if err == nil {
				text[70] ^= 0x40
				err = os.WriteFile(path, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, old := t.TempDir(), t.TempDir()
			opts := &sqlite.DirOptions{Cells: 4, Rules: "r"}
			closeDir(t, openDir(t, dir, opts))
			copyTree(t, old, dir)
			killDir(t, dir, 60)
			c.damage(t, dir, old)
			for range 2 {
				d, err := sqlite.OpenDir(t.Context(), dir, opts)
				if err == nil {
					closeDir(t, d)
				}
				if !errors.Is(err, cell.ErrWentBack) || !strings.Contains(err.Error(), c.names) || !strings.Contains(err.Error(), "locus cell restored") {
					t.Fatalf("it started, or was refused with %v, want ErrWentBack that names %q and says what to do", err, c.names)
				}
			}
			if name == "damaged witnesses" {
				remove(t, dir, "witness")
			}
			restored := *opts
			restored.Restored = true
			closeDir(t, openDir(t, dir, &restored)) // a dry run accepts nothing
			if _, err := sqlite.OpenDir(t.Context(), dir, opts); !errors.Is(err, cell.ErrWentBack) {
				t.Fatalf("after it was looked at with Restored: %v, want ErrWentBack", err)
			}
			d := openDir(t, dir, &restored)
			if err := cell.Reincarnate(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			closeDir(t, d)
			killDir(t, dir, 10)
			closeDir(t, openDir(t, dir, opts))
		})
	}
}

func remove(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// Restoring a backup repeatedly begins an incarnation that no earlier restore began.
func TestP07_ABackupIsRestoredTwice(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir, old := t.TempDir(), t.TempDir()
	opts := &sqlite.DirOptions{Cells: 4, Rules: "r"}
	closeDir(t, openDir(t, dir, opts))
	copyTree(t, old, dir)
	for want := 2; want < 5; want++ {
		killDir(t, dir, 20)
		if err := os.RemoveAll(filepath.Join(dir, "cells")); err != nil {
			t.Fatal(err)
		}
		copyTree(t, filepath.Join(dir, "cells"), filepath.Join(old, "cells"))
		d := openDir(t, dir, &sqlite.DirOptions{Rules: "r", Restored: true})
		if err := cell.Reincarnate(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for _, id := range d.Map().Cells() {
			c, err := d.Cell(id)
			if err == nil {
				err = c.View(t.Context(), func(tx storage.Tx) error {
					h, err := tx.Head(t.Context())
					if err == nil && h.Incarnation != want {
						err = fmt.Errorf("cell %v is in incarnation %d, want %d", id, h.Incarnation, want)
					}
					return err
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		closeDir(t, d)
		closeDir(t, openDir(t, dir, opts))
	}
}
