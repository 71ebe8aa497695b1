// SPDX-License-Identifier: Apache-2.0

//go:build linux

package pgtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mountDisk gives a server a separate file system, of limited size and in memory. Only root can do that.
func mountDisk(dir string, size uint64) error {
	if err := unix.Mount("locus-pg", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		return fmt.Errorf("a disk of %d bytes at %s, which only root may mount: %w", size, dir, err)
	}
	return own(dir)
}

// unmountDisk removes the file system.
func unmountDisk(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }

func (s *Server) balloon() string { return filepath.Join(s.dir, "balloon") }

// Fill leaves no room on the disk of a server, whose Options have Disk. The server may end: it does when it finds no
// room for its log.
func (s *Server) Fill(t testing.TB) {
	t.Helper()
	f, err := os.Create(s.balloon())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := int64(0)
	for size := int64(s.disk); size >= int64(os.Getpagesize()); {
		switch err := unix.Fallocate(int(f.Fd()), 0, end, size); {
		case err == nil:
			end += size
		case errors.Is(err, unix.ENOSPC):
			size /= 2
		default:
			t.Fatalf("fill the disk: %v", err)
		}
	}
}

// Free makes room again, starts the server if it has ended, and waits until it answers.
func (s *Server) Free(t testing.TB) {
	t.Helper()
	if err := os.Remove(s.balloon()); err != nil {
		t.Fatal(err)
	}
	if s.child.until(func() error { return ping(s.URL("postgres")) }) != nil {
		s.Restart(t)
	}
}
