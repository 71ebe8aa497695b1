// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/rollup"
)

// List returns all rollups in the order of their names.
func (h *Handle) List(ctx context.Context) ([]Status, error) {
	catalog, err := h.current(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Status, len(catalog))
	for i, r := range catalog {
		all[i] = *h.statusOf(ctx, r)
	}
	return all, nil
}

// Get returns a rollup. The error is rollup.ErrNotFound if it does not exist.
func (h *Handle) Get(ctx context.Context, name string) (*Status, error) {
	catalog, err := h.current(ctx)
	if err != nil {
		return nil, err
	}
	r, err := catalog.Rollup(name)
	if err != nil {
		return nil, err
	}
	return h.statusOf(ctx, r), nil
}

// statusOf reads the state of a rollup in all cells.
func (h *Handle) statusOf(ctx context.Context, r rollup.Rollup) *Status {
	st := &Status{Name: r.Name, State: Following, Watermark: changelog.Watermark{}}
	shown := r.Serving
	if shown == nil {
		shown = r.Next
		st.State = Building
	} else {
		st.Generation = shown.Generation
	}
	if r.Next != nil {
		st.Building = r.Next.Generation
	}
	st.Definition = shown.Definition
	// without the newest map it is the state of the cells that are known
	_ = h.engine.Whole(ctx, func(ids []cell.ID) error {
		st.Cells = make([]Cell, len(ids))
		engine.Parallel(len(ids), func(i int) { st.Cells[i] = h.cell(ctx, ids[i], shown.Generation) })
		return nil
	})
	h.buildingOf(ctx, r, st)
	for i := range st.Cells {
		c := &st.Cells[i]
		st.Groups += c.Groups
		st.Lag = max(st.Lag, c.Lag)
		if c.State == rollup.Following || c.State == rollup.Failed {
			st.Watermark[c.Cell] = c.Watermark
		}
		if i == 0 || c.Verified.Before(st.Verified) {
			st.Verified = c.Verified
		}
		switch {
		case c.State == rollup.Failed:
			st.State = Failed
		case c.Reason != "" && st.State != Failed:
			st.State = Partial
		}
	}
	return st
}

// buildingOf adds the progress of the next generation.
func (h *Handle) buildingOf(ctx context.Context, r rollup.Rollup, st *Status) {
	if r.Next == nil {
		return
	}
	cells := st.Cells
	if r.Serving != nil {
		cells = make([]Cell, len(st.Cells))
		engine.Parallel(len(cells), func(i int) { cells[i] = h.cell(ctx, st.Cells[i].Cell, r.Next.Generation) })
	}
	for _, c := range cells {
		switch c.State {
		case rollup.Following:
			st.Built++
		case rollup.Failed:
			st.Trouble = cmp.Or(st.Trouble, c.Reason)
		}
	}
}

func (h *Handle) cell(ctx context.Context, id cell.ID, generation int64) Cell {
	ctx, cancel := context.WithTimeout(ctx, engine.CellPatience)
	defer cancel()
	c := Cell{Cell: id}
	err := database(h.engine, id).View(ctx, func(tx rollup.Tx) error {
		at, err := rollup.StandingOf(ctx, tx, generation)
		if errors.Is(err, rollup.ErrGone) {
			return nil // not built there yet
		}
		if err == nil {
			c = Cell{
				Cell: id, State: at.State, Watermark: at.Watermark, Last: at.Last, Lag: at.Lag(h.engine.Now()), Groups: at.Groups,
				Owner: at.Owner, Token: at.Token, Verified: at.Verified, Reason: at.Reason,
			}
		}
		return err
	})
	if err != nil {
		c.Reason = "the cell is unavailable"
		h.engine.Logger.Warn("cell is unavailable", "cell", id, "err", err)
	}
	return c
}

// Definitions returns the definitions of a rollup: of the serving generation, and of one that is being built. The error
// is rollup.ErrNotFound if the rollup does not exist.
func (h *Handle) Definitions(ctx context.Context, name string) (list []rollup.Definition, err error) {
	catalog, err := h.current(ctx)
	if err != nil {
		return nil, err
	}
	r, err := catalog.Rollup(name)
	if err != nil {
		return nil, err
	}
	for _, v := range []*rollup.Version{r.Serving, r.Next} {
		if v != nil {
			list = append(list, v.Definition)
		}
	}
	return list, nil
}

// current reads the catalogue without dropped rollups.
func (h *Handle) current(ctx context.Context) (rollup.Catalog, error) {
	catalog, err := h.follow.catalog.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: the catalogue of rollups: %w", engine.ErrUnavailable, err)
	}
	return slices.DeleteFunc(catalog, func(r rollup.Rollup) bool { return r.Dropped() }), nil
}

// Applied returns the number of changes that the followers of this process have applied since it started.
func (h *Handle) Applied() int64 { return h.follow.applied.Load() }
