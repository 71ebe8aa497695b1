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
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// DirOptions are options of OpenDir.
type DirOptions struct {
	// Cells is how many cells a new directory gets. Defaults to 16; for an existing directory
	// it defaults to what it began with, and another number is refused.
	Cells int
	// Rules name what derived data is made with; see cell.Identity.
	Rules string
	// MustExist refuses to make a new directory.
	MustExist bool
	// Notice is how long before its start a generation of cells is announced; see cell.CellsOptions.
	Notice time.Duration
	// Files is how many files the process may have open. Defaults to the limit of the system.
	Files uint64
	// Restored takes cells that went back as they are: for locus cell restored.
	Restored bool
	// Readdress makes a copy an installation of its own; see cell.Readdress. It is not asked where the
	// files of the directory are.
	Readdress *cell.Readdress
	// Driver answers with the driver of cells that are in no file. nil has no such cells.
	Driver func(url string) (cell.Driver[resolve.Tx], error)
	// OnEvent is told what the installation does by itself; see cell.CellsOptions.
	OnEvent func(cell.Event)
}

const (
	defaultCells = 16
	// authority is where the cell is that holds the cell map, cellURL where all are at first.
	authority = "sqlite:cells/g0-0.db"
	cellURL   = "sqlite:cells/g{g}-{i}.db"
	// beat is how often cells attest each other's pulses while they are written to.
	beat = time.Second
)

// OpenDir opens the data directory at path, or makes one, and all cells that are in files:
//
//	DIR/lock             the process that has the directory
//	DIR/witness          how far each cell has come, see cell.Ledger
//	DIR/cells/g0-0.db    the authority: the cell that holds the cell map
//	DIR/cells/g0-1.db    ...
//	DIR/cells/g1-0.db    cells that were added later
//
// Directories are made for their owner alone. It refuses a directory that another process has open,
// one made under other rules and one with cells missing. Closing the installation gives the lock
// back.
func OpenDir(ctx context.Context, path string, opts *DirOptions) (*cell.Cells[resolve.Tx], error) {
	var o DirOptions
	if opts != nil {
		o = *opts
	}
	driver := &Driver{Dir: path, Files: o.Files}
	first, err := driver.path(authority)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(first); errors.Is(err, fs.ErrNotExist) && o.MustExist {
		return nil, fmt.Errorf("%w: %s holds no data: check the path, or let locus serve or ingest make it", ErrMissing, path)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%w: %q is a file: write the path of a directory", cell.ErrURL, path)
	}
	if err := makeDir(path); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	locked, err := lock(path)
	if err != nil {
		return nil, unusable(path, err)
	}
	ledger, err := openLedger(path)
	if err != nil {
		return nil, errors.Join(err, unlock(locked), locked.Close())
	}
	var made *cell.Spec
	if !o.MustExist && !ledger.knows() { // a directory that had cells is not made again
		made = &cell.Spec{Generations: []cell.Generation{{Cells: uint64(max(o.Cells, 0)), URLs: []string{cellURL}}}}
		if o.Cells == 0 {
			made.Generations[0].Cells = defaultCells
		}
	}
	cells, err := cell.OpenCells(ctx, cell.CellsOptions[resolve.Tx]{
		Authority: authority, New: made, Rules: o.Rules, Alone: true, Notice: o.Notice, OnEvent: o.OnEvent,
		Ledger: ledger, Beat: beat, Restored: o.Restored, Readdress: readdress(o.Readdress),
		Check: func(m *cell.Map) error {
			if o.Readdress != nil {
				return nil
			}
			return uncopied(m, ledger, path, o.Restored)
		},
		OnClose: func() error { return errors.Join(ledger.close(), unlock(locked), locked.Close()) },
		Driver: func(url string) (cell.Driver[resolve.Tx], error) {
			if isFile(url) || o.Driver == nil {
				return driver, nil
			}
			return o.Driver(url)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", path, err)
	}
	if have := cells.Map().Count(0); o.Cells != 0 && have != uint64(o.Cells) {
		err = fmt.Errorf("%w: %s has %d cells, not %d: leave the number out", ErrIdentity, path, have, o.Cells)
	}
	if err == nil {
		err = openFiles(ctx, cells)
	}
	if err == nil {
		err = cells.Verify(ctx)
	}
	if err == nil && cells.Map().Until().IsZero() {
		err = date(ctx, cells)
	}
	if err != nil {
		return nil, errors.Join(err, cells.Close())
	}
	return cells, nil
}

func isFile(url string) bool { return strings.HasPrefix(url, Scheme+":") }

// isWithin reports whether a URL is one of a file that is copied with the directory.
func isWithin(url string) bool {
	file, ok := strings.CutPrefix(url, Scheme+":")
	return ok && !filepath.IsAbs(filepath.FromSlash(file))
}

// readdress leaves the files of the directory where they are.
func readdress(r *cell.Readdress) *cell.Readdress {
	if r == nil {
		return nil
	}
	return &cell.Readdress{Agree: r.Agree, URL: func(url string) (string, bool) {
		if isWithin(url) {
			return url, true
		}
		return r.URL(url)
	}}
}

// uncopied refuses a copy of a directory some of whose cells are elsewhere: it would write into those of the
// original. One that is restored without its witnesses is a copy.
func uncopied(m *cell.Map, l *ledger, path string, restored bool) error {
	copied, err := l.copied()
	if err != nil || !copied && (!restored || l.knows()) {
		return err
	}
	for _, id := range m.Cells() {
		if url := m.URL(id); !isWithin(url) {
			return fmt.Errorf("%w: %s was copied, and cell %v is at %s, which the original works with: use the original; or, if that is gone for good, run locus cell restored --map OLD=NEW, with OLD=OLD for databases that only this directory works with now",
				cell.ErrCopy, path, id, cell.Redact(url))
		}
	}
	return nil
}

// openFiles opens all cells that are in files, several at a time: a file that is missing or was
// swapped is a mistake to be told of at once, not when somebody asks for what is in it.
func openFiles(ctx context.Context, cells *cell.Cells[resolve.Tx]) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for _, id := range cells.Map().Cells() {
		if !isFile(cells.Map().URL(id)) {
			continue
		}
		g.Go(func() error {
			c, err := cells.Cell(id)
			if err != nil {
				return err
			}
			return c.View(ctx, func(resolve.Tx) error { return nil })
		})
	}
	return g.Wait()
}

// date gives a date to the map of a directory of old, so that cells can be added: beyond the ids of
// all records. Nobody has minted a later one, since the lock keeps others out.
func date(ctx context.Context, cells *cell.Cells[resolve.Tx]) error {
	var newest int64
	for _, id := range cells.Map().Cells() {
		c, err := cells.Cell(id)
		if err != nil {
			return err
		}
		if err := c.View(ctx, func(rt resolve.Tx) error {
			t, ok := rt.(*tx)
			if !ok {
				return nil // no cell left its file while the map had no date
			}
			return t.query(ctx, "SELECT id FROM birth ORDER BY substr(id, 11) DESC LIMIT 1", func(r row) error {
				birth, err := locality.FromBytes(r.blob(0))
				newest = max(newest, birth.Millis())
				return err
			})
		}); err != nil {
			return fmt.Errorf("date the cell map: read the newest id of cell %v: %w", id, err)
		}
	}
	return cells.Date(ctx, time.UnixMilli(newest))
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
