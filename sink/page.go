// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/mirror"
)

// cellLog is how far a cell was read, and the pages that are not acknowledged, in order.
type cellLog struct {
	at    CellPosition // acknowledged
	read  CellPosition
	pages []*page
	seen  changelog.Seq // end of the log when it had no more changes
	due   time.Time     // time of the oldest change that was found but not read
}

// page is a part of a log, or of the IDs of a cell, whose IDs are being delivered.
type page struct {
	log   *cellLog
	left  int // IDs that are not acknowledged
	end   CellPosition
	since time.Time // of its oldest change
}

// read reads the next page of a cell, whose log ends at end or later, and reports whether there may be another one.
func (f *feed) read(ctx context.Context, id cell.ID, end changelog.Seq) (more bool, err error) {
	f.mu.Lock()
	l := f.logs[id]
	at, wait := l.read, f.full() || l.read.Filled && len(f.again) > mostAgain
	f.mu.Unlock()
	switch {
	case wait:
		return false, nil
	case !at.Filled:
		return true, f.fill(ctx, id, l, at)
	}
	return f.follow(ctx, id, l, at, end)
}

// fill reads the next page of IDs with their states.
func (f *feed) fill(ctx context.Context, id cell.ID, l *cellLog, at CellPosition) error {
	f.mu.Lock()
	f.listings++
	f.mu.Unlock()
	states, err := f.source.ListStates(ctx, id, at.After, mirror.MostStates)
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() {
		if f.listings--; f.listings == 0 {
			clear(f.reread)
		}
	}()
	if err != nil {
		return fmt.Errorf("list the ids of cell %v: %w", id, err)
	}
	if f.logs[id] != l {
		return nil
	}
	p := &page{log: l, end: at, since: f.begun}
	for i := range states {
		s := &states[i]
		if s.Settling {
			f.again[s.ID] = true
			continue
		}
		// A lane that was done with the ID since the page was requested may have read a newer state.
		if _, newer := f.reread[s.ID]; newer {
			f.enqueue(s.ID, nil, p)
		} else {
			f.enqueue(s.ID, s, p)
		}
	}
	if len(states) == 0 {
		p.end.Filled = true
	} else {
		p.end.After = states[len(states)-1].ID
		p.end.Count += int64(len(states))
	}
	f.append(p)
	return nil
}

// follow reads the next changes of a log. If there are none, the log is not read again until its end moves. There is no
// more for now once the end is reached: changes that arrive until the next look are read together, and an ID that they
// touch several times is delivered once.
func (f *feed) follow(ctx context.Context, id cell.ID, l *cellLog, at CellPosition,
	end changelog.Seq) (more bool, err error) {
	changes, err := f.source.Changes(ctx, id, at.At, changesPage)
	switch {
	case errors.Is(err, changelog.ErrTrimmed):
		return true, f.begin(ctx, l)
	case err != nil:
		return false, fmt.Errorf("read the log of cell %v after %d: %w", id, at.At, err)
	case len(changes) == 0:
		f.mu.Lock()
		defer f.mu.Unlock()
		l.seen, l.due = end, time.Time{}
		return false, nil
	}
	ids, err := mirror.Touched(ctx, f.source, changes)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.logs[id] != l {
		return true, nil
	}
	last := changes[len(changes)-1]
	p := &page{log: l, end: at, since: changes[0].Time}
	p.end.At, p.end.Time = last.Seq, last.Time
	for _, id := range ids {
		f.enqueue(id, nil, p)
	}
	f.append(p)
	return last.Seq < end || len(changes) == changesPage, nil
}

// append adds a page that was read.
func (f *feed) append(p *page) {
	p.log.read = p.end
	p.log.pages = append(p.log.pages, p)
	f.advance(p.log)
}

// advance moves the position of a cell past the pages that are acknowledged.
func (f *feed) advance(l *cellLog) {
	for len(l.pages) > 0 && l.pages[0].left == 0 {
		l.at, f.dirty = l.pages[0].end, true
		l.pages = l.pages[1:]
	}
}
