// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
)

// controls are the control documents of all cells.
func (c *copier) controls(ctx context.Context, installation string) ([]Control, error) {
	controls, err := c.target.Controls(ctx)
	if err != nil {
		return nil, fmt.Errorf("read how far the mirror is: %w", err)
	}
	return controls, checkControls(controls, installation)
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

// begin sees to it that every cell has a control document. A change in the log of one cell may be about ids of any
// other. So the places in all logs are noted before the first id of any cell is read; and a cell that comes when others
// were filled is followed from the beginning of its log.
func (w *worker) begin(ctx context.Context, controls []Control) error {
	there := map[cell.ID]bool{}
	for _, c := range controls {
		if c.Format < Format {
			return w.restart(ctx)
		}
		there[c.Cell] = true
	}
	if len(there) == 0 {
		return w.restart(ctx)
	}
	_, cells, err := w.source.Installation(ctx)
	if err != nil {
		return fmt.Errorf("ask the installation for its cells: %w", err)
	}
	for _, id := range cells {
		if there[id] {
			continue
		}
		fresh := w.fresh(id, rand.Text())
		fresh.Version = 1
		if _, err := w.target.PutControl(ctx, Control{}, fresh); err != nil {
			return fmt.Errorf("write where the mirror of cell %v begins: %w", id, err)
		}
	}
	return nil
}

// restart has all cells filled again, this one's last: until then it says that there is something to do.
func (w *worker) restart(ctx context.Context) error {
	_, cells, err := w.source.Installation(ctx)
	if err != nil {
		return fmt.Errorf("ask the installation for its cells: %w", err)
	}
	tail, err := w.source.Tail(ctx)
	if err != nil {
		return fmt.Errorf("read where the logs end: %w", err)
	}
	fill := rand.Text()
	reset := func(id cell.ID) error {
		at, ok := tail[id]
		if !ok {
			return fmt.Errorf("%w: cell %v does not say where its log ends", cell.ErrUnavailable, id)
		}
		fresh := w.fresh(id, fill)
		fresh.From, fresh.At = at, at
		return w.replace(ctx, fresh)
	}
	for _, id := range cells {
		if id == w.cell {
			continue
		}
		if err := reset(id); err != nil {
			return err
		}
	}
	return reset(w.cell)
}

// fresh is the control document of a cell of which nothing was mirrored.
func (w *worker) fresh(id cell.ID, fill string) Control {
	return Control{Cell: id, Installation: w.installation, Format: Format, Fill: fill, Time: w.now().UTC().Truncate(time.Millisecond)}
}

// replace writes a control document over whatever is there.
func (w *worker) replace(ctx context.Context, fresh Control) error {
	for {
		controls, err := w.controls(ctx, w.installation)
		if err != nil {
			return err
		}
		was := Control{}
		for _, c := range controls {
			if c.Cell == fresh.Cell {
				was = c
			}
		}
		fresh.Version = was.Version + 1
		if ok, err := w.target.PutControl(ctx, was, fresh); ok || err != nil {
			return err
		}
	}
}

// save writes how far the cell is. If somebody else was faster, what is there is read before the next step.
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
