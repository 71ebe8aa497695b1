// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/rollup"
)

// Verify recomputes a rollup in one cell after the other, while reads and writes continue, and calls each with
// the result of each cell. counted, if not nil, is called with the progress in a cell.
func (h *Handle) Verify(ctx context.Context, name string, each func(CellVerification) error,
	counted func(cell.ID, int)) error {
	return h.verify(ctx, name, !h.engine.Passive, each, counted)
}

// Compare is Verify without writes: it does not record successful verifications in the cells.
func (h *Handle) Compare(ctx context.Context, name string, each func(CellVerification) error,
	counted func(cell.ID, int)) error {
	return h.verify(ctx, name, false, each, counted)
}

func (h *Handle) verify(ctx context.Context, name string, note bool, each func(CellVerification) error,
	counted func(cell.ID, int)) error {
	// A caller that has just seen another generation serve means that one.
	if err := h.follow.catalog.refresh(ctx); err != nil {
		return err
	}
	if err := h.engine.Refresh(ctx); err != nil {
		return err
	}
	for _, id := range h.engine.Map().Cells() {
		v, err := h.verifyServing(ctx, id, name, note, counted)
		if err != nil {
			return fmt.Errorf("verify rollup %s in cell %v: %w", name, id, err)
		}
		if err := each(CellVerification{id, v}); err != nil {
			return err
		}
	}
	return nil
}

// verifyServing verifies the serving generation; if another one replaces it during the run, it verifies that one.
func (h *Handle) verifyServing(ctx context.Context, id cell.ID, name string, note bool,
	counted func(cell.ID, int)) (*rollup.Verification, error) {
	deadline, cancel := context.WithTimeoutCause(ctx, readPatience, rollup.ErrBehind)
	defer cancel()
	for {
		serving, err := h.serving(ctx, deadline, name)
		if err != nil {
			return nil, err
		}
		v, err := h.verifyCell(ctx, id, serving.Generation, note, counted)
		if !errors.Is(err, rollup.ErrGone) || waitABit(deadline) != nil {
			return v, err
		}
		if err := h.follow.catalog.refresh(ctx); err != nil {
			return nil, err
		}
	}
}

// verifyCell recomputes a generation in one cell, and records a successful verification.
func (h *Handle) verifyCell(ctx context.Context, id cell.ID, generation int64, note bool,
	counted func(cell.ID, int)) (v *rollup.Verification, err error) {
	v, err = database(h.engine, id).Verify(ctx, generation, func(n int) {
		if counted != nil {
			counted(id, n)
		}
	})
	if err != nil {
		return nil, err
	}
	if v.Differs > 0 {
		h.engine.Logger.Error("rollup differs from its recomputation", "cell", id, "generation", generation,
			"rows", v.Differs)
		return v, nil
	}
	if !note {
		return v, nil
	}
	return v, database(h.engine, id).Update(ctx, func(tx rollup.Tx) error {
		return rollup.Verified(ctx, tx, generation, h.engine.Now())
	})
}
