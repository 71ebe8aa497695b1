// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

const (
	redoBatch = 500
	// retryBlocked is the minimum interval between retries of blocked entries.
	retryBlocked = time.Second
	// retryShare bounds the share of time spent on retries: the pause is this many times as long as the
	// attempt took, up to retryLatest.
	retryShare = 9
	// retryLatest is the longest pause, so that a slow machine soon notices a cell that is back, too.
	retryLatest = 15 * time.Second
)

// recover restores a consistent state of this process after failed work, which may be half written: it drops
// caches, and the lease or the cell map if they caused the error.
func (r *Resolver) recover(ctx context.Context, err error) error {
	r.invalidateCaches()
	switch {
	case errors.Is(err, lease.ErrLost):
		if r.lease != nil {
			r.lease.Lost()
			r.slice.lost()
		}
	case outdated(err):
		return r.refresh(ctx, err)
	}
	return nil
}

// work works off redo entries: first own, which the caller waits for, with the requests of other processes.
// If a sweep is due it continues with all other entries, for up to patience. Entries that need an
// unavailable cell stay.
func (r *Resolver) work(ctx context.Context, own []derived.Redo, cause changelog.Cause, patience time.Duration) error {
	cells, number := r.requests()
	due := r.due()
	if due {
		if !r.redoLog.isDirty() {
			_ = r.clear(ctx) // entries that stay are repeated, which changes nothing
		}
		cells = r.opts.Cells.Map().Cells()
		r.redoLog.beginSweep()
	}
	began := r.opts.Now()
	until := began.Add(patience)
	if number > 0 {
		r.shared = r.opts.Now()
	}
	entries, err := r.readRedo(ctx, cells)
	if err != nil {
		r.redoLog.markDirty()
		return fmt.Errorf("read the redo set: %w", err)
	}
	if due {
		r.redoLog.sweepRead()
	}
	r.redoLog.leave(entries)
	asked, decided := r.sort(entries, own)
	first := own
	if !due && cause == "" {
		first, asked = append(slices.Clip(own), asked...), nil // one batch for both
	}
	if _, err := r.slices(ctx, first, cause, time.Time{}); err != nil {
		return err
	}
	left := 0
	for _, rest := range []struct {
		entries []derived.Redo
		cause   changelog.Cause
	}{{decided, changelog.CauseDecision}, {asked, changelog.CauseRedo}} {
		n, err := r.slices(ctx, rest.entries, rest.cause, until)
		if err != nil {
			return err
		}
		left += n
	}
	if left > 0 {
		r.redoLog.markDirty()
		return nil
	}
	if due {
		now := r.opts.Now()
		r.redoLog.endSweep(now.Add(sweepEvery))
		if !r.clean() {
			// Blocked entries must not take all of the time of the others.
			r.redoLog.scheduleSweep(now.Add(min(max(retryBlocked, retryShare*now.Sub(began)), retryLatest)))
		}
	}
	r.tell(ctx, number)
	return nil
}

// sort removes the caller's own entries and separates those of decisions from the others.
func (r *Resolver) sort(entries, own []derived.Redo) (others, decided []derived.Redo) {
	mine := make(map[entity.PUID]derived.Redo, len(own))
	for _, e := range own {
		mine[e.PUID] = e
	}
	for _, e := range entries {
		switch m, is := mine[e.PUID]; {
		case is && m.Version == e.Version && m.Decided == e.Decided:
		case e.Decided != 0:
			decided = append(decided, e)
		default:
			others = append(others, e)
		}
	}
	return others, decided
}

// slices works off entries in slices, so that finished work survives a later error. It stops when until has
// passed, unless that is zero, and returns the number of entries left.
func (r *Resolver) slices(ctx context.Context, entries []derived.Redo, cause changelog.Cause,
	until time.Time) (left int, err error) {
	for len(entries) > 0 {
		n := min(r.slice.size, len(entries))
		begun := r.opts.Now()
		if err := r.redoAll(ctx, entries[:n], cause); err != nil {
			return 0, err
		}
		entries = entries[n:]
		now := r.opts.Now()
		r.slice.took(n, now.Sub(begun))
		if !until.IsZero() && now.After(until) {
			break
		}
	}
	return len(entries), nil
}

