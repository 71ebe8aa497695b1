// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/mirror"
)

// recordPage is how many changes of a cell are read at once.
const recordPage = 100

// recording is the work of the owner of a sink of changes. Cells are independent of each other, and the position of
// each passes a change once the target has it.
type recording struct {
	source mirror.Source
	target ChangeSink
	store  Store
	token  int64
	now    func() time.Time

	mu       sync.Mutex
	progress Progress
	began    Progress // as it was loaded
	oldest   map[cell.ID]time.Time
	gap      error // changes that the log no longer has, and that a person has to learn of
}

// StartOfChanges returns the position of a sink of changes that begins now: it delivers every change from here on.
func StartOfChanges(ctx context.Context, source mirror.Source, now time.Time) (at Position, err error) {
	if at.Installation, _, err = source.Installation(ctx); err != nil {
		return Position{}, fmt.Errorf("read the cell map: %w", err)
	}
	tail, err := source.Tail(ctx)
	if err != nil {
		return Position{}, fmt.Errorf("read where the logs end: %w", err)
	}
	at.Begun, at.Cells = now.UTC().Truncate(time.Millisecond), map[cell.ID]CellPosition{}
	for id, end := range tail {
		at.Cells[id] = CellPosition{At: end, Time: at.Begun, Filled: true}
	}
	return at, nil
}

// SkipGaps moves a position over changes that the logs no longer have, to where they end, as from has it.
func SkipGaps(ctx context.Context, source mirror.Source, at *Position, from Position) error {
	for id, c := range at.Cells {
		_, err := source.Changes(ctx, id, c.At, 1)
		switch {
		case errors.Is(err, changelog.ErrTrimmed):
			at.Cells[id] = from.Cells[id]
		case err != nil:
			return fmt.Errorf("read the log of cell %v after %d: %w", id, c.At, err)
		}
	}
	return nil
}

// record delivers changes until the context ends.
func (r *Runner) record(ctx context.Context, token int64) error {
	target, err := r.opts.OpenChanges(ctx)
	if err != nil {
		return fmt.Errorf("open the target: %w", err)
	}
	defer func() { _ = target.Close() }() // everything acknowledged is durable
	c := &recording{source: r.opts.Source, target: target, store: r.opts.Store, token: token, now: r.opts.Now,
		oldest: map[cell.ID]time.Time{}}
	if err := c.start(ctx); err != nil {
		return err
	}
	r.recording.Store(c)
	r.due.Store(nil)
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.save(last, true) // if it fails, the changes since the last time are delivered again
		r.recording.Store(nil)
		r.delivered.Add(c.progress.Delivered - c.began.Delivered)
		r.failed.Add(c.progress.Failed - c.began.Failed)
	}()
	for tries := 0; ctx.Err() == nil; {
		more, err := c.round(ctx)
		switch saved := c.save(ctx, err != nil); {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrStop):
			return err
		case saved != nil:
			return saved
		case err != nil:
			if tries++; tries == 1 {
				r.opts.Logger.Warn("sink delivery failed", "sink", r.opts.Name, "err", err)
			}
			rest(ctx, jitter(min(firstPause<<min(tries-1, 20), r.opts.Patience)), nil)
		case more:
			tries = 0
		default:
			tries = 0
			rest(ctx, r.opts.Poll, r.wake)
		}
	}
	return nil
}

// start continues from the stored position.
func (c *recording) start(ctx context.Context) error {
	p, err := c.store.Load(ctx)
	if err != nil {
		return fmt.Errorf("read the position of the sink: %w", err)
	}
	if p.Position.Installation == "" {
		return fmt.Errorf("%w: its position is from before a restored backup: resume it to continue with the next change",
			ErrStop)
	}
	p.Position.Cells = maps.Clone(p.Position.Cells)
	c.progress, c.began = p, p
	c.progress.Trouble = ""
	return c.save(ctx, true)
}

// round delivers a page of each cell that has one, and reports whether any may have another one.
func (c *recording) round(ctx context.Context) (more bool, err error) {
	_, cells, err := c.source.Installation(ctx)
	if err != nil {
		return false, fmt.Errorf("read the cell map: %w", err)
	}
	tail, _ := c.source.Tail(ctx) // if some cell is away, the others are read all the same
	var g errgroup.Group
	g.SetLimit(abreast)
	some := make([]bool, len(cells))
	defer func() {
		if c.gap != nil {
			err = c.gap
		}
	}()
	for i, id := range cells {
		g.Go(func() (err error) {
			end, known := tail[id]
			some[i], err = c.page(ctx, id, end, known)
			return err
		})
	}
	err = g.Wait()
	return slices.Contains(some, true), err
}

// page delivers the next changes of a cell whose log ends at end, if that is known, or later, and reports whether there
// are more of them. Those that arrive until the next look are read together. A cell that was added later is read from
// the beginning of its log.
func (c *recording) page(ctx context.Context, id cell.ID, end changelog.Seq, known bool) (more bool, err error) {
	c.mu.Lock()
	at := c.progress.Position.Cells[id]
	if known && at.At == end {
		delete(c.oldest, id)
		c.mu.Unlock()
		return false, nil
	}
	c.mu.Unlock()
	found, err := c.source.Changes(ctx, id, at.At, recordPage)
	if errors.Is(err, changelog.ErrTrimmed) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.gap = fmt.Errorf("%w: changes of cell %v after %d were trimmed before they were delivered: resume it to continue after them", ErrStop, id, at.At)
		return false, c.gap
	}
	if err != nil {
		return false, fmt.Errorf("read the log of cell %v after %d: %w", id, at.At, err)
	}
	changes := make([]Change, len(found))
	for i := range found {
		changes[i] = Change{id, found[i]}
	}
	c.mu.Lock()
	if delete(c.oldest, id); len(found) > 0 {
		c.oldest[id] = found[0].Time
	}
	c.mu.Unlock()
	if len(found) == 0 {
		return false, nil
	}
	n, err := c.target.DeliverChanges(ctx, changes)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		last := found[n-1]
		c.progress.Position.Cells[id] = CellPosition{At: last.Seq, Time: last.Time, Filled: true}
		c.progress.Delivered += int64(n)
		c.progress.Trouble = ""
	}
	if err != nil && ctx.Err() == nil {
		c.progress.Failed++
		c.progress.Trouble = err.Error()
	}
	return n > 0 && (found[n-1].Seq < end || n == recordPage), err
}

// save stores the progress now and then, also to learn whether the sink should end, and at once if now is set: each
// time is a write to the installation, and after a crash the changes since the last one are delivered again.
func (c *recording) save(ctx context.Context, now bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.now().UTC()
	if !now && at.Sub(c.progress.Saved) < saveEvery {
		return nil
	}
	p := c.progress
	p.Saved = at
	p.Position.Cells = maps.Clone(p.Position.Cells)
	if _, err := c.store.Save(ctx, c.token, p); err != nil { // there are no dead letters to ask for
		return fmt.Errorf("write the position of the sink: %w", err)
	}
	c.progress.Saved = at
	return nil
}

// lag returns for how long the oldest change has been waiting, 0 if no change is.
func (c *recording) lag() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	oldest := now
	for _, t := range c.oldest {
		if t.Before(oldest) {
			oldest = t
		}
	}
	return now.Sub(oldest)
}
