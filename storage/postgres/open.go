// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
)

// MapOptions are options of OpenMap.
type MapOptions struct {
	// Cells is how many cells a new installation gets. Defaults to 16; for an existing one it
	// defaults to what it began with, and another number is refused.
	Cells int
	// Rules name what derived data is made with; see cell.Identity.
	Rules string
	// MustExist refuses to make a new installation.
	MustExist bool
	// Notice is how long before its start a generation of cells is announced; see cell.CellsOptions.
	Notice time.Duration
	// Restored takes cells that went back as they are: for locus cell restored.
	Restored bool
	// Readdress makes a copy an installation of its own; see cell.Readdress.
	Readdress *cell.Readdress
	// Driver opens the databases of the servers. Required.
	Driver *Driver
	// Other answers with the driver of cells that are in no database of a server. nil has no such cells.
	Other func(url string) (cell.Driver[resolve.Tx], error)
	// OnEvent is told what the installation does by itself; see cell.CellsOptions.
	OnEvent func(cell.Event)
}

const (
	defaultCells = 16
	// beat is how often cells attest each other's pulses while they are written to.
	beat = time.Second
)

// OpenMap opens the installation whose cell map is where Template says, or makes one. Any number of
// processes may have it open. Databases of cells are opened when they are first needed: one that is
// away keeps nobody from the others.
func OpenMap(ctx context.Context, maps string, opts *MapOptions) (*cell.Cells[resolve.Tx], error) {
	authority, template, err := Template(maps)
	if err != nil {
		return nil, err
	}
	options := cell.CellsOptions[resolve.Tx]{
		Authority: authority, Others: first(template), Rules: opts.Rules, Notice: opts.Notice, OnEvent: opts.OnEvent,
		Beat: beat, Restored: opts.Restored || opts.Driver.opts.Unsafe, Readdress: opts.Readdress,
		Driver: func(url string) (cell.Driver[resolve.Tx], error) {
			if IsURL(url) || opts.Other == nil {
				return opts.Driver, nil
			}
			return opts.Other(url)
		},
	}
	if !opts.MustExist {
		n := opts.Cells
		if n == 0 {
			n = defaultCells
		}
		options.New = &cell.Spec{Generations: []cell.Generation{{Cells: uint64(max(n, 0)), URLs: template}}}
	}
	cells, err := cell.OpenCells(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", cell.Redact(maps), err)
	}
	opts.Driver.Follow(cells)
	if have := cells.Map().Count(0); opts.Cells != 0 && have != uint64(opts.Cells) {
		err := fmt.Errorf("%w: %s began with %d cells, not %d: leave the number out", ErrIdentity, cell.Redact(maps), have, opts.Cells)
		return nil, errors.Join(err, cells.Close())
	}
	return cells, nil
}

// first are the URLs of the first cell of each server of a template.
func first(template []string) []string {
	urls := make([]string, len(template))
	for i, url := range template {
		urls[i] = strings.NewReplacer("{g}", "0", "{i}", strconv.Itoa(i)).Replace(url)
	}
	return urls
}

// IsURL tells whether a URL is one of a database of a server.
func IsURL(url string) bool {
	return strings.HasPrefix(url, "postgres:") || strings.HasPrefix(url, "postgresql:")
}
