// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/storage"
)

const (
	// leaseName is the lease under which postings, edges and entities are written.
	leaseName = "resolve"
	// leaseTTL is the lifetime of the lease without renewal.
	leaseTTL = 5 * time.Second
	// leasePatience is how long a batch waits for the lease before its records stay pending: long enough to take it
	// over from a process that has crashed.
	leasePatience = leaseTTL + time.Second
	// leasePoll is the initial interval between looks at the lease, leasePollMost the longest.
	leasePoll     = 4 * time.Millisecond
	leasePollMost = 100 * time.Millisecond
	// leaseTurn is how long a busy process keeps the lease although another one wants it: a takeover costs
	// as much as a batch.
	leaseTurn = 150 * time.Millisecond
	// leaseStuck is how long a process keeps renewing the lease while none of its statements completes.
	leaseStuck = time.Minute
)

// newLease returns a holder of the lease, which is stored in the authority of the cell map.
func (r *Resolver) newLease(owner string) *lease.Holder {
	unfenced := func(_ context.Context, id cell.ID) (storage.Cell, error) { return r.opts.Cells.Cell(id) }
	var address func() string
	if r.opts.Peers != nil {
		address = r.opts.Peers.Address
	}
	return lease.NewHolder(lease.Options{
		Name: leaseName, Owner: owner, Address: address, TTL: leaseTTL, Now: r.opts.Now,
		View: func(ctx context.Context, fn func(lease.Store) error) error {
			return r.authority(ctx, unfenced, func(c storage.Cell) error {
				return c.View(ctx, func(tx storage.Tx) error { return fn(tx) })
			})
		},
		Update: func(ctx context.Context, fn func(lease.Store) error) error {
			return r.authority(ctx, unfenced, func(c storage.Cell) error {
				return c.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
			})
		},
	})
}

// holdsLease reports whether this process holds the lease. Without Owner it always does.
func (r *Resolver) holdsLease() bool {
	if r.lease == nil {
		return true
	}
	_, held := r.lease.Held()
	return held
}

// acquireLease acquires or renews the lease, waiting up to patience, and prepares for work under it.
// The error is ErrOutdated or ErrUpgrading while no record can be resolved.
func (r *Resolver) acquireLease(ctx context.Context, patience time.Duration) error {
	if err := r.takeLease(ctx, patience); err != nil {
		return err
	}
	return r.Rules().ready()
}

// takeLease is acquireLease for work that resolves no records.
func (r *Resolver) takeLease(ctx context.Context, patience time.Duration) error {
	if r.lease == nil {
		return r.ensureRules(ctx)
	}
	give := time.NewTimer(patience)
	defer give.Stop()
	for {
		held, err := r.lease.Take(ctx, r.opts.Cells.Map().Epoch())
		if r.holdsLease() && err != nil { // the authority does not answer, so no other process can acquire the lease either
			held, err = true, nil
		}
		if held {
			return r.begin(ctx)
		}
		if err != nil && !errors.Is(err, lease.ErrLost) {
			return err
		}
		if err := pause(ctx, leasePoll, give.C); err != nil {
			return err
		}
	}
}

// pause waits for d, or returns an error if over fires or the context ends first.
func pause(ctx context.Context, d time.Duration, over <-chan time.Time) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-over:
		return fmt.Errorf("%w: another process holds it", lease.ErrLost)
	case <-ctx.Done():
		return fmt.Errorf("wait for the lease %s: %w", leaseName, context.Cause(ctx))
	}
}

// begin prepares for work under the lease. If another process has held it since, the redo sets must be processed and
// cached records are dropped. If this process released it and no other has had it since, the caches stay valid: other
// processes request the resolution of records that they put in between.
func (r *Resolver) begin(ctx context.Context) error {
	l, held := r.lease.Held()
	if !held {
		return lease.ErrLost
	}
	r.renewInBackground(ctx)
	if l.Epoch > r.opts.Cells.Map().Epoch() {
		if err := r.refresh(ctx, cell.ErrStaleMap); err != nil {
			return err
		}
	}
	if l.Token != r.token {
		if own := l.Token == r.token+1 && l.Fence < l.Token; !own {
			r.invalidateCaches()
			r.rulesCurrent = false // rules are changed under the lease
			r.finished.Store(0)
			r.reign++
		}
		r.token, r.acquiredAt = l.Token, r.opts.Now()
	}
	return r.ensureRules(ctx)
}

// renew renews the lease between two parts of the rounds, and returns lease.ErrLost if it is lost.
func (r *Resolver) renew(ctx context.Context) error {
	if r.lease == nil {
		return nil
	}
	_ = r.lease.Beat(ctx, r.opts.Cells.Map().Epoch()) // an unavailable authority grants the lease to no other process
	if !r.holdsLease() {
		return lease.ErrLost
	}
	return nil
}

