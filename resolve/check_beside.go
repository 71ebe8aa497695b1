// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/delay"
)

// A check without repair takes neither the lock nor the lease and reads while others write. Every unfinished write has
// a redo entry: it is written with the record and removed after all consequences. So a difference caused by a write in
// progress is gone once the entries that existed at the time of the look are gone. Another write may cause it again, so
// a row is certain to differ only if several looks find the same difference, each after the entries of the previous
// look are gone.

const (
	// sameLooks is the number of looks that must find the same difference.
	sameLooks = 3
	// besidePatience is how long a check waits until redo entries are done: longer than a busy process leaves them, see
	// sweepEvery.
	besidePatience = 2 * sweepEvery
	// alonePatience is the same for a process without Owner.
	alonePatience = 5 * retryBlocked
	// besideMost is the maximum number of entries to poll.
	besideMost = 20_000
)

// waiting are the entries of all redo sets, without lost blocking keys.
type waiting map[entity.PUID]entry

type entry struct {
	cell             cell.ID
	version, decided int64
}

// settleBeside is settle for a check without repair.
func (c *checker) settleBeside(ctx context.Context, id cell.ID, s step, found []suspect) error {
	looks := map[Difference]int{}
	for _, f := range found {
		looks[f.Difference] = 1
	}
	// A row may differ in several ways, one of them certain before the others. The next look finds it again.
	reported := map[Difference]bool{}
	for try := 0; len(found) > 0; try++ {
		if try == checkTries {
			c.busy = append(c.busy, found[0].What+" "+found[0].ID)
			return nil
		}
		before, err := c.waiting(ctx)
		if err != nil {
			return err
		}
		if err := c.workedOff(ctx, before); err != nil {
			return err
		}
		if err := c.current(ctx); err != nil {
			return err
		}
		next, err := c.again(ctx, id, s, found, c.view)
		if err != nil {
			return err
		}
		after, err := c.waiting(ctx)
		if err != nil {
			return err
		}
		found = found[:0]
		again := map[Difference]int{}
		for _, f := range next {
			n := looks[f.Difference] + 1
			switch left := c.left(after, f.about); {
			case reported[f.Difference]:
			case left == abandoned: // the open redo entry is reported instead
			case left == none && n >= sameLooks:
				c.report(f.Difference)
				reported[f.Difference] = true
			default:
				again[f.Difference], found = n, append(found, f)
			}
		}
		looks = again
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}

type leftover int

const (
	none      leftover = iota
	pending            // is being worked off, as far as known
	abandoned          // was not worked off for longer than a check waits
)

// left returns the state of the redo entries of these records.
func (c *checker) left(w waiting, about []entity.PUID) leftover {
	most := none
	for _, p := range about {
		e, there := w[p]
		switch {
		case there && c.abandoned[p] == e:
			return abandoned
		case there:
			most = pending
		}
	}
	return most
}

// waiting reads the redo sets of all cells, without entries that this process has finished and not yet
// removed.
func (c *checker) waiting(ctx context.Context) (waiting, error) {
	all := waiting{}
	for _, id := range c.opts.Cells.Map().Cells() {
		entries, err := c.entries(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("read the redo set of cell %v: %w", id, err)
		}
		for p, e := range entries {
			all[p] = entry{id, e.Version, e.Decided}
		}
		if len(all) > besideMost {
			return nil, fmt.Errorf("%w: more than %d records are not resolved yet; check again later", ErrBusy, besideMost)
		}
	}
	c.mu.Lock()
	defer c.unlock()
	for id, done := range c.redoLog.allFinished() {
		for _, e := range done {
			if all[e.PUID] == (entry{id, e.Version, e.Decided}) {
				delete(all, e.PUID)
			}
		}
	}
	return all, nil
}

// workedOff waits until entries are gone or replaced. Those that stay are marked as abandoned and not
// waited for again.
func (c *checker) workedOff(ctx context.Context, entries waiting) error {
	patience, wait := besidePatience, leasePoll
	if c.lease == nil {
		patience = alonePatience
	}
	until := c.Resolver.opts.Now().Add(patience)
	for {
		maps.DeleteFunc(entries, func(p entity.PUID, e entry) bool { return c.abandoned[p] == e })
		if len(entries) == 0 {
			return nil
		}
		if !c.Resolver.opts.Now().Before(until) {
			maps.Copy(c.abandoned, entries)
			return nil
		}
		if err := delay.For(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, retryBlocked/4)
		now, err := c.waiting(ctx)
		if err != nil {
			return err
		}
		n := len(entries)
		maps.DeleteFunc(entries, func(p entity.PUID, e entry) bool { return now[p] != e })
		if len(entries) < n {
			until = c.Resolver.opts.Now().Add(patience) // progress: a process is working
		}
	}
}

// current refreshes the cell map and the rules: a process that only reads is not notified of changes.
func (c *checker) current(ctx context.Context) error {
	if c.lease == nil {
		return nil
	}
	if err := errors.Join(c.opts.Cells.Refresh(ctx), c.Reload(ctx)); err != nil {
		return err
	}
	return c.switching()
}

// staysBeside is stays for a check without repair.
func (c *checker) staysBeside(ctx context.Context, id cell.ID) error {
	w, err := c.waiting(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(w, func(_ entity.PUID, e entry) bool { return e.cell != id })
	if err := c.workedOff(ctx, maps.Clone(w)); err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(w)) {
		if c.abandoned[p] == w[p] {
			c.report(Difference{
				What: "redo", Cell: id, ID: p.String(), Stored: "is not resolved, and no process resolves it", Want: "no entry",
				Advice: "start a server, or locus check --repair",
			})
		}
	}
	return nil
}
