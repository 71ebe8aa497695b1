// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
)

const (
	// filesOpened is the minimum number of open files per cell: file and log twice, for the writer and one reader,
	// and their shared memory. filesBusy is the number under load, with all readers.
	filesOpened = 5
	filesBusy   = 12
	// filesElse is the number of files a process needs for everything else: network, logs, the lock.
	filesElse = 64
)

// Fit implements cell.Fitter. It checks the open files that the cells need against the limit of the process.
func (d *Driver) Fit(_ context.Context, all, added []string) error {
	limit := cmp.Or(d.Files, fileLimit())
	busy := uint64(len(all)*filesBusy + filesElse)
	advice := fmt.Sprintf("raise the limit to %d (ulimit -n, or LimitNOFILE= of its unit) and start it again", busy)
	switch {
	case limit == 0: // no limit
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
