// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
)

// First reports whether Load works on all records, because the installation is empty, or at least half of its records wait.
func (h *Handle) First(ctx context.Context) (bool, error) {
	first, err := h.engine.Resolver.First(ctx)
	return first, engine.Wrap(err)
}

// Load ends the holding of locus.Options.Hold and resolves what was put at once: the same as puts that are resolved one after
// another give, for less work. While First is true it computes the entities of all records, otherwise those of the records
// that were put and of what they meet. It takes about 300 bytes of memory for each of them, and a temporary file. Until it
// returns, puts in this process wait. After an error the records wait for another Load, or are resolved with the next put; it is resolve.ErrLoad if they cannot be resolved at once. tell is called after every part.
func (h *Handle) Load(ctx context.Context, tell func(resolve.LoadProgress)) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	first, err := h.engine.Resolver.First(ctx)
	if err == nil {
		err = h.engine.Resolver.Load(ctx, tell)
	}
	if err == nil && first {
		h.engine.Tidy(ctx)
	}
	return engine.Wrap(err)
}

// Release ends the holding of locus.Options.Hold without a load: what was put is resolved with the next put.
func (h *Handle) Release() { h.engine.Resolver.Release() }
