// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
)

// First reports whether resolving everything at once, with Load, is the shorter way for the records that are about to be
// put: the installation is empty, or at least half of its records wait. It is false while there are decisions.
func (h *Handle) First(ctx context.Context) (bool, error) {
	first, err := h.engine.Resolver.First(ctx)
	return first, engine.Wrap(err)
}

// Load ends the holding of locus.Options.Hold and computes the entities of all records at once: the same as puts that are
// resolved one after another give, for less work. It takes about 300 bytes of memory a record, and a temporary file with
// all records. Until it returns, puts in this process wait. After an error the records wait for another Load, or are resolved
// with the next put; it is resolve.ErrLoad if they cannot be resolved at once. tell is called after every part.
func (h *Handle) Load(ctx context.Context, tell func(resolve.LoadProgress)) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	if err := h.engine.Resolver.Load(ctx, tell); err != nil {
		return engine.Wrap(err)
	}
	h.engine.Tidy(ctx)
	return nil
}

// Release ends the holding of locus.Options.Hold without a load: what was put is resolved with the next put.
func (h *Handle) Release() { h.engine.Resolver.Release() }
