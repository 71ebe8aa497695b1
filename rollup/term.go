// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"slices"

	"github.com/locus-db/locus/lease"
)

// compare holds what a cell has against what there is to be.
func compare(have []Generation, catalog Catalog) (missing []Version, left []int64, old bool) {
	versions := catalog.versions()
	highest := catalog.Highest()
	for _, g := range have {
		_, wanted := versions[g.Number]
		switch {
		case g.Number > highest || g.Yields > highest:
			old = true
		case !wanted:
			left = append(left, g.Number)
		}
		if g.State != Filling {
			delete(versions, g.Number)
		}
	}
	for _, v := range versions {
		missing = append(missing, v)
	}
	slices.SortFunc(missing, func(a, b Version) int { return int(a.Generation - b.Generation) })
	return missing, left, old
}

// term is a follower for as long as it holds the lease with one token. What was begun in one is not gone
// on with in the next: another process may have been there between the two.
type term struct {
	*Follower
	token int64
}

func (f *Follower) term() term { return term{f, f.token.Load()} }

// holds tells, in a transaction, whether the lease is this follower's still.
func (f term) holds(ctx context.Context, tx Tx) error {
	if f.token == 0 {
		return lease.ErrLost
	}
	now, err := tx.Lease(ctx, LeaseName)
	if err == nil && (now.Owner != f.opts.Owner || now.Token != f.token) {
		return lease.ErrLost
	}
	return err
}

// update writes under the lease: nothing, once another process has it.
func (f term) update(ctx context.Context, fn func(Tx) error) error {
	return f.opts.Database.Update(ctx, f.held(ctx, fn))
}

// exclusive is an update that runs alone.
func (f term) exclusive(ctx context.Context, fn func(Tx) error) error {
	return f.opts.Database.Exclusive(ctx, f.held(ctx, fn))
}

// held is fn, if the lease is this follower's still.
func (f term) held(ctx context.Context, fn func(Tx) error) func(Tx) error {
	return func(tx Tx) error {
		if err := f.holds(ctx, tx); err != nil {
			return err
		}
		return fn(tx)
	}
}
