// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/lease"
)

const (
	// sweepEvery is how often a process that is not alone looks for what others left undone and did not ask for.
	sweepEvery = 30 * time.Second
	// idleLease is how long a process to which nothing is written keeps the lease: it is given back then, also
	// if others have it work, so that it moves to where they are.
	idleLease = time.Second
	// idlePoll is how seldom it looks in between whether others want something.
	idlePoll = 50 * time.Millisecond
	// watchFirst and watchMost are how often a process without the lease looks whether others are at work: less
	// often while they are not.
	watchFirst, watchMost = 250 * time.Millisecond, 500 * time.Millisecond
	// restPatience is for how long what is left undone is worked off before a look at what waits.
	restPatience = 500 * time.Millisecond
)

// Drain finishes what a crash or a cell that did not answer left undone, and takes the redo entries that
// are done out of the stores. If another process holds the lease that is its task, and Drain does nothing.
// It is called when a service starts and before it stops; Rest does it in between.
func (r *Resolver) Drain(ctx context.Context) error {
	r.mu.Lock()
	defer r.unlock()
	if r.lease != nil && !r.held() {
		if held, err := r.lease.Try(ctx, r.opts.Cells.Map().Epoch()); err != nil || !held {
			return err
		}
	}
	if err := r.hold(ctx, 0); err != nil {
		if errors.Is(err, lease.ErrLost) {
			return nil
		}
		return err
	}
	r.dirty = r.lease != nil || !r.whole()
	if r.dirty {
		if err := r.work(ctx, nil, "", forever); err != nil {
			return err
		}
	}
	r.telling.Wait()
	return r.clear(ctx)
}

// Rest is for when nothing is to be written: it takes out the redo entries that are done, works off what other
// processes ask for, looks for what was left undone when that is due, and gives the lease back. It returns when it
// wants to be called again; 0 is not before the next Apply.
func (r *Resolver) Rest(ctx context.Context) time.Duration {
	r.mu.Lock()
	defer r.unlock()
	switch {
	case r.lease == nil:
		return r.restAlone(ctx)
	case r.held():
		return r.restHeld(ctx)
	}
	return r.watch(ctx)
}

func (r *Resolver) restAlone(ctx context.Context) time.Duration {
	if r.due() {
		if err := r.rework(ctx); err == nil && r.dirty {
			return leasePoll // there is more
		}
	}
	_ = r.clear(ctx)
	if r.whole() {
		return 0
	}
	return retryBlocked
}

// rework works off what is left undone, for a while.
func (r *Resolver) rework(ctx context.Context) error {
	err := r.hold(ctx, 0)
	if err == nil {
		err = r.work(ctx, nil, "", restPatience)
	}
	if err != nil {
		_ = r.mend(ctx, err)
	}
	r.others()
	return err
}

// others tells whom it concerns that something may have been resolved for which no Apply asked.
func (r *Resolver) others() {
	if r.opts.OnOthers != nil {
		r.opts.OnOthers()
	}
}

// restHeld is Rest of a process that has the lease.
func (r *Resolver) restHeld(ctx context.Context) time.Duration {
	l, _, err := r.lease.Look(ctx)
	if errors.Is(err, lease.ErrLost) {
		r.doubt()
		return leasePoll
	}
	if r.opts.Now().Sub(r.idle) >= idleLease || l.Wanted {
		r.give(ctx)
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

// watch is Rest of a process that does not have the lease. What it reads is one row, which says whether other
// processes are at work, and whether there is work that none of them does.
func (r *Resolver) watch(ctx context.Context) time.Duration {
	l, free, err := r.lease.Look(ctx)
	if err != nil {
		return watchMost
	}
	now := r.opts.Now()
	if l.Token > r.seen.Token && l.Token != r.token {
		r.sweep = now.Add(sweepEvery) // another process has had the lease, and looked
	}
	busy := l.Owner != "" || l.Token != r.seen.Token || l.Asked != r.seen.Asked || l.Done != r.seen.Done
	r.seen = l
	undone := r.dirty || l.Asked > l.Done || l.Owner != "" || !now.Before(r.sweep)
	switch {
	case free && undone:
		if held, err := r.lease.Try(ctx, r.opts.Cells.Map().Epoch()); err != nil || !held {
			return watchFirst
		}
		r.dirty = true
		r.idle = now.Add(-idleLease) // it is given back as soon as that is done
		_ = r.rework(ctx)
		if r.dirty {
			r.idle = now
		}
		return leasePoll
	case r.dirty: // something was put of which the owner has not heard
		if _, err := r.lease.Ask(ctx, r.opts.Cells.Map().Epoch(), ""); err == nil {
			r.dirty = r.held()
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

// Leave gives the lease back, before a process stops.
func (r *Resolver) Leave(ctx context.Context) {
	r.mu.Lock()
	defer r.unlock()
	r.give(ctx)
}
