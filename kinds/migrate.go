// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Adopt reads the rules of the installation and adds kinds in missing that it does not have. A kind in asked that
// differs from the stored one is ErrOtherKind: only Migrate changes it, because that takes time in proportion to the
// records.
func (h *Handle) Adopt(ctx context.Context, asked, missing []*match.Schema, terms *match.TermFrequencies) error {
	if err := h.engine.Resolver.Reload(ctx); err != nil {
		return err
	}
	for _, schema := range asked {
		k := h.engine.Kind(schema.Kind)
		if k != nil && k.Matcher.Schema().Hash() != schema.Hash() {
			return fmt.Errorf("%w: kind %s has version %d in the data and a different version %d in the options: "+
				"leave it out of the options, or change the data with locus kind migrate",
				ErrOtherKind, schema.Kind, k.Matcher.Schema().Version, schema.Version)
		}
	}
	for _, schema := range missing {
		if h.engine.Kind(schema.Kind) != nil || h.engine.ReadOnly {
			continue
		}
		if _, err := h.engine.Resolver.Migrate(ctx, schema, terms); err != nil {
			if errors.Is(err, lease.ErrLost) || errors.Is(err, engine.ErrUnavailable) || errors.Is(err, resolve.ErrMigrating) ||
				errors.Is(err, resolve.ErrUpgrading) || errors.Is(err, resolve.ErrOutdated) {
				h.engine.Logger.Warn("kind not added", "kind", schema.Kind, "err", err)
				continue
			}
			return err
		}
	}
	return nil
}

// Migrate changes the schema or term-frequency table of a kind during reads and writes. New writes use the new rules at
// once, and existing records are resolved again, cell by cell. It may be interrupted anywhere: the maintenance loop of
// this or another process continues it, and so does calling Migrate again.
func (h *Handle) Migrate(ctx context.Context, p Proposal, progress func(Progress)) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	schema, terms, err := h.proposed(ctx, p)
	if err != nil {
		return err
	}
	more, err := h.engine.Resolver.Migrate(ctx, schema, terms)
	if err != nil || !more {
		return engine.Wrap(err)
	}
	return h.resume(ctx, progress)
}

// resume finishes a migration or an upgrade.
func (h *Handle) resume(ctx context.Context, progress func(Progress)) error {
	defer h.engine.Migrating()() // keeps the maintenance loop from doing the same
	counting := h.progress(ctx, "migrating", progress)
	all, first, step := counting.Of, true, resolve.Step("")
	for {
		err := h.engine.Resolver.Resume(ctx, func(c *resolve.Migration) {
			n := c.Records()
			if first || c.Step != step {
				first, step, counting.begun, counting.from = false, c.Step, time.Now(), n
				counting.enter(c.Step, all)
			}
			counting.Cells, counting.Waits = c.Done(), ""
			counting.add(n - counting.Records)
		})
		if err == nil || ctx.Err() != nil {
			return engine.Wrap(errors.Join(err, ctx.Err()))
		}
		if !errors.Is(err, engine.ErrUnavailable) && !errors.Is(err, lease.ErrLost) {
			return engine.Wrap(err)
		}
		counting.Waits = "a cell is unavailable, or another server is at it"
		counting.add(0)
		engine.Sleep(ctx, time.Second, nil)
	}
}
