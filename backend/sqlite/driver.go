// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

const (
	// Scheme is what URLs of files begin with: sqlite:PATH.
	Scheme = "sqlite"
	// cacheSize is the memory for pages of all cells of a driver together, in bytes. One cell gets
	// a sixteenth of it at most.
	cacheSize = 192 << 20
)

// Driver opens cells in files. It is safe for many goroutines; the zero value has no directory.
type Driver struct {
	// Dir is what relative paths begin at. Without one all paths must be absolute.
	Dir string

	mu   sync.Mutex
	open map[*Cell]struct{}
}

var _ cell.Driver[resolve.Tx] = (*Driver)(nil)

// Dial opens the cell at sqlite:PATH. A path is absolute, or leads to a file below the directory. If
// create is set, directories and file are made for their owner alone, and their names are durable
// when Dial returns. The memory for pages is shared by all cells that are open.
func (d *Driver) Dial(ctx context.Context, url string, create bool) (cell.Opened[resolve.Tx], error) {
	path, err := d.path(url)
	if err != nil {
		return nil, err
	}
	c, err := open(ctx, path, &Options{CacheSize: cacheSize / defaultCells, MustExist: !create})
	if err != nil {
		return nil, err
	}
	d.share(func(open map[*Cell]struct{}) { open[c] = struct{}{} })
	return &dialled{c, d}, nil
}

// dialled is a cell that tells its driver when it is closed.
type dialled struct {
	*Cell
	driver *Driver
}

func (c *dialled) Close() error {
	err := c.Cell.Close()
	c.driver.share(func(open map[*Cell]struct{}) { delete(open, c.Cell) })
	return err
}

// share changes which cells are open, and divides the memory for pages among them.
func (d *Driver) share(change func(open map[*Cell]struct{})) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[*Cell]struct{}{}
	}
	change(d.open)
	size := int64(cacheSize / max(len(d.open), defaultCells))
	for c := range d.open {
		c.cache.Store(size)
	}
}

// path is where a file is.
func (d *Driver) path(url string) (string, error) {
	path, ok := strings.CutPrefix(url, Scheme+":")
	path = filepath.FromSlash(path)
	switch {
	case !ok || path == "":
		return "", fmt.Errorf("%q is no file: write sqlite:PATH", url)
	case filepath.IsAbs(path):
		return path, nil
	case d.Dir == "":
		return "", fmt.Errorf("%q is relative, but there is no data directory: write an absolute path", url)
	case !filepath.IsLocal(path):
		return "", fmt.Errorf("%q is no file below %s: write a path without .., or an absolute one", url, d.Dir)
	}
	return filepath.Join(d.Dir, path), nil
}

// makeFile makes an empty file that only its owner may read, unless it is there. SQLite gives the
// file's log the same mode.
func makeFile(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("create cell: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create cell: %w", err)
	}
	if err := errors.Join(f.Close(), syncDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("create cell: %w", err)
	}
	return nil
}

// makeDir makes a directory for its owner alone, unless it is there, and those above it.
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

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
