// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/rollup"
)

// Explain returns the latest changes that touched a group, as far as the log goes back, at most limit per cell,
// latest last.
func (h *Handle) Explain(ctx context.Context, name string, group []string, limit int) ([]CellEffect, error) {
	limit, err := engine.Limit(limit)
	if err != nil {
		return nil, err
	}
	catalog, err := h.current(ctx)
	if err != nil {
		return nil, err
	}
	r, err := catalog.Rollup(name)
	if err != nil {
		return nil, err
	}
	version := r.Serving
	if version == nil {
		version = r.Next
	}
	d := &version.Definition
	if len(group) != len(d.Group) {
		return nil, problem.Invalid("/group", "invalid", "rollup %s groups by %v: want %d values", name, d.Group,
			len(d.Group))
	}
	ids := h.engine.Map().Cells()
	effects := make([][]rollup.Effect, len(ids))
	if err := h.engine.Parallel(ids, func(i int, id cell.ID) (err error) {
		effects[i], err = h.explainCell(ctx, id, d, group, limit)
		return err
	}); err != nil {
		return nil, err
	}
	var all []CellEffect
	for i, of := range effects {
		for _, e := range of {
			all = append(all, CellEffect{ids[i], e})
		}
	}
	slices.SortStableFunc(all, func(a, b CellEffect) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// explainCell reads the log of a cell backwards, page by page, until there are enough effects.
func (h *Handle) explainCell(ctx context.Context, id cell.ID, d *rollup.Definition, group []string,
	limit int) (latest []rollup.Effect, err error) {
	before := changelog.Seq(0)
	for more := true; more && len(latest) < limit; {
		var page []rollup.Effect
		if err := database(h.engine, id).View(ctx, func(tx rollup.Tx) (err error) {
			page, before, more, err = rollup.Explain(ctx, tx, d, group, before)
			return err
		}); err != nil {
			return nil, fmt.Errorf("explain rollup %s in cell %v: %w", d.Name, id, err)
		}
		latest = append(page, latest...)
	}
	return latest[max(0, len(latest)-limit):], nil
}
