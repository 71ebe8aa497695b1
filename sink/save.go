// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
)

// askEvery is how often the store is asked for requests if there is nothing to save.
const askEvery = 3 * time.Second

// save stores the progress if there was any, and carries out the requests made since. It also does if the target is
// away, so that others learn why.
func (f *feed) save(ctx context.Context) error {
	swept := f.sweep(ctx)
	if errors.Is(swept, ErrStop) || errors.Is(swept, ErrFenced) {
		return swept
	}
	f.mu.Lock()
	f.dirty = swept != nil
	p := f.progress
	p.Dead = slices.SortedFunc(maps.Values(f.dead), func(a, b Letter) int { return a.ID.Compare(b.ID) })
	f.mu.Unlock()
	p.Position, p.Saved = *f.position(nil), f.now().UTC()
	asked, err := f.store.Save(ctx, f.lease, p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.dirty = true
		return fmt.Errorf("write the position of the sink: %w", err)
	}
	f.progress.Saved = p.Saved
	for _, r := range asked {
		if r.Resend {
			f.again[r.ID], f.dirty = true, true
		}
		for id := range f.dead {
			if r.ID.IsZero() || r.ID == id {
				delete(f.dead, id)
				f.again[id] = f.again[id] || !r.Drop
				if !f.again[id] {
					delete(f.again, id)
				}
				f.dirty = true
			}
		}
	}
	return swept
}

// saveIfDue saves if there was progress, or at least every few seconds, to learn of requests.
func (f *feed) saveIfDue(ctx context.Context) error {
	f.mu.Lock()
	due := f.dirty || f.now().Sub(f.progress.Saved) >= askEvery
	f.mu.Unlock()
	if !due {
		return nil
	}
	return f.save(ctx)
}

// sweep ends a fill, once every ID was delivered. A target that stores positions gets the newest one, too, since
// events may have been acknowledged that were not sent.
func (f *feed) sweep(ctx context.Context) error {
	at := f.position(nil)
	f.mu.Lock()
	due := !at.Swept && at.Filled() && len(f.again) == 0 && len(f.dead) == 0
	dirty := f.dirty
	f.mu.Unlock()
	if f.keeps && (due || dirty) {
		b := Batch{Token: f.token}
		if due {
			b.Sweep = at.Base
		}
		if err := f.send(ctx, nil, b); err != nil {
			return f.failed(ctx, fmt.Errorf("store the position in the target: %w", err))
		}
		f.mu.Lock()
		f.progress.Trouble = ""
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if due && f.base == at.Base {
		f.swept, f.dirty = true, true
	}
	return nil
}

// notice notes the ends of the logs, and returns the cells that have to be read.
func (f *feed) notice(tail map[cell.ID]changelog.Seq) (due []cell.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, l := range f.logs {
		end, known := tail[id]
		switch {
		case known && l.read.Filled && (end == l.seen || end == l.read.At):
			l.due = time.Time{}
			continue
		case l.due.IsZero():
			l.due = f.now()
		}
		due = append(due, id)
	}
	return due
}

// lag returns for how long the oldest change has been waiting, 0 if no change is.
func (f *feed) lag() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := f.now()
	now := oldest
	for _, l := range f.logs {
		if len(l.pages) > 0 && l.pages[0].since.Before(oldest) {
			oldest = l.pages[0].since
		}
		if !l.read.Filled && f.begun.Before(oldest) {
			oldest = f.begun
		}
		if !l.due.IsZero() && l.due.Before(oldest) {
			oldest = l.due
		}
	}
	return now.Sub(oldest)
}
