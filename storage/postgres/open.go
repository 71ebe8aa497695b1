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
	"github.com/locus-db/locus/storage"
)

// MapOptions configures OpenMap.
type MapOptions struct {
	// Cells is the number of cells of a new installation. Defaults to 16. An existing installation keeps the number
	// it was created with; any other value is refused.
	Cells int
	// Salt is the Salt of storage.Options.
	Salt [16]byte
	// Rules names the rules that derived data is made with; see cell.Identity.
	Rules string
	// MustExist makes OpenMap fail instead of creating an installation.
	MustExist bool
	// Notice is how long before its start a generation of cells is announced; see cell.CellsOptions.
	Notice time.Duration
	// Restored accepts cells that went back in time; for locus cell restored.
	Restored bool
	// Readdress turns a copy into an installation of its own; see cell.Readdress.
	Readdress *cell.Readdress
	// Driver opens the databases. Required.
	Driver *Driver
	// Other returns the driver of a cell that is not in a PostgreSQL database. If nil, every cell must be in one.
	Other func(url string) (storage.Driver, error)
	// OnEvent receives events of the installation; see cell.CellsOptions.
	OnEvent func(cell.Event)
}

const (
	defaultCells = 16
	// beat is how often cells that are being written to attest each other's pulses.
	beat = time.Second
)

// OpenMap opens the installation at the URLs maps (see Template), or creates it. Any number of processes may have
// it open. Databases of cells are opened on first use, so an unreachable one does not affect the others.
func OpenMap(ctx context.Context, maps string, opts *MapOptions) (*storage.Cells, error) {
	authority, template, err := mapTemplate(maps)
	if err != nil {
		return nil, err
	}
	options := cell.CellsOptions[storage.Tx]{
		Authority: authority, Others: first(template), Rules: opts.Rules, Notice: opts.Notice, OnEvent: opts.OnEvent,
		Beat: beat, Restored: opts.Restored || opts.Driver.opts.Standby || opts.Driver.opts.Unsafe, Readdress: opts.Readdress,
		Driver: func(url string) (storage.Driver, error) {
			if isURL(url) || opts.Other == nil {
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
		options.New = &cell.Spec{Salt: opts.Salt, Generations: []cell.Generation{{Cells: uint64(max(n, 0)), URLs: template}}}
	}
	cells, err := cell.OpenCells(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", cell.Redact(maps), err)
	}
	opts.Driver.Follow(cells)
	if have := cells.Map().Count(0); opts.Cells != 0 && have != uint64(opts.Cells) {
		err := fmt.Errorf("%w: %s began with %d cells, not %d: leave the number out", storage.ErrCells, cell.Redact(maps),
			have, opts.Cells)
		return nil, errors.Join(err, cells.Close())
	}
	return cells, nil
}

// first returns the URL of the first cell on each server of a template.
func first(template []string) []string {
	urls := make([]string, len(template))
	for i, url := range template {
		urls[i] = strings.NewReplacer("{g}", "0", "{i}", strconv.Itoa(i)).Replace(url)
	}
	return urls
}

// isURL reports whether url is a PostgreSQL URL.
func isURL(url string) bool {
	return strings.HasPrefix(url, "postgres:") || strings.HasPrefix(url, "postgresql:")
}
