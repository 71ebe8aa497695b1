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

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

const (
	// changesPage is the number of changes read at once.
	changesPage = 500
	// mostWaiting is how many IDs may wait for a lane: then reading pauses.
	mostWaiting = 4000
	// mostAgain limits the IDs to be read again with which the logs are still followed.
	mostAgain = 10_000
	// eraBits is how many owners an era has: 2^14.
	eraBits = 14
)

// feed is the work of one owner, in steps that the runner schedules: start, read, deliver, settle, save. It has no
// goroutine, and no decision depends on a clock. Steps may run concurrently, except read of the same cell and the
// steps of one lane.
type feed struct {
	source       mirror.Source
	target       Sink
	store        Store
	adopt        string // see Options
	above        int64
	kind         string // deliver only entities of this kind, "" for all
	installation string
	lease        int64 // token of the lease
	token        int64 // token of the revs
	batch, most  int   // IDs in a delivery, and that wait before reading pauses
	now          func() time.Time
	keeps        bool       // the target stores positions
	serial       sync.Mutex // calls of Deliver by a target that stores positions

	mu       sync.Mutex
	counter  int64
	begun    time.Time
	base     int64
	swept    bool
	logs     map[cell.ID]*cellLog
	lanes    [][]*entry // IDs waiting for each lane
	entries  map[locality.ID]*entry
	again    map[locality.ID]bool
	dead     map[locality.ID]Letter
	listings int                      // pages of IDs being read
	reread   map[locality.ID]struct{} // IDs acknowledged during that
	progress Progress                 // its counts and trouble
	began    Progress                 // as it was loaded
	dirty    bool                     // something changed since the last save
}

// entry is an ID that waits for its lane, or is in it.
type entry struct {
	id      locality.ID
	state   *mirror.State // as listed by a fill, or read ahead; nil to read it
	touched int           // how often it was enqueued again
	pages   []*page
	queued  bool // waits; if taken, too, it was touched since
	taken   bool
}

func newFeed(source mirror.Source, target Sink, store Store, lanes, batch int, kind string,
	now func() time.Time) *feed {
	return &feed{
		source: source, target: target, store: store, kind: kind, batch: batch, most: mostWaiting, now: now,
		lanes: make([][]*entry, lanes), entries: map[locality.ID]*entry{}, again: map[locality.ID]bool{},
		dead: map[locality.ID]Letter{}, reread: map[locality.ID]struct{}{},
	}
}

// start continues from the stored position under a token of the lease. It begins a fill if there is none.
func (f *feed) start(ctx context.Context, lease int64) error {
	installation, cells, err := f.source.Installation(ctx)
	if err != nil {
		return fmt.Errorf("read the cell map: %w", err)
	}
	p, err := f.store.Load(ctx)
	if err != nil {
		return fmt.Errorf("read the position of the sink: %w", err)
	}
	at, err := f.target.Position(ctx)
	switch {
	case err == nil:
		f.keeps = true
		at.Again = sorted(append(at.Again, p.Position.Again...)) // dead letters to be delivered again
	case errors.Is(err, ErrNoPosition):
		at = p.Position
	default:
		return fmt.Errorf("read the position in the target: %w", err)
	}
	f.installation, f.lease, f.token, f.progress, f.began = installation, lease, Token(f.above, p.Era, lease), p, p
	for _, l := range p.Dead {
		f.dead[l.ID] = l
	}
	if at.Installation == "" || at.Installation == f.adopt && f.adopt != installation {
		if err := f.begin(ctx, nil); err != nil {
			return err
		}
	} else if at.Installation != installation {
		return fmt.Errorf("%w: it belongs to the cell map %s, this one is %s: give the sink another target, or take this one over with locus sink adopt", ErrForeign, at.Installation, installation)
	} else {
		f.resume(at)
	}
	f.admit(cells)
	if f.keeps { // fences former owners
		if err := f.target.Deliver(ctx, Batch{Token: f.token, Position: f.position(nil)}); err != nil {
			return fmt.Errorf("claim the target: %w", err)
		}
	}
	f.progress.Trouble = "" // the target is there
	return f.save(ctx)
}

// resume sets the position.
func (f *feed) resume(at Position) {
	f.begun, f.base, f.swept = at.Begun, at.Base, at.Swept
	f.logs = make(map[cell.ID]*cellLog, len(at.Cells))
	for id, c := range at.Cells {
		f.logs[id] = &cellLog{at: c, read: c, seen: -1}
	}
	for _, id := range at.Again {
		f.again[id] = true
	}
	f.dirty = true
}

// begin begins a fill of all cells, unless one was begun since the caller found was.
func (f *feed) begin(ctx context.Context, was *cellLog) error {
	tail, err := f.source.Tail(ctx)
	if err != nil {
		return fmt.Errorf("read where the logs end: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if was != nil && !f.current(was) {
		return nil
	}
	at := Position{Begun: f.now().UTC().Truncate(time.Millisecond), Base: f.token<<revBits + f.counter + 1,
		Cells: map[cell.ID]CellPosition{}}
	for id, end := range tail {
		at.Cells[id] = CellPosition{At: end, Time: at.Begun}
	}
	clear(f.again)
	f.resume(at)
	return nil
}

// current reports whether a log was not replaced by a new fill.
func (f *feed) current(l *cellLog) bool {
	for _, other := range f.logs {
		if other == l {
			return true
		}
	}
	return false
}

// admit adds cells that are not read yet.
func (f *feed) admit(cells []cell.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range cells {
		if f.logs[id] == nil {
			at := CellPosition{Time: f.now().UTC().Truncate(time.Millisecond)}
			f.logs[id] = &cellLog{at: at, read: at, seen: -1}
			f.dirty = true
		}
	}
}

// full reports whether too many IDs wait to read further ones.
func (f *feed) full() bool { return len(f.entries) >= f.most }

// settle has the IDs that were settling read again.
func (f *feed) settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.again {
		if f.entries[id] == nil {
			f.enqueue(id, nil, nil)
		}
	}
}

// position returns the position after everything acknowledged, and after a delivery, nil for none.
func (f *feed) position(d *delivery) *Position {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := &Position{Installation: f.installation, Token: f.token, Begun: f.begun, Base: f.base, Swept: f.swept,
		Cells: make(map[cell.ID]CellPosition, len(f.logs))}
	acked, again := map[*page]int{}, maps.Clone(f.again)
	if d != nil {
		for _, it := range d.items {
			for _, p := range it.pages {
				acked[p]++
			}
			if delete(again, it.entry.id); it.again {
				again[it.entry.id] = true
			}
		}
	}
	for id, l := range f.logs {
		c := l.at
		for _, p := range l.pages {
			if p.left > acked[p] {
				break
			}
			c = p.end
		}
		at.Cells[id] = c
	}
	at.Again = sorted(slices.Collect(maps.Keys(again)))
	return at
}

// sorted returns IDs in order, each once.
func sorted(ids []locality.ID) []locality.ID {
	slices.SortFunc(ids, locality.ID.Compare)
	return slices.Compact(ids)
}
