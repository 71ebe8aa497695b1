// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/lease"
)

const (
	// leaseName is the lease under which postings, edges and entities are written.
	leaseName = "resolve"
	// leaseTTL is how long a process that holds it may be silent where nothing is slow.
	leaseTTL = 5 * time.Second
	// leasePatience is how long a batch waits for the process that has the lease before its records stay pending:
	// long enough to take it over from one that is gone.
	leasePatience = leaseTTL + time.Second
	// leasePoll is how often it looks at first whether that is done, and leasePollMost how seldom later.
	leasePoll     = 4 * time.Millisecond
	leasePollMost = 100 * time.Millisecond
	// leaseTurn is for how long a process with work to do keeps the lease though one that needs it waits: taking
	// it over costs as much as a batch.
	leaseTurn = 150 * time.Millisecond
	// leaseStuck is for how long a process keeps the lease while no statement of its work comes to an end.
	leaseStuck = time.Minute
)

// newLease makes the holder of the lease, which lies in the authority of the cell map.
func (r *Resolver) newLease(owner string) *lease.Holder {
	authority := func(ctx context.Context, run func(Cell) error) error {
		for {
			c, err := r.opts.Cells.Cell(r.opts.Cells.Map().Authority())
			if err == nil {
				err = run(c)
			}
			if !errors.Is(err, cell.ErrMoved) {
				return err
			}
			if err := r.refresh(ctx, err); err != nil {
				return err
			}
		}
	}
	return lease.NewHolder(lease.Options{
		Name: leaseName, Owner: owner, TTL: leaseTTL, Now: r.opts.Now,
		View: func(ctx context.Context, fn func(lease.Store) error) error {
			return authority(ctx, func(c Cell) error { return c.View(ctx, func(tx Tx) error { return fn(tx) }) })
		},
		Update: func(ctx context.Context, fn func(lease.Store) error) error {
			return authority(ctx, func(c Cell) error { return c.Update(ctx, func(tx Tx) error { return fn(tx) }) })
		},
	})
}

// held reports whether this process holds the lease; a process that is alone always does.
func (r *Resolver) held() bool {
	if r.lease == nil {
		return true
	}
	_, held := r.lease.Held()
	return held
}

