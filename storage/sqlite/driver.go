// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

const (
	// scheme is the scheme of file URLs: sqlite:PATH.
	scheme = "sqlite"
	// cacheSize is the page cache of all cells of a driver together, in bytes. One cell gets at most a sixteenth of
	// it.
	cacheSize = 192 << 20
)

// Driver opens cells in files. It is safe for concurrent use; the zero value has no directory.
type Driver struct {
	// Dir is the base of relative paths. If empty, all paths must be absolute.
	Dir string
	// Files is the number of files the process may have open. Defaults to the system's limit.
	Files uint64

	scratch bool // see storage.Options

	mu   sync.Mutex
	open map[*Cell]struct{}
}

var _ storage.Driver = (*Driver)(nil)

// Dial opens the cell at sqlite:PATH. A path is absolute, or relative and below Dir. If create is set, Dial creates
// the directories and the file with access for their owner only, and their names are durable when it returns. All
// open cells share the page cache.
func (d *Driver) Dial(ctx context.Context, url string, create bool) (cell.Opened[storage.Tx], error) {
	path, err := d.path(url)
	if err != nil {
		return nil, err
	}
	if create {
		if err := d.Check(url); err != nil {
			return nil, err
		}
	}
	c, err := open(ctx, path, &Options{CacheSize: cacheSize / defaultCells, MustExist: !create, Scratch: d.scratch})
	if err != nil {
		return nil, err
	}
	d.share(func(open map[*Cell]struct{}) { open[c] = struct{}{} })
	return &dialled{c, d}, nil
}

// dialled is a cell that leaves the driver's cache share when it is closed.
type dialled struct {
	*Cell
	driver *Driver
}

func (c *dialled) Close() error {
	err := c.Cell.Close()
	c.driver.share(func(open map[*Cell]struct{}) { delete(open, c.Cell) })
	return err
}

// share applies change to the set of open cells and divides the page cache among them.
func (d *Driver) share(change func(open map[*Cell]struct{})) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[*Cell]struct{}{}
	}
	change(d.open)
	share := defaultCells
	if d.scratch { // it has few cells, all of them in use
		share = 1
	}
	size := int64(cacheSize / max(len(d.open), share))
	for c := range d.open {
		c.cache.Store(size)
	}
}

// Check implements cell.Driver: the path must be a regular file or not exist.
func (d *Driver) Check(url string) error {
	path, err := d.path(url)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%w: %q is a directory: write the path of a file, as in %s", cell.ErrURL, url,
			scheme+":"+filepath.ToSlash(filepath.Join(path, "g0-3.db")))
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %q is no regular file: %s", cell.ErrURL, url, example)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unusable(url, err)
	}
	return nil
}

const example = "write sqlite:PATH, as in sqlite:/srv/locus/g0-3.db"

// path returns the path of a file.
func (d *Driver) path(url string) (string, error) {
	path, ok := strings.CutPrefix(url, scheme+":")
	path = filepath.FromSlash(path)
	switch {
	case !ok || path == "":
		return "", fmt.Errorf("%w: %q names no file: %s", cell.ErrURL, url, example)
	case strings.HasPrefix(path, "//"):
		return "", fmt.Errorf("%w: %q begins with //, but a file has no host: %s", cell.ErrURL, url, example)
	case strings.ContainsAny(path, "?%"):
		return "", fmt.Errorf("%w: %q: a path is written as it is, without parameters, and may not have ? or %%: %s",
			cell.ErrURL, url, example)
	case filepath.IsAbs(path):
		return path, nil
	case d.Dir == "":
		return "", fmt.Errorf("%w: %q is relative, but there is no data directory: %s", cell.ErrURL, url, example)
	case !filepath.IsLocal(path):
		return "", fmt.Errorf("%w: %q leads out of %s: leave .. out, or write an absolute path, as in sqlite:/srv/locus/g0-3.db", cell.ErrURL, url, d.Dir)
	}
	return filepath.Join(d.Dir, path), nil
}

// unusable adds advice to an error from creating a file; the usual cause is a place that the process may not write
// to.
func unusable(where string, err error) error {
	var reason syscall.Errno
	switch {
	case !errors.As(err, &reason):
		return err
	case reason == syscall.ENOSPC || reason == syscall.EDQUOT:
		return fmt.Errorf("create %q: %w: %w", where, cell.ErrDiskFull, reason)
	case reason == syscall.EMFILE || reason == syscall.ENFILE:
		return fmt.Errorf("create %q: %w", where, cell.OutOfFiles(reason))
	}
	return fmt.Errorf("%w: %q: %w: choose a place that this process may write to", cell.ErrURL, where, reason)
}

// makeFile creates an empty file that only its owner may read, if it does not exist. SQLite gives the file's log
// the same mode.
func makeFile(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return unusable(path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return unusable(path, err)
	}
	if err := errors.Join(f.Close(), syncDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("create cell: %w", err)
	}
	return nil
}

// makeDir creates a directory and its parents, with access for their owner only, if they do not exist.
func makeDir(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes directory entries durable.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
