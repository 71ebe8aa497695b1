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
)

const (
	// redoBatch is how many entries are worked off at once.
	redoBatch = 500
	// retryBlocked is how often entries that wait for a cell are tried again.
	retryBlocked = time.Second
	// retryShare is how many times as long as it takes to try them nothing of it is tried.
	retryShare = 9
	// sweepEvery is how often a process that is not alone looks for what others left undone.
	sweepEvery = 5 * time.Second
	// idleLease is how long an idle process keeps the lease, in case more comes, and idlePoll how often
	// it looks meanwhile whether somebody waits for it.
	idleLease = 50 * time.Millisecond
	idlePoll  = 10 * time.Millisecond
)

// whole tells whether nothing is left undone, as far as this process knows: then a batch can rely on what
// is stored, unless a kind is being switched and nobody knows by which rules that was made. Else it has to look at everything around its records, as a repair does.
func (r *Resolver) whole() bool {
	return !r.dirty && len(r.blocked) == 0 && !r.unread && r.Rules().former == nil
}

// mend follows a round that failed: what it wrote is half done.
func (r *Resolver) mend(ctx context.Context, err error) error {
	r.doubt()
	switch {
	case errors.Is(err, lease.ErrLost):
		if r.lease != nil {
			r.lease.Lost()
		}
		return r.hold(ctx, leasePatience)
	case outdated(err):
		return r.refresh(ctx, err)
	}
	return nil
}

// drain works off the redo sets of all cells if that is due, and answers with the versions of records that
// it did. In health it reads nothing. Entries that take a cell that does not answer stay; so do those of
// such a cell, and those at the versions of own, which the caller does itself.
func (r *Resolver) drain(ctx context.Context, own map[entity.PUID]int64) (map[entity.PUID]int64, error) {
	if !r.dirty && (r.whole() || r.opts.Now().Before(r.sweep)) {
		return nil, nil
	}
	worked, began := map[entity.PUID]int64{}, r.opts.Now()
	clear(r.cleared)
	clear(r.blocked)
	r.unread = false
	r.asks.Lock()
	clear(r.down)
	r.asks.Unlock()
	if err := r.drainCells(ctx, own, worked); err != nil {
		r.dirty = true
		return nil, err
	}
	r.dirty = false
	now := r.opts.Now()
	r.sweep = now.Add(sweepEvery)
	if !r.whole() {
		// Nor may entries that wait for a cell take all of the time of those that do not.
		r.sweep = now.Add(max(retryBlocked, retryShare*now.Sub(began)))
	}
	return worked, nil
}

// drainCells works off the redo sets of all cells together: what came in together belongs together.
func (r *Resolver) drainCells(ctx context.Context, own, worked map[entity.PUID]int64) error {
	entries, err := r.readRedo(ctx)
	if err != nil {
		return fmt.Errorf("read the redo set: %w", err)
	}
	clear(r.undone)
	r.leave(entries)
	entries = slices.DeleteFunc(entries, func(e Redo) bool { return own[e.PUID] == e.Version })
	for batch := range slices.Chunk(entries, redoBatch) {
		if err := r.redoAll(ctx, batch, changelog.CauseRedo); err != nil {
			return err
		}
		for _, e := range batch {
			if _, waits := r.blocked[e.PUID]; !waits {
				worked[e.PUID] = e.Version
			}
		}
	}
	return nil
}

