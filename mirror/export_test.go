// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// Worker mirrors one cell, a step at a time, for the simulation.
type Worker = worker

// NewWorker returns a worker that reports nothing.
func NewWorker(source Source, target Target, id cell.ID, installation string, now func() time.Time) *Worker {
	return &worker{copier: copier{source: source, target: target}, cell: id, installation: installation, now: now, refilled: func(cell.ID, error) {}}
}

// Step does one piece of work.
func (w *worker) Step(ctx context.Context) (idle bool, err error) { return w.step(ctx) }

// Cell returns the cell that the worker mirrors.
func (w *worker) Cell() cell.ID { return w.cell }

// Settling returns the IDs to be read again.
func (w *worker) Settling() []locality.ID { return w.control.Settling }
