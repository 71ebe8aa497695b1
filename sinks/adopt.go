// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
)

const (
	// maxAbove limits the tokens that an adoption skips: a rev has room for twice as many.
	maxAbove = 1 << 22
	// adopting is how long the target may take to report its owner.
	adopting = 30 * time.Second
)

// Adopt takes over the target of a sink from another installation: every id is delivered again, with revs above those
// in the target, and ids that this installation does not have are marked as deleted. The other installation is refused
// from then on. For a target that stores no position, rev is the highest rev that it has; for other targets it is 0.
// The error is ErrNotFound if there is no such sink, ErrOwn if the target belongs to no other installation.
func (h *Handle) Adopt(ctx context.Context, name string, rev int64) (*Status, error) {
	of, err := h.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if of.Feed == Changes {
		return nil, fmt.Errorf("%w: %s delivers changes, which belong to no installation: resume it", ErrOwn, name)
	}
	installation, above, err := h.ownerOf(ctx, &of.Definition, rev)
	if err != nil {
		return nil, err
	}
	if above >= maxAbove {
		return nil, problem.Invalid("/rev", "invalid",
			"the target has revs of the token %d, and revs above them would not fit: give the sink another target", above)
	}
	return h.change(ctx, name, func(tx storage.Tx, d *Definition) error {
		if d.To != of.To || d.Created != of.Created {
			return fmt.Errorf("%w: %s was deleted and created again", ErrOther, name)
		}
		d.Adopt, d.Above, d.Paused, d.Reason = installation, above, false, ""
		return errors.Join(running.Put(ctx, tx, progressName(name), stored{}),
			running.Put(ctx, tx, deadName(name), []sink.Letter{}), running.Put(ctx, tx, askedName(name), []sink.Request{}))
	})
}

// ownerOf asks the target of a sink for the other installation that it belongs to, "" if it stores no position, and for
// its highest token.
func (h *Handle) ownerOf(ctx context.Context, d *Definition, rev int64) (installation string, above int64, err error) {
	own, _, err := h.changes.Source().Installation(ctx)
	if err != nil {
		return "", 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, adopting)
	defer cancel()
	target, err := h.openTarget(ctx, d)
	if err != nil {
		return "", 0, fmt.Errorf("%w: cannot read the owner of the target of %s: %w", problem.ErrUnavailable, d.Name, err)
	}
	defer func() { _ = target.Close() }() // nothing was written
	at, err := target.Position(ctx)
	switch {
	case errors.Is(err, sink.ErrNoPosition) && rev <= 0 && d.Above == 0:
		return "", 0, problem.Invalid("/rev", "missing",
			"the target of %s stores no position: give the highest rev in it", d.Name)
	case errors.Is(err, sink.ErrNoPosition):
		return "", max(sink.TokenOf(rev), d.Above), nil // a restored sink begins above the revs that it had delivered
	case err != nil:
		return "", 0, fmt.Errorf("%w: cannot read the owner of the target of %s: %w", problem.ErrUnavailable, d.Name, err)
	case at.Installation == "" || at.Installation == own:
		return "", 0, fmt.Errorf("%w: the target of %s belongs to no other installation", ErrOwn, d.Name)
	}
	return at.Installation, max(at.Token, sink.TokenOf(at.Base), sink.TokenOf(rev), d.Above), nil
}
