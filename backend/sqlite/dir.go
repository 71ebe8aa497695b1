// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

// DirOptions are options of OpenDir.
type DirOptions struct {
	// Cells is how many cells a new directory gets. Defaults to 16; for an existing directory
	// it defaults to what is there, and another number is refused.
	Cells int
	// Rules name what derived data is made with; see cell.Identity.
	Rules string
	// MustExist refuses to make a new directory.
	MustExist bool
}

// Dir is a data directory: the cells of a whole installation, and the lock that keeps a second
// process out.
//
//	DIR/lock             the process that has the directory
//	DIR/cells/g0-0.db    the authority: the cell that holds the cell map
//	DIR/cells/g0-1.db    ...
type Dir struct {
	path  string
	lock  *os.File
	cells map[cell.ID]*Cell
	cmap  *cell.Map
}

const (
	defaultCells = 16
	// cacheSize is the memory for pages of all cells together, in bytes.
	cacheSize = 192 << 20
	cellURL   = "sqlite:cells/g0-{i}.db"
)

var authority = cell.ID{}

// OpenDir opens the data directory at path, or makes one. Directories are made for their owner
// alone. It refuses a directory that another process has open, one made under other rules and one
// with cells missing.
func OpenDir(ctx context.Context, path string, opts *DirOptions) (_ *Dir, err error) {
	var o DirOptions
	if opts != nil {
		o = *opts
	}
	d := &Dir{path: path, cells: make(map[cell.ID]*Cell)}
	first := d.authorityFile()
	if _, err := os.Stat(first); errors.Is(err, fs.ErrNotExist) && o.MustExist {
		return nil, fmt.Errorf("%w: %s holds no data: check the path, or let locus serve or ingest make it", ErrMissing, path)
	}
	if err := os.MkdirAll(filepath.Dir(first), 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	if d.lock, err = lock(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	complete, err := d.openAuthority(ctx, &o)
	if err != nil {
		return nil, err
	}
	if have := int(d.cmap.Count(0)); o.Cells != 0 && o.Cells != have {
		return nil, fmt.Errorf("%w: %s has %d cells, not %d: leave the number out", ErrIdentity, path, have, o.Cells)
	}
	if err := d.openOthers(ctx, &o, complete); err != nil || complete {
		return d, err
	}
	return d, d.finish(ctx)
}

// lock takes the lock file of a directory and writes the process into it.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		owner, _ := io.ReadAll(io.LimitReader(f, 32))
		err = fmt.Errorf("%w: %s is in use by process %s: stop it, or choose another directory", ErrInUse, dir, strings.TrimSpace(string(owner)))
	}
	if err == nil {
		err = errors.Join(f.Truncate(0), writeAt(f, fmt.Sprintln(os.Getpid())))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// authorityFile is where the cell that holds the map is; the map tells where the others are.
func (d *Dir) authorityFile() string { return filepath.Join(d.path, "cells", authority.String()+".db") }

// file is where a cell is by the map: below the directory, wherever that was moved.
func (d *Dir) file(id cell.ID) (string, error) {
	relative, ok := strings.CutPrefix(d.cmap.URL(id), "sqlite:")
	if !ok || !filepath.IsLocal(filepath.FromSlash(relative)) {
		return "", fmt.Errorf("cell %s is at %q, which is no file below %s", id, d.cmap.URL(id), d.path)
	}
	return filepath.Join(d.path, filepath.FromSlash(relative)), nil
}

// cellOptions are those of each of so many cells.
func cellOptions(cells int, mustExist bool) *Options {
	return &Options{CacheSize: cacheSize / cells, MustExist: mustExist}
}

// openAuthority opens the cell that holds the map, and writes a map into a new one. It tells
// whether all cells of the map are known to have been made.
func (d *Dir) openAuthority(ctx context.Context, o *DirOptions) (complete bool, err error) {
	c, err := open(ctx, d.authorityFile(), cellOptions(max(o.Cells, defaultCells), false))
	if err != nil {
		return false, err
	}
	d.cells[authority] = c
	var text string
	if err := c.View(ctx, func(t resolve.Tx) (err error) {
		text, complete, err = t.(*tx).cellMap(ctx)
		return err
	}); err != nil {
		return false, fmt.Errorf("read cell map of %s: %w", d.path, err)
	}
	if text != "" {
		if d.cmap, err = cell.ParseMap([]byte(text)); err != nil {
			return false, fmt.Errorf("cell map of %s: %w", d.path, err)
		}
		return complete, c.Identify(ctx, d.cmap.IdentityOf(authority, o.Rules))
	}
	if id, err := c.identity(ctx); err != nil || id != nil {
		if err == nil {
			err = fmt.Errorf("%w: %s is cell %s and holds no cell map: files were swapped or copied; give each its own name back", ErrIdentity, c.path, id.Cell)
		}
		return false, err
	}
	cells := o.Cells
	if cells == 0 {
		cells = defaultCells
	}
	d.cmap, err = cell.NewMap(cell.Spec{Generations: []cell.Generation{{Cells: uint64(cells), URLs: []string{cellURL}}}})
	if err != nil {
		return false, fmt.Errorf("make cell map: %w", err)
	}
	body, err := d.cmap.MarshalJSON()
	if err != nil {
		return false, fmt.Errorf("make cell map: %w", err)
	}
	c.id = d.cmap.IdentityOf(authority, o.Rules)
	return false, c.write(ctx, alone, func(t *tx) error {
		return errors.Join(t.setIdentity(c.id), t.PutCellMap(ctx, d.cmap.Epoch(), body))
	})
}

// openOthers opens all cells but the authority, several at a time. Once they are known to have
// been made, none may be missing.
func (d *Dir) openOthers(ctx context.Context, o *DirOptions, mustExist bool) error {
	ids := d.cmap.Cells()
	opened := make([]*Cell, len(ids))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i, id := range ids {
		if id != authority {
			g.Go(func() error {
				path, err := d.file(id)
				if err != nil {
					return err
				}
				opened[i], err = Open(ctx, path, d.cmap.IdentityOf(id, o.Rules), cellOptions(len(ids), mustExist))
				return err
			})
		}
	}
	err := g.Wait()
	for i, c := range opened {
		if c != nil {
			d.cells[ids[i]] = c
		}
	}
	return err
}

// finish makes the new files' names durable, then notes that all cells exist.
func (d *Dir) finish(ctx context.Context) error {
	if err := errors.Join(syncDir(filepath.Dir(d.authorityFile())), syncDir(d.path)); err != nil {
		return fmt.Errorf("create data directory: %w", err)
	}
	return d.cells[authority].Update(ctx, func(t resolve.Tx) error {
		return t.(*tx).exec("UPDATE locus_map SET complete = 1")
	})
}

// cellMap reads the newest version of the map, "" if there is none.
func (t *tx) cellMap(ctx context.Context) (body string, complete bool, err error) {
	err = t.query(ctx, "SELECT body, complete FROM locus_map ORDER BY epoch DESC LIMIT 1", func(r row) error {
		body, complete = r.text(0), r.int(1) == 1
		return nil
	})
	return body, complete, err
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Map is the cell map.
func (d *Dir) Map() *cell.Map { return d.cmap }

// Cell is an opened cell; cell.ErrNoCell if the map does not have it.
func (d *Dir) Cell(id cell.ID) (resolve.Cell, error) {
	c, err := d.cell(id)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (d *Dir) cell(id cell.ID) (*Cell, error) {
	c, ok := d.cells[id]
	if !ok {
		return nil, fmt.Errorf("cell %s: %w", id, cell.ErrNoCell)
	}
	return c, nil
}

// Stats tells how full a cell is; cell.ErrNoCell if the map does not have it.
func (d *Dir) Stats(ctx context.Context, id cell.ID) (cell.Stats, error) {
	c, err := d.cell(id)
	if err != nil {
		return cell.Stats{}, err
	}
	stats, err := c.Stats(ctx)
	stats.URL = d.cmap.URL(id)
	return stats, err
}

// Close closes all cells, then gives the lock back. Calling it again does nothing.
func (d *Dir) Close() error {
	var g errgroup.Group
	g.SetLimit(8)
	for _, c := range d.cells {
		g.Go(c.Close)
	}
	err := g.Wait()
	if unlock := d.lock.Close(); !errors.Is(unlock, fs.ErrClosed) {
		err = errors.Join(err, unlock)
	}
	return err
}
