// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/internal/problem"
)

// ErrTooMany means that there are more cells than a machine or server can take; the text gives demand, capacity and a
// remedy.
var ErrTooMany = problem.Class(errors.Join(problem.ErrConflict, ErrPreflight),
	ErrPreflight.Error()+" of more cells than fit")

// Fitter is a Driver that knows how many cells its machine or servers can take.
type Fitter interface {
	// Fit returns ErrTooMany if the cells at the URLs in all do not fit. Those in added, a subset of all, are about to
	// be created; if added is empty, Fit only checks whether the cells can be opened. It creates nothing.
	Fit(ctx context.Context, all, added []string) error
}

// fits asks each driver whether it can take the cells of a map; isNew selects those that are about to be created.
func (c *Cells[T]) fits(ctx context.Context, m *Map, isNew func(ID) bool) error {
	type share struct{ all, added []string }
	shares := map[Fitter]*share{}
	var fitters []Fitter
	for _, id := range m.Cells() {
		url := c.url(m, id)
		driver, err := c.driver(url)
		if err != nil {
			if isNew(id) {
				return err
			}
			continue // only that cell will fail to open
		}
		f, ok := driver.(Fitter)
		if !ok {
			continue
		}
		of := shares[f]
		if of == nil {
			of = &share{}
			shares[f] = of
			fitters = append(fitters, f)
		}
		of.all = append(of.all, url)
		if isNew(id) {
			of.added = append(of.added, url)
		}
	}
	for _, f := range fitters {
		if err := f.Fit(ctx, shares[f].all, shares[f].added); err != nil {
			return err
		}
	}
	return nil
}

// opens checks whether the cells of a map can be opened.
func (c *Cells[T]) opens(ctx context.Context, m *Map) error {
	return c.fits(ctx, m, func(ID) bool { return false })
}

// PlanGrowth plans a growth of the newest map of this process; ErrTooMany if the new cells do not fit.
func (c *Cells[T]) PlanGrowth(ctx context.Context, g Growth) (*Plan, error) {
	m := c.Map()
	plan, err := PlanGrowth(m, g, c.opts.Now())
	if err != nil || plan.Announced {
		return plan, err
	}
	next, _, err := m.growing(g, c.opts.Now())
	if err == nil {
		err = c.grows(ctx, next, plan.Generation)
	}
	if err != nil {
		return nil, fmt.Errorf("grow to %d cells: %w", g.Cells, err)
	}
	return plan, nil
}

// grows checks whether there is room for the cells of a generation.
func (c *Cells[T]) grows(ctx context.Context, next *Map, gen int) error {
	return c.fits(ctx, next, func(id ID) bool { return int(id.Gen) == gen })
}
