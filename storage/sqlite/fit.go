// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
)

const (
	// filesOpened is how many files a cell has open at least: its file and log twice, for the writer and one reader,
	// and the memory that they share. filesBusy is how many it has under load, with all readers.
	filesOpened = 5
	filesBusy   = 12
	// filesElse is how many a process needs besides cells: the network, logs, the lock.
	filesElse = 64
)

// Fit implements cell.Fitter: each cell takes open files, and a process may have only so many.
func (d *Driver) Fit(_ context.Context, all, added []string) error {
	limit := cmp.Or(d.Files, fileLimit())
	busy := uint64(len(all)*filesBusy + filesElse)
	advice := fmt.Sprintf("raise the limit to %d (ulimit -n, or LimitNOFILE= of its unit) and start it again", busy)
	switch {
	case limit == 0: // there is none
		return nil
	case len(added) > 0 && busy > limit:
		return fmt.Errorf("%w: %d cells in files take %d open files under load, %d each and %d for the rest, and this process may have %d: %s, or make fewer cells, or make them on PostgreSQL",
			cell.ErrTooMany, len(all), busy, filesBusy, filesElse, limit, advice)
	case uint64(len(all)*filesOpened+filesElse) > limit:
		return fmt.Errorf("%w: opening %d cells in files takes %d open files, and this process may have %d: %s",
			cell.ErrTooMany, len(all), len(all)*filesOpened+filesElse, limit, advice)
	}
	return nil
}
