// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
)

// FirstLoad reports whether Load works on all records, because the installation is empty or at least half of its
// records wait.
func (h *Handle) FirstLoad(ctx context.Context) (bool, error) {
	first, err := h.engine.Resolver.First(ctx)
	return first, engine.Wrap(err)
}

// Load ends the effect of locus.Options.Hold and resolves all records that were put, in one go: with the same result as
// resolving them one after another, for less work. While FirstLoad is true it computes the entities of all records,
// otherwise those of the new records and of the records that share keys with them. It needs temporary files and, in
// addition to the caches of the databases, a gigabyte of memory, or 128 bytes for each of these records if there are
// more than eight million. Until it returns, puts in this process wait.
//
// tell is called after every part. After an error the records wait for another Load, or are resolved with the next put.
// The error is resolve.ErrLoad if they cannot be loaded.
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

// Release ends the effect of locus.Options.Hold without a load: the records that were put are resolved with the next
// put.
func (h *Handle) Release() { h.engine.Resolver.Release() }
