// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
)

const (
	// changesPage is the number of changes read at once.
	changesPage = 500
	// mostSettling limits the settling IDs with which a cell continues to follow its log.
	mostSettling = 10_000
)

// worker mirrors one cell, a step at a time. It has no goroutine, and no decision depends on a clock. After a
// stop between or within steps it continues from the control document.
type worker struct {
	copier
	cell         cell.ID
	installation string
	now          func() time.Time
	refilled     func(cell.ID, error) // reports why a cell is filled again

	control Control // as last read or written
	loaded  bool
}

// step does the next piece of work, and reports whether there was none: the cell is filled, and the mirror is at
// the end of its log. Repeating a step that failed or was done by another mirror changes nothing.
func (w *worker) step(ctx context.Context) (idle bool, err error) {
	if err := w.load(ctx); err != nil || !w.loaded {
		return false, err
	}
	switch {
	case !w.control.Filled:
		return false, w.fillPage(ctx)
	case len(w.control.Settling) > 0:
		if err := w.settle(ctx); err != nil || !w.loaded {
			return false, err
		}
		if len(w.control.Settling) > mostSettling {
			return true, nil
		}
	}
	return w.followPage(ctx)
}

// fillPage writes the next page of IDs.
func (w *worker) fillPage(ctx context.Context) error {
	c := w.control
	page, err := w.source.ListStates(ctx, w.cell, c.After, MostStates)
	if err != nil {
		return fmt.Errorf("list the ids of cell %v: %w", w.cell, err)
	}
	settling, err := w.copier.fill(ctx, page)
	if err != nil {
		return err
	}
	c.Settling = union(c.Settling, settling)
	c.Count += int64(len(page))
	if len(page) == 0 {
		c.Filled = true
	} else {
		c.After = page[len(page)-1].ID
	}
	return w.save(ctx, c)
}

// settle rereads IDs whose records were being resolved.
func (w *worker) settle(ctx context.Context) error {
	c := w.control
	settling, err := w.refresh(ctx, slices.Clone(c.Settling))
	if err != nil || slices.Equal(settling, c.Settling) {
		return err
	}
	c.Settling = settling
	return w.save(ctx, c)
}

// followPage applies the next changes of the log.
func (w *worker) followPage(ctx context.Context) (idle bool, err error) {
	c := w.control
	changes, err := w.source.Changes(ctx, w.cell, c.At, changesPage)
	switch {
	case errors.Is(err, changelog.ErrTrimmed):
		w.refilled(w.cell, err)
		return false, w.again(ctx)
	case err != nil:
		return false, fmt.Errorf("read the log of cell %v after %d: %w", w.cell, c.At, err)
	case len(changes) == 0:
		return true, nil
	}
	ids, err := Touched(ctx, w.source, changes)
	if err != nil {
		return false, err
	}
	settling, err := w.refresh(ctx, ids)
	if err != nil {
		return false, err
	}
	last := changes[len(changes)-1]
	c.At, c.Time, c.Settling = last.Seq, last.Time, union(c.Settling, settling)
	return false, w.save(ctx, c)
}

// again starts a new fill of all cells, unless one was already started.
func (w *worker) again(ctx context.Context) error {
	f, err := w.fillOf(ctx, w.installation)
	if err == nil && f.Name == w.control.Fill {
		_, err = w.begin(ctx, f)
	}
	return err
}

// union merges two lists of IDs, sorted and deduplicated.
func union(a, b []locality.ID) []locality.ID {
	all := slices.Concat(a, b)
	slices.SortFunc(all, locality.ID.Compare)
	return slices.Compact(all)
}
