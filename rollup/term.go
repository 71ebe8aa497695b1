// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"slices"

	"github.com/locus-db/locus/lease"
)

// compare compares the cell's generations with the catalogue.
func compare(have []Generation, catalog Catalog) (missing []Version, left []int64, old bool) {
	versions := catalog.versions()
	highest := catalog.Highest()
	for _, g := range have {
		_, wanted := versions[g.Number]
		switch {
		case g.Number > highest || g.FrozenFor > highest:
			old = true
		case !wanted:
			left = append(left, g.Number)
		}
		if g.State != Building {
			delete(versions, g.Number)
		}
	}
	for _, v := range versions {
		missing = append(missing, v)
	}
	slices.SortFunc(missing, func(a, b Version) int { return int(a.Generation - b.Generation) })
	return missing, left, old
}

// term is a follower during one lease token. Work begun in one term is not continued in the next, because another
// process may have held the lease in between.
type term struct {
	*Follower
	token int64
}

func (f *Follower) term() term { return term{f, f.token.Load()} }

// holds returns lease.ErrLost if, in this transaction, the lease is no longer held with the token.
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

// update writes under the lease, and fails once another process has it.
func (f term) update(ctx context.Context, fn func(Tx) error) error {
	return f.opts.Database.Update(ctx, f.held(ctx, fn))
}

// exclusive is an update without concurrent updates.
func (f term) exclusive(ctx context.Context, fn func(Tx) error) error {
	return f.opts.Database.Exclusive(ctx, f.held(ctx, fn))
}

// held runs fn only if this follower still holds the lease.
func (f term) held(ctx context.Context, fn func(Tx) error) func(Tx) error {
	return func(tx Tx) error {
		if err := f.holds(ctx, tx); err != nil {
			return err
		}
		return fn(tx)
	}
}
