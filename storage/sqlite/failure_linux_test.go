// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage/sqlite"
)

// become redirects all descriptors that this process has of a file to another one, and returns a function that
// restores them. Writes to /dev/null are lost and syncing it fails, as on a disk that has gone; /dev/full has no
// room; a file opened for reading accepts no writes.
func become(t *testing.T, file, other string, flag int) (giveBack func()) {
	t.Helper()
	d, err := os.OpenFile(other, flag, 0)
	if err != nil {
		t.Skipf("no %s here: %v", other, err)
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	var fds []int
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if name, errLink := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && errLink == nil && name == file && fd != int(d.Fd()) {
			fds = append(fds, fd)
		}
	}
	kept := map[int]int{}
	for _, fd := range fds {
		copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err == nil {
			err = unix.Dup3(int(d.Fd()), fd, unix.O_CLOEXEC)
		}
		if err != nil {
			t.Fatal(err)
		}
		kept[fd] = copied
	}
	if len(kept) == 0 {
		t.Fatal("not open: " + file)
	}
	given := false
	giveBack = func() {
		if given {
			return
		}
		given = true
		for fd, copied := range kept {
			if err := errors.Join(unix.Dup3(copied, fd, unix.O_CLOEXEC), unix.Close(copied)); err != nil {
				t.Error(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(giveBack)
	return giveBack
}

// A commit whose sync fails may have happened; the cell reports that, and never tries again.
func TestP01_FailedSyncClosesTheCell(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	for range 3 {
		if err := addOne(t, f); err != nil {
			t.Fatal(err)
		}
	}
	giveBack := become(t, f.path+"-wal", "/dev/null", os.O_RDWR)
	err := addOne(t, f)
	if !errors.Is(err, cell.ErrCommitUnknown) || !strings.Contains(err.Error(), "g1-19") {
		t.Fatalf("a commit whose sync failed: %v, want ErrCommitUnknown and the cell's name", err)
	}
	giveBack()
	for range 2 { // the disk works again, which changes nothing
		err := addOne(t, f)
		if !errors.Is(err, sqlite.ErrFailed) || !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrCommitUnknown) {
			t.Fatalf("an update after a failed sync: %v, want ErrFailed", err)
		}
		if _, err := countOf(t, f); !errors.Is(err, sqlite.ErrFailed) {
			t.Fatalf("a view after a failed sync: %v, want ErrFailed", err)
		}
	}
	if _, err := f.Stats(t.Context()); !errors.Is(err, sqlite.ErrFailed) {
		t.Fatalf("stats after a failed sync: %v, want ErrFailed", err)
	}
	if err := f.reopen(); err != nil {
		t.Fatal(err)
	}
	if n, err := countOf(t, f); err != nil || n != 3 {
		t.Fatalf("%d records, %v after starting again, want the 3 that were acknowledged", n, err)
	}
	if err := addOne(t, f); err != nil {
		t.Fatal(err)
	}
}

// A write that fails during a checkpoint loses nothing that was acknowledged, but the cell must not continue, because
// the next sync might succeed without the lost pages.
func TestP01_FailedCheckpointClosesTheCell(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	f.Cell, err = sqlite.Open(t.Context(), f.path, f.id, &sqlite.Options{LogSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	giveBack := become(t, f.path, f.path, os.O_RDONLY)
	n := int64(0)
	for err = addOne(t, f); err == nil; err = addOne(t, f) {
		if n++; n > 1000 {
			t.Fatal("1000 transactions and no checkpoint")
		}
	}
	giveBack()
	if !errors.Is(err, sqlite.ErrFailed) {
		t.Fatalf("an update after a failed checkpoint: %v, want ErrFailed", err)
	}
	if err := f.reopen(); err != nil {
		t.Fatal(err)
	}
	if got, err := countOf(t, f); err != nil || got != n {
		t.Fatalf("%d records, %v after starting again, want the %d that were acknowledged", got, err, n)
	}
}

// A full disk refuses writes and has no other effect. The refused writes did not happen.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	if err := addOne(t, f); err != nil {
		t.Fatal(err)
	}
	giveBack := become(t, f.path+"-wal", "/dev/full", os.O_RDWR)
	err := addOne(t, f)
	giveBack()
	if !errors.Is(err, cell.ErrNoRoom) || errors.Is(err, cell.ErrCommitUnknown) || errors.Is(err, cell.ErrUnavailable) {
		t.Fatalf("an update on a full disk: %v, want ErrNoRoom alone", err)
	}
	if strings.Contains(err.Error(), "puids") {
		t.Errorf("the disk is full, and not the range of puids: %v", err)
	}
	if n, err := countOf(t, f); err != nil || n != 1 {
		t.Fatalf("%d records, %v after the disk was full, want 1", n, err)
	}
	if err := addOne(t, f); err != nil {
		t.Fatalf("an update after the disk was full: %v", err)
	}
	if err := f.reopen(); err != nil {
		t.Fatal(err)
	}
	if n, err := countOf(t, f); err != nil || n != 2 {
		t.Fatalf("%d records, %v after starting again, want 2", n, err)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d, err := sqlite.OpenDir(t.Context(), dir, &sqlite.DirOptions{Cells: 2, Rules: "r"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	seen := 0
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		seen++
		if want := os.FileMode(0o600); !e.IsDir() && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		if want := os.FileMode(0o700); e.IsDir() && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil || seen < 7 {
		t.Errorf("%d files seen, %v", seen, err)
	}
}
