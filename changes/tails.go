// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

const (
	// maxJoins is how many matches Matches returns.
	maxJoins = 20
	// joinsBack is how many changes of a log are scanned at most, joinsPage how many are read at once: a change of a
	// large entity names all of its records.
	joinsBack = 512
	joinsPage = 32
)

// joined is a record that became a member of an entity.
type joined struct {
	at     time.Time
	record entity.PUID
	entity locality.ID
}

// tail is the end of a log: its latest joins, the newest first, and the position up to which the log was read.
type tail struct {
	at    changelog.Seq
	joins []joined
}

// further reads on to the end of the log.
func (t tail) further(ctx context.Context, log changelog.Store) (tail, error) {
	bounds, err := log.Bounds(ctx)
	if err != nil || bounds.Last == t.at {
		return t, err
	}
	if bounds.Last < t.at { // the cell was restored from a backup
		t = tail{}
	}
	floor := max(t.at, bounds.Tail(joinsBack))
	var found []joined
	for end := bounds.Last; end > floor && len(found) < maxJoins; end -= joinsPage {
		changes, err := log.Changes(ctx, max(end-joinsPage, floor), joinsPage)
		if err != nil {
			return t, err
		}
		for _, c := range slices.Backward(changes) {
			if c.Seq <= end {
				found = append(found, joinsOf(c)...)
			}
		}
	}
	found = append(found, t.joins...)
	return tail{bounds.Last, found[:min(len(found), maxJoins)]}, nil
}

// joinsOf lists the records that joined an entity by a change, the youngest first, without the record that created it.
// If another entity was merged in, only the youngest of its records is listed.
func joinsOf(c changelog.Change) (joins []joined) {
	switch {
	case c.Cause != changelog.CausePut && c.Cause != changelog.CauseRedo:
		return nil
	case c.Kind != changelog.Created && c.Kind != changelog.Changed && c.Kind != changelog.Merged:
		return nil
	}
	before := make(map[entity.PUID]bool, len(c.Before))
	for _, v := range c.Before {
		before[v.PUID] = true
	}
	after := c.After
	if len(before) == 0 && len(after) > 0 {
		after = after[1:]
	}
	for _, v := range slices.Backward(after) {
		if before[v.PUID] {
			continue
		}
		joins = append(joins, joined{c.Time, v.PUID, c.Entity})
		if c.Kind == changelog.Merged || len(joins) == maxJoins {
			break
		}
	}
	return joins
}

// tails caches the tail of each cell's log. The zero value is ready to use.
type tails struct {
	mu    sync.Mutex
	cells map[cell.ID]tail
}

func (t *tails) of(id cell.ID) tail {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cells[id]
}

// learn stores a tail. Concurrent readers may store an older one last; the next read corrects that.
func (t *tails) learn(id cell.ID, read tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cells == nil {
		t.cells = map[cell.ID]tail{}
	}
	t.cells[id] = read
}
