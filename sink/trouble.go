// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"time"
)

// note stores why the sink cannot run, and finds out since when changes have been waiting for it.
func (r *Runner) note(ctx context.Context, token int64, why error) {
	r.failed.Add(1)
	p, err := r.opts.Store.Load(ctx)
	if err != nil {
		return // the log has why
	}
	r.due.Store(r.waiting(ctx, &p))
	p.Trouble, p.Saved = why.Error(), r.opts.Now().UTC()
	p.Failed++
	asked, err := r.opts.Store.Save(ctx, token, p)
	if err == nil && len(asked) > 0 {
		for _, one := range asked {
			p.Apply(one)
		}
		_, _ = r.opts.Store.Save(ctx, token, p)
	}
}

// waiting returns since when the oldest change that stored progress does not cover has been waiting, nil if there is
// none. For an unfinished fill it is the start of the fill; a fill that could not begin has been due since this
// process's first attempt.
func (r *Runner) waiting(ctx context.Context, p *Progress) *time.Time {
	oldest := r.opts.Now()
	first := oldest
	if due := r.due.Load(); due != nil {
		first = *due
	}
	if r.opts.OpenChanges == nil && !p.Position.Filled() {
		if !p.Position.Begun.IsZero() {
			first = p.Position.Begun
		}
		return &first
	}
	tail, err := r.opts.Source.Tail(ctx)
	if err != nil {
		return r.due.Load()
	}
	waits := false
	for id, end := range tail {
		at := p.Position.Cells[id].At
		if end <= at {
			continue
		}
		waits = true
		since := first
		if next, err := r.opts.Source.Changes(ctx, id, at, 1); err == nil && len(next) > 0 {
			since = next[0].Time
		}
		if since.Before(oldest) {
			oldest = since
		}
	}
	if !waits {
		return nil
	}
	return &oldest
}
