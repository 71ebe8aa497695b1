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
	// attempt took.
	retryShare = 9
)

// clean reports whether nothing is left undone, as far as this process knows. If so, a batch can trust
// stored data. Otherwise, and while a kind is being migrated (stored data may come from either rules), it
// must read everything around its records, as a repair does.
func (r *Resolver) clean() bool {
	return !r.dirty && len(r.blocked) == 0 && !r.unread && r.Rules().former == nil
}

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

// due reports whether the redo sets of all cells must be read. A process with Owner does so periodically,
// however busy it is, because a process that crashed before it asked for its records to be resolved never
// will.
func (r *Resolver) due() bool {
	return r.dirty || (r.lease != nil || !r.clean()) && !r.opts.Now().Before(r.sweep)
}

// work works off redo entries: first own, which the caller waits for, with the requests of other processes.
// If a sweep is due it continues with all other entries, for up to patience. Entries that need an
// unavailable cell stay.
func (r *Resolver) work(ctx context.Context, own []derived.Redo, cause changelog.Cause, patience time.Duration) error {
	cells, number := r.requests()
	due := r.due()
	if due {
		if !r.dirty {
			_ = r.clear(ctx) // entries that stay are repeated, which changes nothing
		}
		cells = r.opts.Cells.Map().Cells()
		clear(r.cleared)
		clear(r.blocked)
		r.unread = false
		r.asks.Lock()
		clear(r.down)
		r.asks.Unlock()
	}
	began := r.opts.Now()
	until := began.Add(patience)
	if number > 0 {
		r.shared = r.opts.Now()
	}
	entries, err := r.readRedo(ctx, cells)
	if err != nil {
		r.dirty = true
		return fmt.Errorf("read the redo set: %w", err)
	}
	if due {
		clear(r.undone)
		r.dirty = true // until all of it is done
	}
	r.leave(entries)
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
		r.dirty = true
		return nil
	}
	if due {
		r.dirty = false
		now := r.opts.Now()
		r.sweep = now.Add(sweepEvery)
		if !r.clean() {
			// Blocked entries must not take all of the time of the others.
			r.sweep = now.Add(max(retryBlocked, retryShare*now.Sub(began)))
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
func (r *Resolver) slices(ctx context.Context, entries []derived.Redo, cause changelog.Cause, until time.Time) (left int, err error) {
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
			if errors.Is(err, ErrUnavailable) {
				r.unread = true
				return nil
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// leave marks records as having unfinished consequences.
func (r *Resolver) leave(entries []derived.Redo) {
	for _, e := range entries {
		r.undone[e.PUID] = struct{}{}
	}
}

// isUndone reports whether a record may have unfinished consequences; it may if its cell does not answer.
func (r *Resolver) isUndone(p entity.PUID) bool {
	if _, undone := r.undone[p]; undone {
		return true
	}
	if !r.anyDown() {
		return false
	}
	home, err := r.home(p)
	return err != nil || r.isDown(home)
}

// redoAll works off entries. Entries that fail because of an unavailable cell are found by bisection and
// blocked; the others are done.
func (r *Resolver) redoAll(ctx context.Context, entries []derived.Redo, cause changelog.Cause) error {
	if len(entries) == 0 {
		return nil
	}
	r.leave(entries)
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
			r.block(entries[0].PUID, err)
			return nil
		}
	}
}

// redoTogether repeats the second and third round for entries, as if all of their blocking keys were new. Writes
// that were already done are repeated.
func (r *Resolver) redoTogether(ctx context.Context, entries []derived.Redo, cause changelog.Cause) error {
	b := newBatch(r, nil, nil, nil)
	b.repair, b.cause = true, cause
	puids := make([]entity.PUID, len(entries))
	for i, e := range entries {
		puids[i] = e.PUID
		r.cache.drop(e.PUID) // another process may have written it
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
			r.block(e.PUID, nil)
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
		if _, waits := r.blocked[e.PUID]; waits {
			continue
		}
		id, err := r.home(e.PUID)
		if err != nil {
			return err
		}
		done[id] = append(done[id], e)
		delete(r.undone, e.PUID)
	}
	return r.takeOut(ctx, done)
}

func (r *Resolver) block(p entity.PUID, err error) {
	r.blocked[p] = struct{}{}
	if err != nil {
		r.trouble = err
	}
}

// anyDown reports whether some cell did not answer recently.
func (r *Resolver) anyDown() bool {
	r.asks.Lock()
	defer r.asks.Unlock()
	return len(r.down) > 0
}

func (r *Resolver) isDown(id cell.ID) bool {
	r.asks.Lock()
	defer r.asks.Unlock()
	return r.down[id]
}

// waits reports whether a blocking key of a record is in an unavailable cell.
func (r *Resolver) waits(w *write) bool {
	if !r.anyDown() {
		return false
	}
	down := func(f uint64) bool { return slices.ContainsFunc(r.keyCells(f), r.isDown) }
	if slices.ContainsFunc(w.lost, down) {
		return true
	}
	if w.new != nil {
		for _, f := range w.new.norm.BlockingKeys() {
			if down(f.Hash) {
				return true
			}
		}
	}
	return false
}

// postpone removes the entries from the batch that share a blocking key with a record of an unavailable cell.
func (b *batch) postpone(m *candidateSet, entries []entity.PUID) error {
	if !b.anyDown() {
		return nil
	}
	for p, w := range b.writes {
		if w.new == nil || !b.meetsDown(w, m) {
			continue
		}
		if !slices.Contains(entries, p) {
			// The record has no entry of its own: the entries that drew it in must wait.
			return fmt.Errorf("record %v: %w", p, ErrUnavailable)
		}
		delete(b.writes, p)
		b.block(p, nil)
	}
	return nil
}

func (b *batch) meetsDown(w *write, m *candidateSet) bool {
	return b.anyAway(m.candidates(w.new, w.posted))
}

// anyAway reports whether any of these records is in an unavailable cell.
func (b *batch) anyAway(puids []entity.PUID) bool {
	return b.anyDown() && slices.ContainsFunc(puids, func(q entity.PUID) bool {
		home, err := b.home(q)
		return err == nil && b.isDown(home)
	})
}

func (r *Resolver) takeOut(ctx context.Context, done map[cell.ID][]derived.Redo) error {
	return eachCell(done, func(id cell.ID, entries []derived.Redo) error {
		return r.write(ctx, id, func(tx storage.Tx) error { return tx.ClearRedo(ctx, entries) })
	})
}

func (r *Resolver) clear(ctx context.Context) error {
	if err := r.takeOut(ctx, maps.Clone(r.cleared)); err != nil {
		r.invalidateCaches()
		return err
	}
	clear(r.cleared)
	return nil
}
