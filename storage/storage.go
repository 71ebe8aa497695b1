// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
)

// Options configures Open.
type Options struct {
	// Cells is the number of cells of a new installation. Defaults to the backend's choice. An existing
	// installation keeps the number it was created with; any other value is refused.
	Cells int
	// Salt is the salt of the key digests of a new installation that is restored from a dump: digests of deleted
	// records stay valid. Drawn if zero.
	Salt [16]byte
	// Scratch opens a directory of data that is thrown away in the end: nothing waits for the disk, so that a power
	// failure damages it, and deleted content is not overwritten. PostgreSQL ignores it.
	Scratch bool
	// MustExist makes Open fail instead of creating an installation.
	MustExist bool
	// Notice is how long before its start a generation of cells is announced; see cell.CellsOptions.
	Notice time.Duration
	// Connections is the maximum number of connections of the process to one server. Defaults to 64.
	Connections int
	// UnsafeDurability accepts servers that may lose acknowledged writes, and unverified connections to other
	// hosts.
	UnsafeDurability bool
	// Standby accepts hot standbys, even if they lag, and with several hosts in a URL also hosts that take no writes.
	// It is for a process that only reads.
	Standby bool
	// Restored accepts cells that were restored from backups or promoted; for locus cell restored.
	Restored bool
	// Readdress turns a copy into an installation of its own; see cell.Readdress.
	Readdress *cell.Readdress
	// OnEvent receives events of the installation; see cell.CellsOptions.
	OnEvent func(cell.Event)
}

// Errors of opening an installation.
var (
	// ErrInUse means that another process has the data directory open.
	ErrInUse = problem.Class(problem.ErrUnavailable, "sqlite: data directory in use")
	// ErrCells means that an installation has another number of cells than Options.Cells.
	ErrCells = problem.Class(problem.ErrConflict, "storage: wrong number of cells")
	// ErrLost means that an installation is there and the file of one of its cells is not.
	ErrLost = problem.Class(cell.ErrMissing, "sqlite: the file of a cell is missing")
	// ErrStrange means that the server of the cell map was promoted or restored.
	ErrStrange = fmt.Errorf("postgres: the database is not the one that the cell was written in: %w", cell.ErrUnavailable)
	// ErrRefused means that a server rejects the role or its password.
	ErrRefused = fmt.Errorf("postgres: the server refuses the role: %w", cell.ErrUnavailable)
)

// Backend stores cells in one kind of database. One value serves one installation, so that its cells share
// connections.
type Backend interface {
	// Driver opens single cells.
	Driver() Driver
	// Open opens an installation in this kind of database, or creates it. other returns the driver of a cell that
	// has moved to another kind.
	Open(ctx context.Context, url string, other func(url string) (Driver, error)) (*Cells, error)
	// Follow sets the installation of the backend's cells if another backend has opened it.
	Follow(*Cells)
}

// Default is the scheme of a URL without one: a directory.
const Default = "sqlite"

// registration is a kind of database, whichever of its schemes a URL has.
type registration struct{ open func(*Options) Backend }

var registry = struct {
	sync.Mutex
	backends map[string]*registration
}{backends: map[string]*registration{}}

// Register makes a kind of database available under its URL schemes. Backends call it when they are imported. It
// panics if a scheme is taken.
func Register(backend func(*Options) Backend, schemes ...string) {
	registry.Lock()
	defer registry.Unlock()
	r := &registration{backend}
	for _, s := range schemes {
		if registry.backends[s] != nil {
			panic("storage: scheme " + s + " is registered twice")
		}
		registry.backends[s] = r
	}
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):`)

// Open opens an installation, or creates it.
//
//   - sqlite:DIR or just DIR is a data directory of SQLite files, which belongs to this process while it is open.
//     Write a path that looks like a URL with a leading ./.
//   - postgres://HOST/NAME, or several such URLs separated by commas, is an installation in databases of PostgreSQL
//     servers; the first holds the map, in NAME_g0_0. Any number of processes share it.
//
// Single cells may have moved to another kind of database. The error is cell.ErrURL if the URL names no imported
// kind of database.
func Open(ctx context.Context, url string, opts *Options) (*Cells, error) {
	if opts == nil {
		opts = &Options{}
	}
	kind, path := Default, url
	if m := scheme.FindStringSubmatch(url); m != nil {
		kind = m[1]
		if kind == Default {
			path = url[len(m[0]):]
		}
	}
	if path == "" {
		return nil, fmt.Errorf("%w: the directory is missing: give a directory, or sqlite:DIR", cell.ErrURL)
	}
	of := &backends{opts: opts, opened: map[*registration]Backend{}}
	b, err := of.named(kind)
	if err != nil {
		return nil, fmt.Errorf("%w: %.40q is no kind of database: give a directory, sqlite:DIR, or postgres://HOST/NAME",
			cell.ErrURL, kind)
	}
	cells, err := b.Open(ctx, path, of.driver)
	if err == nil {
		of.follow(b, cells)
	}
	return cells, err
}

// DriverOf returns the driver of a URL, for cells without an installation.
func DriverOf(url string) (Driver, error) {
	return (&backends{opts: &Options{}, opened: map[*registration]Backend{}}).driver(url)
}

// backends holds the backends of one installation.
type backends struct {
	opts *Options

	mu     sync.Mutex
	opened map[*registration]Backend
	cells  *Cells
}

// named returns the backend of a scheme.
func (b *backends) named(kind string) (Backend, error) {
	registry.Lock()
	r := registry.backends[kind]
	registry.Unlock()
	if r == nil {
		return nil, fmt.Errorf("%w: %.40q is no kind of database that a cell lives in: write %s", cell.ErrURL, kind,
			examples())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened[r] == nil {
		b.opened[r] = r.open(b.opts)
		if b.cells != nil {
			b.opened[r].Follow(b.cells)
		}
	}
	return b.opened[r], nil
}

// driver returns the driver of a cell's URL.
func (b *backends) driver(url string) (Driver, error) {
	m := scheme.FindStringSubmatch(url)
	if m == nil {
		return nil, fmt.Errorf("%w: %.200q has no scheme: write %s", cell.ErrURL, cell.Redact(url), examples())
	}
	backend, err := b.named(m[1])
	if err != nil {
		return nil, err
	}
	return backend.Driver(), nil
}

// follow passes the open installation to all backends except the one that opened it.
func (b *backends) follow(opener Backend, cells *Cells) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cells = cells
	for _, other := range b.opened {
		if other != opener {
			other.Follow(cells)
		}
	}
}

// examples returns example URLs of cells for the registered schemes.
func examples() string {
	registry.Lock()
	defer registry.Unlock()
	var list []string
	for s := range registry.backends {
		switch s {
		case Default:
			list = append(list, "sqlite:PATH")
		case "postgresql":
		default:
			list = append(list, s+"://HOST/DATABASE")
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	return strings.Join(list, " or ")
}
