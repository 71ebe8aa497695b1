// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/lease"
)

const (
	// sweepEvery is how often a process with Owner looks for work that other processes left undone without a request.
	sweepEvery = 30 * time.Second
	// idleLease is how long a process without writes of its own keeps the lease. It then releases it even if
	// it is working for others, so that the lease moves to where the writes are.
	idleLease = time.Second
	// idlePoll is the longest interval between looks for requests while this process holds the lease.
	idlePoll = 50 * time.Millisecond
	// watchFirst and watchMost bound the interval at which a process without the lease checks whether others
	// are active; it grows while they are not.
	watchFirst, watchMost = 250 * time.Millisecond, 500 * time.Millisecond
	// restPatience is how long unfinished work is processed before waiting calls are checked.
	restPatience = 500 * time.Millisecond
)

// Drain finishes the work that a crash or an unavailable cell left undone and removes finished redo entries. Drain does
// nothing if another process holds the lease, because the work is then that of the holder, or while records wait for an
// upgrade. Call it when a service starts and before it stops; Rest does the same in between.
func (r *Resolver) Drain(ctx context.Context) error {
	r.mu.Lock()
	defer r.unlock()
	if r.holding {
		return nil
	}
	if r.lease != nil && !r.holdsLease() {
		if held, err := r.lease.Try(ctx, r.opts.Cells.Map().Epoch()); err != nil || !held {
			return err
		}
	}
	if err := r.acquireLease(ctx, 0); err != nil {
		if errors.Is(err, lease.ErrLost) || errors.Is(err, ErrOutdated) || errors.Is(err, ErrUpgrading) {
			return nil
		}
		return err
	}
	return r.drain(ctx)
}

// drain works off all redo entries, under the lease.
func (r *Resolver) drain(ctx context.Context) error {
	if r.lease != nil || !r.clean() {
		r.redoLog.markDirty()
		if err := r.work(ctx, nil, "", forever); err != nil {
			return err
		}
	}
	r.telling.Wait()
	return r.clear(ctx)
}

// Settled works off all redo entries and then calls fn. Until fn returns, neither this process nor another one that
// shares the cells resolves records. Other processes may still put records.
func (r *Resolver) Settled(ctx context.Context, fn func() error) error {
	if err := r.mu.lockIn(ctx); err != nil {
		return err
	}
	defer r.unlock()
	if err := r.acquireLease(ctx, leasePatience); err != nil {
		return err
	}
	defer r.releaseIfContended(ctx, 0)
	if err := r.drain(ctx); err != nil {
		return errors.Join(err, r.recover(ctx, err))
	}
	return fn()
}

// Rest is called while there is nothing to write. It removes finished redo entries, works off requests of
// other processes, sweeps the redo sets if due, and releases the lease. It returns the interval until the
// next call; 0 means not before the next Apply.
func (r *Resolver) Rest(ctx context.Context) time.Duration {
	r.mu.Lock()
	defer r.unlock()
	switch {
	case r.holding:
		return r.keepLease(ctx)
	case r.lease == nil:
		return r.restAlone(ctx)
	case r.holdsLease():
		return r.restHeld(ctx)
	}
	return r.watch(ctx)
}

func (r *Resolver) restAlone(ctx context.Context) time.Duration {
	if r.due() {
		if err := r.rework(ctx); err == nil && r.redoLog.isDirty() {
			return leasePoll // there is more
		}
	}
	_ = r.clear(ctx)
	if r.clean() {
		return 0
	}
	return retryBlocked
}

// rework works off unfinished work for up to restPatience.
func (r *Resolver) rework(ctx context.Context) error {
	err := r.acquireLease(ctx, 0)
	if err == nil {
		err = r.work(ctx, nil, "", restPatience)
	}
	if err != nil {
		_ = r.recover(ctx, err)
	}
	r.others()
	return err
}

func (r *Resolver) others() {
	if r.opts.OnOthers != nil {
		r.opts.OnOthers()
	}
}

// restHeld is Rest for a process with the lease.
func (r *Resolver) restHeld(ctx context.Context) time.Duration {
	l, _, err := r.lease.Look(ctx)
	if errors.Is(err, lease.ErrLost) {
		r.invalidateCaches()
		return leasePoll
	}
	if r.opts.Now().Sub(r.idle) >= idleLease || l.Wanted {
		r.release(ctx)
		r.wait = watchFirst
		return leasePoll
	}
	if r.due() || r.wanted() {
		if r.rework(ctx) != nil {
			return retryBlocked
		}
		r.wait = leasePoll
		return leasePoll
	}
	_ = r.clear(ctx)
	r.wait = min(max(2*r.wait, leasePoll), idlePoll)
	return r.wait
}

// watch is Rest for a process without the lease. It reads one row, which shows whether other processes are active and
// whether there is work that none of them is doing.
func (r *Resolver) watch(ctx context.Context) time.Duration {
	l, free, err := r.lease.Look(ctx)
	if err != nil {
		return watchMost
	}
	now := r.opts.Now()
	if l.Token > r.seen.Token && l.Token != r.token {
		r.redoLog.scheduleSweep(now.Add(sweepEvery)) // another process has had the lease, and swept
	}
	busy := l.Owner != "" || l.Token != r.seen.Token || l.Asked != r.seen.Asked || l.Done != r.seen.Done
	r.seen = l
	undone := r.redoLog.isDirty() || l.Asked > l.Done || l.Owner != "" || r.redoLog.sweepDue(now)
	switch {
	case free && undone:
		if held, err := r.lease.Try(ctx, r.opts.Cells.Map().Epoch()); err != nil || !held {
			return watchFirst
		}
		r.redoLog.markDirty()
		r.idle = now.Add(-idleLease) // release the lease as soon as that is done
		_ = r.rework(ctx)
		if r.redoLog.isDirty() {
			r.idle = now
		}
		return leasePoll
	case r.redoLog.isDirty(): // the lease holder has not been asked for some records
		if _, err := r.lease.Ask(ctx, r.opts.Cells.Map().Epoch(), ""); err == nil && !r.holdsLease() {
			r.redoLog.markDelegated()
		}
	}
	if busy {
		r.others()
	}
	if r.wait = min(max(2*r.wait, watchFirst), watchMost); busy {
		r.wait = watchFirst
	}
	return r.wait
}

// Leave releases the lease before a process stops.
func (r *Resolver) Leave(ctx context.Context) {
	r.mu.Lock()
	defer r.unlock()
	r.release(ctx)
}