// hold takes the lease, or gives a sign of life, and begins what is done under it.
func (r *Resolver) hold(ctx context.Context, patience time.Duration) error {
	if r.lease == nil {
		return r.know(ctx)
	}
	give := time.NewTimer(patience)
	defer give.Stop()
	for {
		held, err := r.lease.Take(ctx, r.opts.Cells.Map().Epoch())
		if r.held() && err != nil { // the authority does not answer: no other process can take the lease there either
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

// pause waits for a while, unless the patience for the lease is over before.
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

// begin begins what is done under the lease, which this process has. One that was another's before comes with
// whatever that one left undone, and makes all that is remembered of records doubtful. One that this process
// gave back, and no other has had since, does not: what others have put in the meantime they ask for.
func (r *Resolver) begin(ctx context.Context) error {
	l, held := r.lease.Held()
	if !held {
		return lease.ErrLost
	}
	r.beats(ctx)
	if l.Epoch > r.opts.Cells.Map().Epoch() {
		if err := r.refresh(ctx, cell.ErrStaleMap); err != nil {
			return err
		}
	}
	if l.Token != r.token {
		if own := l.Token == r.token+1 && l.Fence < l.Token; !own {
			r.doubt()
			r.known = false // rules are changed under the lease
			r.finished.Store(0)
			r.reign++
		}
		r.token, r.took = l.Token, r.opts.Now()
	}
	return r.know(ctx)
}

// beat gives a sign of life between two parts of the rounds, and ends them if the lease is lost.
func (r *Resolver) beat(ctx context.Context) error {
	if r.lease == nil {
		return nil
	}
	_ = r.lease.Beat(ctx, r.opts.Cells.Map().Epoch()) // an authority that does not answer gives the lease to no other
	if !r.held() {
		return lease.ErrLost
	}
	return nil
}

// beats gives signs of life from now on until the resolver is unlocked, however long the statements of the work
// take that is done: but not for one of them alone. A process that stands still gives none.
func (r *Resolver) beats(ctx context.Context) {
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

// moves notes that a statement of the work has come to an end.
func (r *Resolver) moves() {
	if r.lease != nil {
		r.moved.Store(int64(r.opts.Now().Sub(r.born)))
	}
}

// unlock ends what was done, and the signs of life for it.
func (r *Resolver) unlock() {
	if r.pulse != nil {
		close(r.pulse)
		r.pulse = nil
	}
	r.mu.Unlock()
}

// doubt forgets what may have become otherwise, and has the redo set worked off.
func (r *Resolver) doubt() {
	r.dirty = true
	r.cache.clear()
	clear(r.cleared)
	r.asks.Lock()
	defer r.asks.Unlock()
	clear(r.undecided)
}

// holds tells, in a transaction of a cell, whether it still takes what is done under the lease.
func (r *Resolver) holds(ctx context.Context, tx Tx) error {
	if r.lease == nil {
		return nil
	}
	l, held := r.lease.Held()
	if !held {
		return lease.ErrLost
	}
	head, err := tx.Head(ctx)
	if err == nil && head.Fence > l.Token {
		return lease.ErrLost
	}
	return err
}

// open answers with a cell. One whose last owner of the lease did not give it back may still be writing
// there: the cell has to refuse that before the next owner reads anything.
func (r *Resolver) open(ctx context.Context, id cell.ID) (Cell, error) {
	c, err := r.opts.Cells.Cell(id)
	if err != nil || r.lease == nil {
		return c, err
	}
	l, held := r.lease.Held()
	r.asks.Lock()
	fenced := !held || r.fenced[id] >= l.Fence
	r.asks.Unlock()
	if fenced {
		return c, nil
	}
	if err := c.Exclusive(ctx, func(tx Tx) error {
		head, err := tx.Head(ctx)
		switch {
		case err != nil:
			return err
		case head.Fence > l.Token:
			return lease.ErrLost
		case head.Fence >= l.Fence:
			return nil
		case head.Home != cell.Serving:
			return cell.ErrMoved // its head may have been copied already, and a fence would stay behind
		}
		head.Fence = l.Fence
		return tx.SetHead(ctx, head)
	}); err != nil {
		return nil, fmt.Errorf("fence: %w", err)
	}
	r.asks.Lock()
	defer r.asks.Unlock()
	r.fenced[id] = l.Fence
	return c, nil
}

// yield gives the lease back if another process needs it, as far as is known, and this one has had its turn.
func (r *Resolver) yield(ctx context.Context, turn time.Duration) {
	if r.lease == nil {
		return
	}
	if l, held := r.lease.Held(); held && l.Wanted && r.opts.Now().Sub(r.took) >= turn {
		r.give(ctx)
	}
}

// give takes out the redo entries that are done, which need not be done again, and gives the lease back.
func (r *Resolver) give(ctx context.Context) {
	r.telling.Wait()
	if r.lease == nil || !r.held() {
		return
	}
	_ = r.clear(ctx) // what stays in is done twice, which changes nothing
	_ = r.lease.Give(ctx)
}

// refresh reads the cell map again, because of an error that a newer one may cure, and the rules if they are
// why.
func (r *Resolver) refresh(ctx context.Context, why error) error {
	if err := r.opts.Cells.Refresh(ctx); err != nil {
		return fmt.Errorf("%w: read the cell map again: %w", why, err)
	}
	if errors.Is(why, errOldRules) {
		return r.reload(ctx)
	}
	return nil
}

// outdated tells whether a newer cell map, or newer rules, may cure an error.
func outdated(err error) bool {
	return errors.Is(err, errOldRules) || errors.Is(err, cell.ErrFenced) || errors.Is(err, cell.ErrMoved) || errors.Is(err, cell.ErrStaleMap) || errors.Is(err, cell.ErrNoCell)
}
