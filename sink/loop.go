// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/lease"
)

// read looks for changes and puts the touched IDs into the lanes.
func (r *Runner) read(ctx context.Context, f *feed, lanes []chan struct{}, room chan struct{}) {
	reviewed, failed := time.Time{}, false
	for ctx.Err() == nil {
		if time.Since(reviewed) >= review {
			if _, cells, err := r.opts.Source.Installation(ctx); err == nil {
				f.admit(cells)
				reviewed = time.Now()
			}
		}
		tail, err := r.opts.Source.Tail(ctx)
		if err == nil {
			err = r.readDue(ctx, f, tail)
		} else if failed { // some cell is away: look into the others
			err = errors.Join(err, r.readDue(ctx, f, nil))
		}
		if err != nil && !failed && ctx.Err() == nil {
			r.opts.Logger.Warn("sink read failed in some cells", "sink", r.opts.Name, "err", err)
		}
		failed = err != nil
		f.settle()
		for _, c := range lanes {
			wake(c)
		}
		f.mu.Lock()
		full := f.full()
		f.mu.Unlock()
		switch {
		case full:
			rest(ctx, r.opts.Poll, room)
		case failed:
			rest(ctx, 4*r.opts.Poll, nil)
		default:
			rest(ctx, r.opts.Poll, r.wake)
		}
	}
}

// readDue reads a page of each cell that has one, until none has or too many IDs wait.
func (r *Runner) readDue(ctx context.Context, f *feed, tail map[cell.ID]changelog.Seq) error {
	var g errgroup.Group
	g.SetLimit(abreast)
	for _, id := range f.notice(tail) {
		g.Go(func() error {
			more, err := f.read(ctx, id, tail[id])
			if more {
				r.Wake()
			}
			return err
		})
	}
	return g.Wait()
}

// deliver works one lane.
func (r *Runner) deliver(ctx context.Context, f *feed, lane int, ready, room chan struct{}, b *backoff) error {
	for ctx.Err() == nil {
		d := f.take(lane)
		if d == nil {
			rest(ctx, review, ready)
			continue
		}
		before := b.successes.Load()
		for tries := 1; ; tries++ {
			tried, err := r.attempt(ctx, f, d, tries)
			if err == nil {
				if b.succeeded() && tries > 1 {
					r.opts.Logger.Info("sink delivery resumed", "sink", r.opts.Name)
				}
				wake(room)
				break
			}
			switch {
			case ctx.Err() != nil:
				return nil //nolint:nilerr // the end of the context is no error
			case errors.Is(err, ErrStop), errors.Is(err, ErrFenced):
				return err
			case tries >= poison && len(d.events) == 1 && b.successes.Load() > before:
				err = f.acknowledge(d, []Rejected{{
					ID: d.events[0].ID, Reason: fmt.Sprintf("given up after %d attempts: %v", tries, err),
				}})
			}
			if err == nil {
				break
			}
			if errors.Is(err, ErrStop) {
				return err
			}
			if b.failures.Add(1) == 1 {
				r.opts.Logger.WarnContext(tried, "sink delivery failed", "sink", r.opts.Name, "err", err)
			}
			b.wait(ctx, tries, len(f.lanes))
		}
	}
	return nil
}

// attempt tries to deliver. The context that it returns has the span of the attempt, for the log.
func (r *Runner) attempt(ctx context.Context, f *feed, d *delivery, tries int) (context.Context, error) {
	ctx, s := span.StartRoot(ctx, r.opts.Tracer, "sink delivery")
	s.Text("locus.sink", r.opts.Name)
	s.Number("locus.attempt", int64(tries))
	err := f.deliver(ctx, d)
	s.Number("locus.events", int64(len(d.events)))
	s.End(err)
	return ctx, err
}

// save stores the progress now and then.
func (r *Runner) save(ctx context.Context, f *feed) error {
	for rest(ctx, saveEvery, nil) {
		err := f.saveIfDue(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // nor here
		case errors.Is(err, lease.ErrLost), errors.Is(err, ErrStop), errors.Is(err, ErrFenced):
			return err
		}
	}
	return nil
}
