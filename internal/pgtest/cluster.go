// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// newCluster creates a data directory at path, as a copy of the one that initdb created once for this version and
// user on this machine.
func newCluster(path string) error {
	initdb, err := find("initdb")
	if err != nil {
		return err
	}
	master, err := masterCluster(initdb)
	if err != nil {
		return err
	}
	return run("/bin/cp", "-a", master, path)
}

var mastering sync.Mutex

// masterCluster creates the data directory that all others are copied from, unless it exists.
func masterCluster(initdb string) (string, error) {
	mastering.Lock()
	defer mastering.Unlock()
	name := "locus-pg-master" + strings.ReplaceAll(filepath.Dir(initdb), "/", "-") + fmt.Sprintf("-%d", os.Getuid())
	dir := filepath.Join("/tmp", name)
	if err := os.Mkdir(dir, 0o711); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // the user of the servers must pass
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is no directory: remove it: %w", dir, err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", err
	}
	master := filepath.Join(dir, "data")
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return master, nil
	}
	if err := os.RemoveAll(master); err != nil {
		return "", err
	}
	if err := os.Mkdir(master, 0o700); err != nil {
		return "", err
	}
	if err := own(master); err != nil {
		return "", err
	}
	if err := run(initdb, "-D", master, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"); err != nil {
		return "", err
	}
	return master, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o600)
}
