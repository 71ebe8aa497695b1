// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

var (
	// ErrOccupied means that a dump cannot be restored into an installation that exists.
	ErrOccupied = problem.Class(problem.ErrConflict,
		"dump: there is an installation already: restore into a directory, or databases, that do not exist or are empty")
	// ErrUnfinished means that the restore that made an installation did not finish.
	ErrUnfinished = problem.Class(problem.ErrConflict,
		"dump: the restore that made this installation did not finish: delete it and restore again")
)

// markName is the definition in the authority that records whether a restore has finished: begun, then done.
const markName = "restore"

var begun, done = []byte("begun"), []byte("done")

// Create makes the installation that a dump is restored into, marked as unfinished. An existing one is ErrOccupied, or
// ErrUnfinished.
func Create(ctx context.Context, url string, opts storage.Options, d *Reader) (*storage.Cells, error) {
	existing := opts
	existing.MustExist, existing.Cells = true, 0
	cells, err := storage.Open(ctx, url, &existing)
	if err == nil {
		err = CheckFinished(ctx, cells)
		if err == nil {
			err = ErrOccupied
		}
		return nil, errors.Join(err, cells.Close())
	}
	if !errors.Is(err, cell.ErrMissing) {
		return nil, err
	}
	opts.Salt = [16]byte(d.Header.Salt)
	if cells, err = storage.Open(ctx, url, &opts); err != nil {
		return nil, err
	}
	if err := mark(ctx, cells, begun); err != nil {
		return nil, errors.Join(err, cells.Close())
	}
	return cells, nil
}

// Finish marks a restored installation as complete.
func Finish(ctx context.Context, cells *storage.Cells) error { return mark(ctx, cells, done) }

// CheckFinished returns ErrUnfinished if the installation was made by a restore that did not finish.
func CheckFinished(ctx context.Context, cells *storage.Cells) error {
	authority, err := cells.Cell(cells.Map().Authority())
	if err != nil {
		return err
	}
	return authority.View(ctx, func(tx storage.Tx) error {
		text, err := tx.Definition(ctx, markName)
		if err == nil && bytes.Equal(text, begun) {
			err = ErrUnfinished
		}
		return err
	})
}

// mark stores the state of the restore. One that has begun is never begun again, also by another process.
func mark(ctx context.Context, cells *storage.Cells, state []byte) error {
	authority, err := cells.Cell(cells.Map().Authority())
	if err != nil {
		return err
	}
	return authority.Exclusive(ctx, func(tx storage.Tx) error {
		text, err := tx.Definition(ctx, markName)
		if err != nil {
			return err
		}
		if bytes.Equal(state, begun) && text != nil {
			return fmt.Errorf("%w: another process is at it, or was", ErrUnfinished)
		}
		return tx.PutDefinition(ctx, markName, state)
	})
}
