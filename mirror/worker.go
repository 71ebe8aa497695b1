// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/mutant"
	"github.com/locus-db/locus/locality"
)

const (
	// changesPage is how many changes are followed at once.
	changesPage = 500
	// mostSettling is how many ids may settle before a cell goes on with its log.
	mostSettling = 10_000
)

// worker mirrors one cell, a step at a time. It has no goroutine and no clock that decides anything: whoever is
// stopped between two steps, or within one, goes on from the control document.
type worker struct {
	copier
	cell         cell.ID
	installation string
	now          func() time.Time
	refilled     func(cell.ID, error) // says why a cell is filled again

	control Control // as it was read or written last
	loaded  bool
}

// step does the next piece of work, and answers whether there was none: the cell is filled, and its log ended where
// the mirror is. Repeating a step that failed, or was done by another mirror, changes nothing.
func (w *worker) step(ctx context.Context) (idle bool, err error) {
	if !w.loaded {
		if err := w.load(ctx); err != nil {
			return false, err
		}
	}
	switch {
	case !w.control.Filled:
		return false, w.fillPage(ctx)
	case len(w.control.Settling) > 0:
		if err := w.settle(ctx); err != nil || len(w.control.Settling) > mostSettling {
			return err == nil, err
		}
	}
	return w.followPage(ctx)
}

// load reads the control document of the cell, or begins with a new one.
func (w *worker) load(ctx context.Context) error {
	controls, err := w.target.Controls(ctx)
	if err != nil {
		return fmt.Errorf("read how far the mirror is: %w", err)
	}
	if err := checkControls(controls, w.installation); err != nil {
		return err
	}
	i := slices.IndexFunc(controls, func(c Control) bool { return c.Cell == w.cell })
	if i < 0 {
		return w.begin(ctx, Control{})
	}
	w.control, w.loaded = controls[i], true
	if w.control.Format < Format {
		return w.begin(ctx, w.control)
	}
	return nil
}

// checkControls holds that a target belongs to an installation, and that this release knows its form.
func checkControls(controls []Control, installation string) error {
	for _, c := range controls {
		switch {
		case c.Installation != installation:
			return fmt.Errorf("%w: that of the cell map %s, and this one is %s: name another collection", ErrForeign, c.Installation, installation)
		case c.Format > Format:
			return fmt.Errorf("%w: in form %d, and this one knows %d", ErrFormat, c.Format, Format)
		}
	}
	return nil
}

// begin has the cell filled from its first id on. The place in the log is noted before anything is read.
func (w *worker) begin(ctx context.Context, was Control) error {
	at, err := w.tail(ctx)
	if err != nil {
		return err
	}
	w.control = was
	return w.save(ctx, Control{
		Cell: w.cell, Installation: w.installation, Format: Format, Fill: rand.Text(),
		From: at, At: at, Time: w.now().UTC().Truncate(time.Millisecond), Version: was.Version,
	})
}

func (w *worker) tail(ctx context.Context) (changelog.Seq, error) {
	tail, err := w.source.Tail(ctx)
	if err != nil {
		return 0, fmt.Errorf("read where the logs end: %w", err)
	}
	at, ok := tail[w.cell]
	if !ok {
		return 0, fmt.Errorf("%w: cell %v does not say where its log ends", cell.ErrUnavailable, w.cell)
	}
	return at, nil
}

// save writes the control document. If somebody else was faster, what is there is read before the next step.
func (w *worker) save(ctx context.Context, c Control) error {
	c.Version++
	ok, err := w.target.PutControl(ctx, w.control, c)
	if err != nil {
		w.loaded = false
		return fmt.Errorf("write how far the mirror of cell %v is: %w", w.cell, err)
	}
	if w.loaded = ok; ok {
		w.control = c
	}
	return nil
}

// fillPage writes the next page of ids.
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
		if mutant.On("P15b") {
			if c.At, err = w.tail(ctx); err != nil {
				return err
			}
		}
	} else {
		c.After = page[len(page)-1].ID
	}
	return w.save(ctx, c)
}

// settle looks again at ids whose records were being resolved.
func (w *worker) settle(ctx context.Context) error {
	c := w.control
	settling, err := w.refresh(ctx, slices.Clone(c.Settling))
	if err != nil || slices.Equal(settling, c.Settling) {
		return err
	}
	c.Settling = settling
	return w.save(ctx, c)
}

// followPage follows the next changes of the log.
func (w *worker) followPage(ctx context.Context) (idle bool, err error) {
	c := w.control
	changes, err := w.source.Changes(ctx, w.cell, c.At, changesPage)
	switch {
	case errors.Is(err, changelog.ErrTrimmed):
		w.refilled(w.cell, err)
		return false, w.begin(ctx, c)
	case err != nil:
		return false, fmt.Errorf("read the log of cell %v after %d: %w", w.cell, c.At, err)
	case len(changes) == 0:
		return true, nil
	}
	ids, records := touched(changes)
	born, err := w.birthsOf(ctx, records)
	if err != nil {
		return false, err
	}
	settling, err := w.refresh(ctx, append(ids, born...))
	if err != nil {
		return false, err
	}
	last := changes[len(changes)-1]
	c.At, c.Time, c.Settling = last.Seq, last.Time, union(c.Settling, settling)
	return false, w.save(ctx, c)
}

// union is two lists of ids in order, each once.
func union(a, b []locality.ID) []locality.ID {
	all := slices.Concat(a, b)
	slices.SortFunc(all, locality.ID.Compare)
	return slices.Compact(all)
}
