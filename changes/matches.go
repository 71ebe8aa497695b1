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
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// Match is a record that joined an existing entity.
type Match struct {
	Time   time.Time   `json:"time"`
	Record entity.Ref  `json:"record"`
	Name   string      `json:"name"`
	Entity locality.ID `json:"entity"`
}

const (
	// maxJoins is how many matches Matches returns.
	maxJoins = 20
	// joinsBack is how many changes of a log are scanned at most, joinsPage how many are read at once: a change of a
	// large entity names all of its records.
	joinsBack = 512
	joinsPage = 32
)

// Matches returns the latest records that joined an entity, the newest first, at most 20. It reads the logs of the
// cells, so matches by every process are included; records deleted since are not. For an unreachable cell it returns
// what it read last.
func (h *Handle) Matches(ctx context.Context) []Match {
	ids := h.engine.Map().Cells()
	lists := make([][]joined, len(ids))
	engine.Parallel(len(ids), func(i int) {
		ctx, cancel := context.WithTimeout(ctx, engine.CellPatience)
		defer cancel()
		known := h.matches.of(ids[i])
		if err := h.engine.View(ctx, ids[i], func(tx storage.Tx) (err error) {
			known, err = known.further(ctx, tx)
			return err
		}); err == nil {
			h.matches.learn(ids[i], known)
		}
		lists[i] = known.joins
	})
	latest := slices.Concat(lists...)
	slices.SortStableFunc(latest, func(a, b joined) int { return b.at.Compare(a.at) })
	latest = latest[:min(len(latest), maxJoins)]
	lines := make([]*Match, len(latest))
	engine.Parallel(len(latest), func(i int) {
		if rec, err := h.engine.Record(ctx, latest[i].record); err == nil {
			lines[i] = &Match{Time: latest[i].at, Record: rec.Ref, Entity: latest[i].entity}
			if schema := h.engine.Schema(rec.Kind); schema != nil {
				lines[i].Name = schema.NameOf(rec.Attributes)
			}
		}
	})
	joins := make([]Match, 0, len(lines))
	for _, line := range lines {
		if line != nil {
			joins = append(joins, *line)
		}
	}
	return joins
}

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
	floor := max(t.at, bounds.Trimmed, bounds.Last-joinsBack)
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

// joinsOf lists the records that joined an entity by a change, the youngest first: those it did not have before, except
// the one that founded it. If another entity was merged in, only the youngest of its records is listed.
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
