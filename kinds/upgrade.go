// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/resolve/derived"
)

// Upgrade compares the matcher that the entities were made by with the matcher of this program.
type Upgrade struct {
	// Matcher is the version that the entities are made by, or are being upgraded to; Program is the version of this
	// program.
	Matcher, Program string
	// Needed reports whether the entities were made by an older version. Then nothing is written, matched or checked
	// before Handle.Upgrade.
	Needed bool
	// Running is the unfinished upgrade, nil if there is none.
	Running *resolve.Migration
}

// State returns whether the installation has to be upgraded, and the progress of an upgrade.
func (h *Handle) State() Upgrade {
	rules := h.engine.Resolver.Rules()
	u := Upgrade{Matcher: rules.Matcher, Program: derived.RulesName, Needed: rules.Outdated()}
	if c := rules.Change(); c != nil && c.From != "" {
		u.Running = c
	}
	return u
}

// PlanUpgrade returns how the entities of each kind would merge, split and change if its records were resolved by the
// matcher of this program, like Compare. Nothing is written.
func (h *Handle) PlanUpgrade(ctx context.Context, progress func(Progress)) ([]*Diff, error) {
	var plan []*Diff
	for _, k := range h.List() {
		d, err := h.Compare(ctx, Proposal{Kind: k.Schema.Kind}, progress)
		if err != nil {
			return nil, err
		}
		plan = append(plan, d)
	}
	return plan, nil
}

// Upgrade resolves the records of all kinds again if the entities were made by a matcher older than this program's.
// Reads continue; puts wait for its first part. An id is kept, or redirects to the entity that its entity was merged
// into. Programs with the older matcher are refused from the beginning. It may be interrupted anywhere: the maintenance
// loop of this or another process continues it, and so does calling Upgrade again.
func (h *Handle) Upgrade(ctx context.Context, progress func(Progress)) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	more, err := h.engine.Resolver.Upgrade(ctx)
	if err != nil || !more {
		return engine.Wrap(err)
	}
	return h.resume(ctx, progress)
}
