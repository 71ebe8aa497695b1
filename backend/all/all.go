// SPDX-License-Identifier: Apache-2.0

// Package all opens the cells of an installation, whatever database they are in. It is the only
// package that imports every driver.
package all

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/locus-db/locus/backend/sqlite"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

// ErrScheme means that no driver has the URL's scheme.
var ErrScheme = errors.New("all: unknown kind of database")

// Cells are the opened databases of an installation.
type Cells interface {
	// Map is the cell map.
	Map() *cell.Map
	// Cell is an opened cell; cell.ErrNoCell if the map does not have it.
	Cell(cell.ID) (resolve.Cell, error)
	// Stats tells how full a cell is; cell.ErrNoCell if the map does not have it.
	Stats(context.Context, cell.ID) (cell.Stats, error)
	// Close waits for the transactions in flight and closes all cells.
	Close() error
}

// Options of Open.
type Options struct {
	// Cells is how many cells a new installation gets. Defaults to the backend's choice; for an
	// existing one another number than it has is refused.
	Cells int
	// Rules name what derived data is made with. Data made under others is refused.
	Rules string
	// MustExist refuses to make a new installation.
	MustExist bool
}

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):`)

// Open opens an installation, or makes one: sqlite:DIR or just DIR is a data directory of SQLite
// files. A path that looks like a URL is written with ./ before it.
func Open(ctx context.Context, url string, opts *Options) (Cells, error) {
	if opts == nil {
		opts = &Options{}
	}
	path := url
	if m := scheme.FindStringSubmatch(url); m != nil {
		if m[1] != "sqlite" {
			return nil, fmt.Errorf("%w %q: give a directory, or sqlite:DIR", ErrScheme, m[1])
		}
		path = url[len(m[0]):]
	}
	if path == "" {
		return nil, fmt.Errorf("%w: the directory is missing: give a directory, or sqlite:DIR", ErrScheme)
	}
	dir, err := sqlite.OpenDir(ctx, path, &sqlite.DirOptions{Cells: opts.Cells, Rules: opts.Rules, MustExist: opts.MustExist})
	if err != nil {
		return nil, err
	}
	return dir, nil
}