// readRedo reads the redo sets of the available cells, page by page.
func (r *Resolver) readRedo(ctx context.Context, cells []cell.ID) (entries []derived.Redo, err error) {
	after := map[cell.ID]entity.PUID{}
	for _, id := range cells {
		after[id] = math.MinInt64
	}
	for len(after) > 0 {
		var mu sync.Mutex
		if err := eachCell(maps.Clone(after), func(id cell.ID, from entity.PUID) error {
			var page []derived.Redo
			var head cell.Head
			err := r.read(ctx, id, func(tx storage.Tx) (err error) {
				if page, err = tx.Redo(ctx, from, redoBatch); err == nil {
					head, err = tx.Head(ctx)
				}
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if head.Unsettled() {
				r.unsettled.Store(true)
			}
			if len(page) < redoBatch {
				delete(after, id)
			} else {
				after[id] = page[len(page)-1].PUID
			}
			entries = append(entries, page...)
			if errors.Is(err, cell.ErrUnavailable) {
				r.redoLog.noteUnread()
				return nil
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// redoAll works off entries. Entries that fail because of an unavailable cell are found by bisection and
// blocked; the others are done.
func (r *Resolver) redoAll(ctx context.Context, entries []derived.Redo, cause changelog.Cause) error {
	if len(entries) == 0 {
		return nil
	}
	r.redoLog.leave(entries)
	for attempt := 0; ; attempt++ {
		err := r.redoTogether(ctx, entries, cause)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, lease.ErrLost) || ctx.Err() != nil:
			return err
		case outdated(err) && attempt < 3:
			if err := r.refresh(ctx, err); err != nil {
				return err
			}
		case len(entries) > 1:
			half := len(entries) / 2
			return errors.Join(r.redoAll(ctx, entries[:half], cause), r.redoAll(ctx, entries[half:], cause))
		default:
			r.redoLog.block(entries[0].PUID, err)
			return nil
		}
	}
}

// redoTogether repeats the second and third round for entries, as if all of their blocking keys were new. Writes
// that were already done are repeated.
func (r *Resolver) redoTogether(ctx context.Context, entries []derived.Redo, cause changelog.Cause) error {
	b := newBatch(r, nil, nil, nil)
	b.repair, b.cause = true, cause
	b.cache.forgetDecided()
	puids := make([]entity.PUID, len(entries))
	for i, e := range entries {
		puids[i] = e.PUID
		r.cache.nodes.drop(e.PUID) // another process may have written it
	}
	if err := b.load(ctx, b.nodes, puids); err != nil {
		return err
	}
	done := map[cell.ID][]derived.Redo{}
	for _, e := range entries {
		w := &write{puid: e.PUID, lost: e.LostKeys}
		if n := b.nodes[e.PUID]; n == nil {
			b.nodes[e.PUID] = gone(e.PUID)
		} else if n.norm != nil {
			w.new = n
		}
		if r.waits(w) {
			r.redoLog.block(e.PUID, nil)
			continue
		}
		b.writes[e.PUID] = w
	}
	if err := b.mirror(ctx, entries); err != nil {
		return err
	}
	m, err := b.candidates(ctx)
	if err != nil {
		return err
	}
	if err := b.postpone(m, puids); err != nil {
		return err
	}
	if err := b.renew(ctx); err != nil {
		return err
	}
	if err := b.cluster(ctx, m); err != nil {
		return err
	}
	for _, e := range entries {
		if r.redoLog.isBlocked(e.PUID) {
			continue
		}
		id, err := r.home(e.PUID)
		if err != nil {
			return err
		}
		done[id] = append(done[id], e)
		r.redoLog.done(e.PUID)
	}
	return r.takeOut(ctx, done)
}

// takeOut removes finished entries from the redo sets.
func (r *Resolver) takeOut(ctx context.Context, done map[cell.ID][]derived.Redo) error {
	return eachCell(done, func(id cell.ID, entries []derived.Redo) error {
		return r.write(ctx, id, func(tx storage.Tx) error { return tx.ClearRedo(ctx, entries) })
	})
}

// clear removes the finished entries that are still stored.
func (r *Resolver) clear(ctx context.Context) error {
	finished := r.redoLog.allFinished()
	if err := r.takeOut(ctx, finished); err != nil {
		r.invalidateCaches()
		return err
	}
	r.redoLog.removed(slices.Collect(maps.Keys(finished)))
	return nil
}