// renewInBackground renews the lease in the background until the resolver is unlocked, however long the work takes,
// unless a single statement takes longer than leaseStuck. A paused process does not renew it.
func (r *Resolver) renewInBackground(ctx context.Context) {
	if r.lease == nil || r.pulse != nil {
		return
	}
	stop := make(chan struct{})
	r.pulse = stop
	r.moves()
	ctx = context.WithoutCancel(ctx)
	go func() {
		tick := time.NewTicker(leaseTTL / 6)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-stop:
				return
			}
			if r.opts.Now().Sub(r.born)-time.Duration(r.moved.Load()) > leaseStuck {
				continue
			}
			if err := r.lease.Beat(ctx, r.opts.Cells.Map().Epoch()); errors.Is(err, lease.ErrLost) {
				return
			}
		}
	}()
}

// moves notes that a statement under the lease has completed.
func (r *Resolver) moves() {
	if r.lease != nil {
		r.moved.Store(int64(r.opts.Now().Sub(r.born)))
	}
}

// unlock stops the renewal of the lease and unlocks the resolver.
func (r *Resolver) unlock() {
	if r.pulse != nil {
		close(r.pulse)
		r.pulse = nil
	}
	r.mu.Unlock()
}

// invalidateCaches drops cached state that may be outdated, and marks the redo sets for a sweep.
func (r *Resolver) invalidateCaches() {
	r.redoLog.invalidate()
	r.cache.clear()
	r.notes.expectDecisionsEverywhere()
}

// checkLease returns lease.ErrLost, in a transaction of a cell, if this process lost the lease or the cell's
// fence is higher.
func (r *Resolver) checkLease(ctx context.Context, tx storage.Tx) error {
	if r.lease == nil {
		return nil
	}
	l, held := r.lease.Held()
	if !held {
		return lease.ErrLost
	}
	return tx.Require(ctx, func(head cell.Head) error {
		if head.Fence > l.Token {
			return lease.ErrLost
		}
		return nil
	})
}

// open returns a cell, fenced against earlier lease holders. A holder that did not release the lease may
// still be writing: the cell must refuse that before this process reads anything.
func (r *Resolver) open(ctx context.Context, id cell.ID) (storage.Cell, error) {
	c, err := r.opts.Cells.Cell(id)
	if err != nil || r.lease == nil {
		return c, err
	}
	l, held := r.lease.Held()
	if !held || r.notes.fence(id) >= l.Fence {
		return c, nil
	}
	if err := c.Exclusive(ctx, func(tx storage.Tx) error {
		head, err := tx.Head(ctx)
		switch {
		case err != nil:
			return err
		case head.Fence > l.Token:
			return lease.ErrLost
		case head.Fence >= l.Fence:
			return nil
		case head.Home != cell.Serving:
			return cell.ErrMoved // its head may already be copied, and the fence would be lost
		}
		head.Fence = l.Fence
		return tx.SetHead(ctx, head)
	}); err != nil {
		return nil, fmt.Errorf("fence: %w", err)
	}
	r.notes.noteFence(id, l.Fence)
	return c, nil
}

// releaseIfContended releases the lease if another process is known to want it and this one has had it for turn.
func (r *Resolver) releaseIfContended(ctx context.Context, turn time.Duration) {
	if r.lease == nil {
		return
	}
	if l, held := r.lease.Held(); held && l.Wanted && r.opts.Now().Sub(r.acquiredAt) >= turn {
		r.release(ctx)
	}
}

// release removes finished redo entries, so that they are not repeated, and releases the lease.
func (r *Resolver) release(ctx context.Context) {
	r.telling.Wait()
	if r.lease == nil || !r.holdsLease() {
		return
	}
	_ = r.clear(ctx) // entries that stay are repeated, which changes nothing
	_ = r.lease.Give(ctx)
}

// refresh reads the cell map again after an error that a newer map may resolve, and the rules if they
// caused it.
func (r *Resolver) refresh(ctx context.Context, why error) error {
	if err := r.opts.Cells.Refresh(ctx); err != nil {
		return fmt.Errorf("%w: read the cell map again: %w", why, err)
	}
	if errors.Is(why, errOldRules) {
		return r.reload(ctx)
	}
	return nil
}

// outdated reports whether a newer cell map or newer rules may resolve an error.
func outdated(err error) bool {
	return errors.Is(err, errOldRules) || errors.Is(err, cell.ErrFenced) || errors.Is(err, cell.ErrMoved) || errors.Is(err, cell.ErrStaleMap) || errors.Is(err, cell.ErrNoCell)
}
