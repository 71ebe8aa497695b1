// SPDX-License-Identifier: Apache-2.0

// Package all opens the cells of an installation, whatever databases they are in. It is the only
// package that imports every driver.
package all

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/locus-db/locus/backend/sqlite"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

// ErrScheme means that no driver has the URL's scheme.
var ErrScheme = errors.New("all: unknown kind of database")

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
	// Notice is how long before its start a generation of cells is announced. Defaults to the
	// backend's choice.
	Notice time.Duration
	// OnEvent is told what the installation does by itself; see cell.CellsOptions.
	OnEvent func(cell.Event)
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):`)

// Open opens an installation, or makes one, where the cell is that keeps its cell map: sqlite:DIR or
// just DIR is a data directory of SQLite files. A path that looks like a URL is written with ./ before
// it. The other cells may be of any kind.
func Open(ctx context.Context, url string, opts *Options) (*Cells, error) {
	if opts == nil {
		opts = &Options{}
	}
	kind, path := sqlite.Scheme, url
	if m := scheme.FindStringSubmatch(url); m != nil {
		kind, path = m[1], url[len(m[0]):]
	}
	switch kind {
	case sqlite.Scheme:
		if path == "" {
			return nil, fmt.Errorf("%w: the directory is missing: give a directory, or sqlite:DIR", ErrScheme)
		}
		return sqlite.OpenDir(ctx, path, &sqlite.DirOptions{
			Cells: opts.Cells, Rules: opts.Rules, MustExist: opts.MustExist, Notice: opts.Notice, OnEvent: opts.OnEvent, Driver: Driver,
		})
	}
	return nil, fmt.Errorf("%w %q: give a directory, or sqlite:DIR", ErrScheme, kind)
}

// Driver answers with the driver of a URL. Paths of files must be absolute: there is no data
// directory.
func Driver(url string) (cell.Driver[resolve.Tx], error) {
	m := scheme.FindStringSubmatch(url)
	switch {
	case m == nil:
		return nil, fmt.Errorf("%w: %q has no scheme: write sqlite:PATH", ErrScheme, url)
	case m[1] == sqlite.Scheme:
		return &files, nil
	}
	return nil, fmt.Errorf("%w %q: write sqlite:PATH", ErrScheme, m[1])
}

// files opens cells that are in files of no data directory.
var files sqlite.Driver
