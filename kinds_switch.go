// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// adopt works by the rules of the installation, and adds the kinds that it lacks. One that is asked for by
// name and differs from what is stored is not changed by the way: that takes as long as there are records.
func (s *Service) adopt(ctx context.Context, asked []*match.Schema) error {
	if err := s.resolver.Reload(ctx); err != nil {
		return err
	}
	for _, schema := range asked {
		k := s.kind(schema.Kind)
		if k != nil && k.Matcher.Schema().Hash() != schema.Hash() {
			return fmt.Errorf("%w: kind %s is version %d in the data and version %d in the options, and differs: leave it out there, or change the data with locus kind switch",
				ErrOtherKind, schema.Kind, k.Matcher.Schema().Version, schema.Version)
		}
	}
	for _, schema := range s.opts.Kinds {
		if s.kind(schema.Kind) != nil || s.opts.ReadOnly {
			continue
		}
		if _, err := s.resolver.Switch(ctx, schema, s.opts.Pack); err != nil {
			if errors.Is(err, lease.ErrLost) || errors.Is(err, ErrUnavailable) || errors.Is(err, resolve.ErrSwitching) {
				s.opts.Logger.Warn("a kind is not added", "kind", schema.Kind, "err", err)
				continue
			}
			return err
		}
	}
	return nil
}

// Switch has a kind resolved by another schema or pack, while everybody goes on: what is written from now on
// is, and the records that are there are resolved anew, cell by cell. It may be stopped anywhere; the
// service, or another one, goes on by itself, and so does asking for the same again.
func (s *Service) Switch(ctx context.Context, p Proposal, progress func(RulesProgress)) error {
	if err := s.changes(); err != nil {
		return err
	}
	schema, pack, err := s.proposed(ctx, p)
	if err != nil {
		return err
	}
	more, err := s.resolver.Switch(ctx, schema, pack)
	if err != nil || !more {
		return ruled(err)
	}
	s.switching.Add(1) // the keeper need not
	defer s.switching.Add(-1)
	counting := s.count(ctx, "switching", progress)
	first := true
	for {
		err := s.resolver.Resume(ctx, func(c *resolve.Change) {
			n := c.Records()
			if first {
				first, counting.begun, counting.from = false, time.Now(), n
			}
			counting.Cells, counting.Waits = c.Done(), ""
			counting.add(n - counting.Records)
		})
		if err == nil || ctx.Err() != nil {
			return ruled(errors.Join(err, ctx.Err()))
		}
		if !errors.Is(err, ErrUnavailable) && !errors.Is(err, lease.ErrLost) {
			return ruled(err)
		}
		counting.Waits = "a cell does not answer, or another server is at it"
		counting.add(0)
		rest(ctx, time.Second, nil)
	}
}

// reload reads the rules, in case another process has changed them, beside whatever else is to be kept.
func (k *keeper) reload(ctx context.Context) {
	if k.cells.Alone() || !k.reading.CompareAndSwap(false, true) {
		return
	}
	k.done.Go(func() {
		defer k.reading.Store(false)
		if err := k.resolver.Reload(ctx); err != nil && ctx.Err() == nil {
			k.opts.Logger.Debug("the rules cannot be read", "err", err)
		}
	})
}

// resume goes on with a switch that somebody has begun and left, beside whatever else is done.
func (k *keeper) resume(ctx context.Context) {
	change := k.resolver.Rules().Change()
	if change == nil || k.switching.Load() > 0 {
		k.seen = -1
		return
	}
	if done := change.Records(); done != k.seen { // somebody is at it, or nobody has been for a tick only
		k.seen = done
		k.reload(ctx)
		return
	}
	k.switching.Add(1)
	k.done.Go(func() {
		defer k.switching.Add(-1)
		begun := k.opts.Now()
		err := k.resolver.Resume(ctx, nil)
		switch {
		case err == nil:
			k.opts.Logger.Info("a kind is switched", "kind", change.Kind, "ms", k.opts.Now().Sub(begun).Milliseconds())
		case ctx.Err() == nil:
			k.opts.Logger.Warn("the switch of a kind waits", "kind", change.Kind, "err", err)
		}
	})
}