// readRedo reads the redo sets of all cells that answer, a page of each and then the next.
func (r *Resolver) readRedo(ctx context.Context) (entries []Redo, err error) {
	after := map[cell.ID]entity.PUID{}
	for _, id := range r.opts.Cells.Map().Cells() {
		after[id] = math.MinInt64
	}
	for len(after) > 0 {
		var mu sync.Mutex
		if err := eachCell(maps.Clone(after), func(id cell.ID, from entity.PUID) error {
			var page []Redo
			err := r.read(ctx, id, func(tx Tx) (err error) {
				page, err = tx.Redo(ctx, from, redoBatch)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
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

// leave notes that something is left to follow from records.
func (r *Resolver) leave(entries []Redo) {
	for _, e := range entries {
		r.undone[e.PUID] = struct{}{}
	}
}

// isUndone tells whether something is left to follow from a record, or may be, since its cell does not say.
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

// redoAll works off entries. Those that cannot be done, because a cell does not answer, are found by halves
// and blocked; the others are done.
func (r *Resolver) redoAll(ctx context.Context, entries []Redo, cause changelog.Cause) error {
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

// redoTogether does the second and third round again for entries, as if every feature of theirs were new
// and together with everyone they share one with: whichever of the rounds' writes were done are done
// again, and the others now.
func (r *Resolver) redoTogether(ctx context.Context, entries []Redo, cause changelog.Cause) error {
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
	done := map[cell.ID][]Redo{}
	for _, e := range entries {
		w := &write{puid: e.PUID, lost: e.Lost}
		if n := b.nodes[e.PUID]; n == nil {
			continue
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
	m, err := b.post(ctx)
	if err != nil {
		return err
	}
	if err := b.postpone(m, puids); err != nil {
		return err
	}
	if err := b.beat(ctx); err != nil {
		return err
	}
	if err := b.resolve(ctx, m); err != nil {
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

// block leaves an entry for later.
func (r *Resolver) block(p entity.PUID, err error) {
	r.blocked[p] = struct{}{}
	if err != nil {
		r.trouble = err
	}
}

// anyDown tells whether some cell did not answer lately.
func (r *Resolver) anyDown() bool {
	r.asks.Lock()
	defer r.asks.Unlock()
	return len(r.down) > 0
}

// isDown tells whether a cell did not answer lately.
func (r *Resolver) isDown(id cell.ID) bool {
	r.asks.Lock()
	defer r.asks.Unlock()
	return r.down[id]
}

// waits tells whether a feature of a record lies in a cell that does not answer.
func (r *Resolver) waits(w *write) bool {
	if !r.anyDown() {
		return false
	}
	down := func(f uint64) bool { return slices.ContainsFunc(r.featureCells(f), r.isDown) }
	if slices.ContainsFunc(w.lost, down) {
		return true
	}
	if w.new != nil {
		for _, f := range w.new.norm.Features() {
			if down(f.Hash) {
				return true
			}
		}
	}
	return false
}

// postpone leaves out the entries that share a feature with a record whose cell does not answer.
func (b *batch) postpone(m *meetings, entries []entity.PUID) error {
	if !b.anyDown() {
		return nil
	}
	for p, w := range b.writes {
		if w.new == nil || !b.meetsDown(w, m) {
			continue
		}
		if !slices.Contains(entries, p) {
			// It has no entry of its own: those that drew it in have to wait.
			return fmt.Errorf("record %v: %w", p, ErrUnavailable)
		}
		delete(b.writes, p)
		b.block(p, nil)
	}
	return nil
}

func (b *batch) meetsDown(w *write, m *meetings) bool {
	for _, f := range w.new.norm.Features() {
		if !m.generic(f.Hash) && slices.ContainsFunc(m.carriers[f.Hash], func(q entity.PUID) bool {
			home, err := b.home(q)
			return err == nil && b.isDown(home)
		}) {
			return true
		}
	}
	return false
}

// takeOut removes entries from the redo sets.
func (r *Resolver) takeOut(ctx context.Context, done map[cell.ID][]Redo) error {
	return eachCell(done, func(id cell.ID, entries []Redo) error {
		return r.write(ctx, id, func(tx Tx) error { return tx.ClearRedo(ctx, entries) })
	})
}

// clear takes out the redo entries that are done.
func (r *Resolver) clear(ctx context.Context) error {
	if err := r.takeOut(ctx, maps.Clone(r.cleared)); err != nil {
		r.doubt()
		return err
	}
	clear(r.cleared)
	return nil
}

// Drain finishes what a crash or a cell that did not answer left undone, and takes the redo entries that
// are done out of the stores. If another process holds the lease that is its task, and Drain does nothing.
// It is called when a service starts and before it stops; Rest does it in between.
func (r *Resolver) Drain(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.hold(ctx, 0); err != nil {
		if errors.Is(err, lease.ErrLost) {
			return nil
		}
		return err
	}
	r.dirty = !r.whole()
	if _, err := r.drain(ctx, nil); err != nil {
		return err
	}
	return r.clear(ctx)
}

// Rest is for when nobody wants anything: it takes out the redo entries that are done, looks for what was
// left undone when that is due, and gives the lease back. It answers when it wants to be called again; 0
// is not before the next Apply.
func (r *Resolver) Rest(ctx context.Context) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.opts.Now()
	due := r.dirty || (r.lease != nil || !r.whole()) && !now.Before(r.sweep)
	if due && r.hold(ctx, 0) == nil {
		r.dirty = true
		if _, err := r.drain(ctx, nil); err != nil && r.mend(ctx, err) != nil {
			r.sweep = now.Add(retryBlocked)
		}
	} else if due {
		r.sweep = now.Add(sweepEvery) // whoever has the lease does it
	}
	if r.lease == nil {
		_ = r.clear(ctx)
		if r.whole() {
			return 0
		}
		return retryBlocked
	}
	if !r.held() {
		return sweepEvery
	}
	_ = r.clear(ctx)
	if r.yield(ctx, 0); !r.held() {
		return sweepEvery
	}
	if wait := idleLease - now.Sub(r.idle); wait > 0 {
		return min(wait, idlePoll)
	}
	r.give(ctx)
	return sweepEvery
}

// Leave gives the lease back, before a process stops.
func (r *Resolver) Leave(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.give(ctx)
}
