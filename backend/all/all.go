// SPDX-License-Identifier: Apache-2.0

// Package all opens the cells of an installation, whatever databases they are in. It is the only
// package that imports every driver.
package all

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/locus-db/locus/backend/postgres"
	"github.com/locus-db/locus/backend/sqlite"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

// Cells is an opened installation.
type Cells = cell.Cells[resolve.Tx]

// Options of Open.
type Options struct {
	// Cells is how many cells a new installation gets. Defaults to the backend's choice; for an
	// existing one another number than it began with is refused.
	Cells int
	// Rules name what derived data is made with. Data made under others is refused.
	Rules string
	// MustExist refuses to make a new installation.
	MustExist bool
	// Notice is how long before its start a generation of cells is announced; see cell.CellsOptions.
	Notice time.Duration
	// Connections is how many connections the process has to one server at most. Defaults to 64.
	Connections int
	// UnsafeDurability takes servers that may lose what they have acknowledged, and connections to other
	// hosts that are not verified.
	UnsafeDurability bool
	// Restored takes cells as they are that were restored from backups or promoted: for locus cell
	// restored.
	Restored bool
	// Readdress makes a copy an installation of its own; see cell.Readdress.
	Readdress *cell.Readdress
	// OnEvent is told what the installation does by itself; see cell.CellsOptions.
	OnEvent func(cell.Event)
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):`)

// Open opens an installation, or makes one. sqlite:DIR or just DIR is a data directory of SQLite files,
// which belongs to this process while it is open; a path that looks like a URL is written with ./ before
// it. postgres://HOST/NAME, or several such URLs with commas between them, is an installation in
// databases of PostgreSQL servers, named as postgres.Template says, which any number of processes share.
// Single cells may be of another kind, where they have moved to.
func Open(ctx context.Context, url string, opts *Options) (*Cells, error) {
	if opts == nil {
		opts = &Options{}
	}
	kind, path := sqlite.Scheme, url
	if m := scheme.FindStringSubmatch(url); m != nil {
		kind, path = m[1], url[len(m[0]):]
	}
	drivers := newDrivers(opts)
	switch {
	case kind == sqlite.Scheme && path == "":
		return nil, fmt.Errorf("%w: the directory is missing: give a directory, or sqlite:DIR", ErrURL)
	case kind == sqlite.Scheme:
		cells, err := sqlite.OpenDir(ctx, path, &sqlite.DirOptions{
			Cells: opts.Cells, Rules: opts.Rules, MustExist: opts.MustExist, Notice: opts.Notice, OnEvent: opts.OnEvent,
			Restored: opts.Restored, Readdress: opts.Readdress, Driver: drivers.of,
		})
		if err == nil {
			drivers.databases.Follow(cells)
		}
		return cells, err
	case postgres.IsURL(url):
		return postgres.OpenMap(ctx, url, &postgres.MapOptions{
			Cells: opts.Cells, Rules: opts.Rules, MustExist: opts.MustExist, Notice: opts.Notice, OnEvent: opts.OnEvent,
			Driver: drivers.databases, Other: drivers.of, Restored: opts.Restored, Readdress: opts.Readdress,
		})
	}
	return nil, fmt.Errorf("%w: %.40q is no kind of database: give a directory, sqlite:DIR, or postgres://HOST/NAME", ErrURL, kind)
}

// drivers are those of one installation, which share its connections.
type drivers struct {
	files     sqlite.Driver
	databases *postgres.Driver
}

func newDrivers(opts *Options) *drivers {
	return &drivers{databases: postgres.NewDriver(&postgres.Options{
		Connections: opts.Connections, Unsafe: opts.UnsafeDurability, Restored: opts.Restored,
	})}
}

// of answers with the driver of a URL. Paths of files are absolute, but for those of a data directory,
// which its own driver opens.
func (d *drivers) of(url string) (cell.Driver[resolve.Tx], error) {
	m := scheme.FindStringSubmatch(url)
	switch {
	case m == nil:
		return nil, fmt.Errorf("%w: %.200q has no scheme: write sqlite:PATH or postgres://HOST/DATABASE", ErrURL, cell.Redact(url))
	case m[1] == sqlite.Scheme:
		return &d.files, nil
	case postgres.IsURL(url):
		return d.databases, nil
	}
	return nil, fmt.Errorf("%w: %.40q is no kind of database that a cell lives in: write sqlite:PATH or postgres://HOST/DATABASE", ErrURL, m[1])
}

// Driver answers with the driver of a URL, for cells of no installation.
func Driver(url string) (cell.Driver[resolve.Tx], error) { return newDrivers(&Options{}).of(url) }
