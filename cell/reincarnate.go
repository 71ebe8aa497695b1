// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/mutant"
)

// skipped is how many puids a cell passes over that goes on as a copy of itself: more than
// the original can have given away since, with the time it takes to make and restore one.
const skipped = 1 << 20

// Reincarnate is for an installation that came back from a backup, before anybody works
// with it: every cell passes over the puids that its lost future may have given away,
// begins a new incarnation, and takes no keys if the map says that it was sealed. Doing
// it again does no harm; after an error it has to be done again.
func Reincarnate[T Store](ctx context.Context, c *Cells[T]) error {
	if err := c.Refresh(ctx); err != nil {
		return fmt.Errorf("reincarnate: %w", err)
	}
	if err := each(ctx, c.Map().Cells(), c.reincarnate); err != nil {
		return fmt.Errorf("reincarnate: %w", err)
	}
	return nil
}

func (c *Cells[T]) reincarnate(ctx context.Context, id ID) error {
	h, err := c.home(id)
	if err != nil {
		return err
	}
	err = h.Exclusive(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err != nil {
			return err
		}
		// Read while the cell is locked: a generation that becomes current now finds it so.
		if err := c.refreshFrom(ctx, c.Map().spec.Authority); err != nil {
			return err
		}
		head = head.Rejoin(id, c.Map())
		head.Incarnation++
		if err := t.SetHead(ctx, head); err != nil || mutant.On("P7e") {
			return err
		}
		return t.Skip(ctx, skipped)
	})
	if err != nil {
		return fmt.Errorf("cell %v: %w", id, err)
	}
	return nil
}
