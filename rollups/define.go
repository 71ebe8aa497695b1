// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/rollup"
)

// Define creates a rollup or changes its definition. A changed definition is built beside the serving generation and
// then replaces it. changed is false if the definition is the same. The error is a *rollup.InvalidError that lists
// every problem, or a *locus.InvalidError if there are already locus.Options.MaxRollups rollups.
func (h *Handle) Define(ctx context.Context, d rollup.Definition) (status *Status, changed bool, err error) {
	if d, err = h.Check(d); err != nil {
		return nil, false, err
	}
	r, err := h.alterCatalog(ctx, func(tx rollup.Tx) (r rollup.Rollup, err error) {
		if err := h.room(ctx, tx, d.Name); err != nil {
			return r, err
		}
		r, changed, err = rollup.Define(ctx, tx, d, h.engine.Now())
		return r, err
	})
	if err != nil {
		return nil, false, fmt.Errorf("define rollup %s: %w", d.Name, err)
	}
	return h.statusOf(ctx, r), changed, nil
}

// Check returns a definition as Define would store it. The error is a *rollup.InvalidError that lists every problem.
func (h *Handle) Check(d rollup.Definition) (rollup.Definition, error) {
	schema := h.engine.Schema(d.Kind)
	if schema == nil {
		schema = h.engine.Schema("") // Check compares its kind name with the definition's
	}
	kind := rollup.Kind{Name: schema.Kind, Many: map[string]bool{}}
	for _, a := range schema.Attributes {
		kind.Many[a.Name] = a.Many
	}
	d, err := d.Check(kind)
	if err != nil {
		return d, err
	}
	if d.Store == rollup.InMongoDB && h.engine.Documents == nil {
		return d, &rollup.InvalidError{Definition: "rollup", Problems: []rollup.Problem{
			problem.New("/store", "invalid",
				"this installation has no MongoDB: start Locus with --mongodb, or leave store: mongodb out"),
		}}
	}
	return d, nil
}

// room returns a *locus.InvalidError if a rollup would be one too many.
func (h *Handle) room(ctx context.Context, tx rollup.Tx, name string) error {
	all, err := tx.Rollups(ctx)
	if err != nil || h.engine.MaxRollups < 0 {
		return err
	}
	live := 0
	for _, r := range all {
		switch {
		case r.Dropped():
		case r.Name == name:
			return nil
		default:
			live++
		}
	}
	if live >= h.engine.MaxRollups {
		return problem.Invalid("/name", "invalid", "there are %d rollups, the maximum, and each makes writes slower: "+
			"drop one, or raise the limit with locus serve --max-rollups", live)
	}
	return nil
}

// Rebuild builds a new generation of a rollup beside the serving one, which it then replaces. Rebuild returns once the
// build is requested; Get reports its progress. The error is rollup.ErrNotFound if the rollup does not exist.
func (h *Handle) Rebuild(ctx context.Context, name string) (*Status, error) {
	r, err := h.alterCatalog(ctx, func(tx rollup.Tx) (rollup.Rollup, error) {
		return rollup.Rebuild(ctx, tx, name, h.engine.Now())
	})
	if err != nil {
		return nil, err
	}
	return h.statusOf(ctx, r), nil
}

// Drop removes a rollup. The error is rollup.ErrNotFound if it does not exist.
func (h *Handle) Drop(ctx context.Context, name string) error {
	_, err := h.alterCatalog(ctx, func(tx rollup.Tx) (rollup.Rollup, error) {
		return rollup.Rollup{}, rollup.Drop(ctx, tx, name)
	})
	return err
}

// alterCatalog changes the catalogue and wakes the followers of this process.
func (h *Handle) alterCatalog(ctx context.Context,
	change func(rollup.Tx) (rollup.Rollup, error)) (r rollup.Rollup, err error) {
	if err := h.engine.CheckWrites(); err != nil {
		return r, err
	}
	err = database(h.engine, h.engine.Map().Authority()).Update(ctx, func(tx rollup.Tx) error {
		r, err = change(tx)
		return err
	})
	if err != nil {
		return r, err
	}
	if err := h.follow.catalog.refresh(ctx); err == nil {
		h.follow.wakeAll()
	}
	engine.Wake(h.follow.wake)
	return r, nil
}
