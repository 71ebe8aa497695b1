// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
)

// FirstLoad reports whether Load works on all records, because the installation is empty or at least half of its records wait.
func (h *Handle) FirstLoad(ctx context.Context) (bool, error) {
	first, err := h.engine.Resolver.First(ctx)
	return first, engine.Wrap(err)
}

// Load ends the holding of locus.Options.Hold and resolves at once what was put: with the same result as puts that are resolved
// one after another, for less work. While FirstLoad is true it computes the entities of all records, otherwise those of the
// records that were put and of the records that these meet. It takes a gigabyte of memory, from eight million of these
// records on 128 bytes for each, beside the caches of the databases, and temporary files. Until it returns, puts in this process wait.
//
// tell is called after every part. After an error the records wait for another Load, or are resolved with the next put. The
// error is resolve.ErrLoad if they cannot be resolved at once.
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
