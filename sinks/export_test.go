// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"

	"github.com/locus-db/locus/storage"
)

// TrimForTest removes all changes from the logs.
func (h *Handle) TrimForTest(ctx context.Context) error {
	for _, id := range h.engine.Map().Cells() {
		if err := h.engine.Update(ctx, id, func(tx storage.Tx) error {
			bounds, err := tx.Bounds(ctx)
			if err == nil {
				_, err = tx.Trim(ctx, bounds.Last, 1000)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
