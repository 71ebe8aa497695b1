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
	"github.com/locus-db/locus/storage"
)

// DirOptions configures OpenDir.
type DirOptions struct {
	// Cells is the number of cells of a new directory. Defaults to 16. An existing directory keeps the number it
	// was created with; any other value is refused.
	Cells int
	// Salt is the Salt of storage.Options.
	Salt [16]byte
	// Rules names the rules that derived data is made with; see cell.Identity.
	Rules string
	// Scratch is the Scratch of storage.Options.
	Scratch bool
	// MustExist makes OpenDir fail instead of creating a directory.
	MustExist bool
	// Notice is how long before its start a generation of cells is announced; see cell.CellsOptions.
	Notice time.Duration
	// Files is the number of files the process may have open. Defaults to the system's limit.
	Files uint64
	// Restored accepts cells that went back in time; for locus cell restored.
	Restored bool
	// Readdress turns a copy into an installation of its own; see cell.Readdress. Its URL function is not called
	// for files inside the directory.
	Readdress *cell.Readdress
	// Driver returns the driver of a cell that is not in a file. If nil, every cell must be in a file.
	Driver func(url string) (storage.Driver, error)
	// OnEvent receives events of the installation; see cell.CellsOptions.
	OnEvent func(cell.Event)
}

const (
	defaultCells = 16
	// authority is the URL of the cell that holds the cell map; cellURL is the pattern for the first generation.
	authority = "sqlite:cells/g0-0.db"
	cellURL   = "sqlite:cells/g{g}-{i}.db"
	// beat is how often cells that are being written to attest each other's pulses.
	beat = time.Second
)

// OpenDir opens the data directory at path, or creates it, and opens all cells that are in files:
//
//	DIR/lock             the process that uses the directory
//	DIR/witness          how far each cell has come, see cell.Ledger
//	DIR/cells/g0-0.db    the authority: the cell that holds the cell map
//	DIR/cells/g0-1.db    ...
//	DIR/cells/g1-0.db    cells that were added later
//
// Directories are created with access for their owner only. OpenDir refuses a directory that another process has
// open, that was made under other rules, or that lacks cells. Closing the installation releases the lock.
func OpenDir(ctx context.Context, path string, opts *DirOptions) (*storage.Cells, error) {
	var o DirOptions
	if opts != nil {
		o = *opts
	}
	driver := &Driver{Dir: path, Files: o.Files, scratch: o.Scratch}
	first, err := driver.path(authority)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(first); errors.Is(err, fs.ErrNotExist) && o.MustExist {
		return nil, fmt.Errorf("%w: %s holds no data: check the path, or let locus serve or ingest make it",
			cell.ErrMissing, path)
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
	attested := beat
	if o.Scratch { // it is not restored from a backup
		attested = 0
	}
	cells, err := cell.OpenCells(ctx, cell.CellsOptions[storage.Tx]{
		Authority: authority, New: o.firstMap(ledger), Rules: o.Rules, Alone: true, Notice: o.Notice, OnEvent: o.OnEvent,
		Ledger: ledger, Beat: attested, Restored: o.Restored, Readdress: readdress(o.Readdress),
		Check: func(m *cell.Map) error {
			if o.Readdress != nil {
				return nil
			}
			return uncopied(m, ledger, path, o.Restored)
		},
		OnClose: func() error { return errors.Join(ledger.close(), unlock(locked), locked.Close()) },
		Driver: func(url string) (storage.Driver, error) {
			if isFile(url) || o.Driver == nil {
				return driver, nil
			}
			return o.Driver(url)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", path, err)
	}
	if err := o.complete(ctx, cells, path); err != nil {
		return nil, errors.Join(err, cells.Close())
	}
	return cells, nil
}

// firstMap returns the cell map of a new installation, nil if none may be created. A directory that had cells is never
// created again.
func (o *DirOptions) firstMap(l *ledger) *cell.Spec {
	if o.MustExist || l.knows() {
		return nil
	}
	first := cell.Generation{Cells: defaultCells, URLs: []string{cellURL}}
	if o.Cells != 0 {
		first.Cells = uint64(max(o.Cells, 0))
	}
	return &cell.Spec{Salt: o.Salt, Generations: []cell.Generation{first}}
}

// complete checks that all cells of the map are there, and dates a map without a date.
func (o *DirOptions) complete(ctx context.Context, cells *storage.Cells, path string) error {
	if have := cells.Map().Count(0); o.Cells != 0 && have != uint64(o.Cells) {
		return fmt.Errorf("%w: %s has %d cells, not %d: leave the number out", storage.ErrCells, path, have, o.Cells)
	}
	if err := openFiles(ctx, cells); err != nil {
		return err
	}
	if err := cells.Verify(ctx); err != nil || !cells.Map().Until().IsZero() {
		return err
	}
	return date(ctx, cells)
}

func isFile(url string) bool { return strings.HasPrefix(url, scheme+":") }

// isWithin reports whether url is a file inside the directory, which is copied along with it.
func isWithin(url string) bool {
	file, ok := strings.CutPrefix(url, scheme+":")
	return ok && !filepath.IsAbs(filepath.FromSlash(file))
}

// readdress keeps the URLs of the files inside the directory.
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

// uncopied refuses a copy of a directory that has cells elsewhere: it would write into the cells of the original. A
// directory restored without its witness file counts as a copy.
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

// openFiles opens all cells that are in files, several at a time, so that a missing or swapped file is reported at
// once, not when its data is first needed.
func openFiles(ctx context.Context, cells *storage.Cells) error {
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
			return c.Read(ctx, func(storage.Tx) error { return nil })
		})
	}
	return g.Wait()
}

// date sets the date of a cell map that has none, as in old directories, so that cells can be added. The date is
// that of the newest record ID; the lock guarantees that no other process has minted a later one.
func date(ctx context.Context, cells *storage.Cells) error {
	var newest int64
	for _, id := range cells.Map().Cells() {
		c, err := cells.Cell(id)
		if err != nil {
			return err
		}
		if err := c.View(ctx, func(rt storage.Tx) error {
			t, ok := rt.(*tx)
			if !ok {
				return nil // no cell has left its file while the map had no date
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

// lock takes the lock file of a directory and writes the process ID into it.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		owner, _ := io.ReadAll(io.LimitReader(f, 32))
		err = fmt.Errorf("%w: %s is in use by process %s: stop it, or choose another directory", storage.ErrInUse, dir,
			strings.TrimSpace(string(owner)))
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
