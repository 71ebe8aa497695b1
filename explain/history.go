// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// History lists the changes of an entity and its records that are still in the logs: their puts, their former entities,
// and the merges and splits.
type History struct {
	Entity *entity.Entity `json:"entity"`
	// Events are in ascending order of time. The order across cells depends on their clocks.
	Events []changes.Change `json:"events"`
	// Since is the time from which Events is complete; zero means from the beginning.
	Since time.Time `json:"since,omitzero"`
}

// Limits on how many changes are scanned in each cell, from the end of its log, and on how many events are returned.
// The scan is needed because logs are not indexed by entity.
const (
	eventsOfHow     = 100
	eventsOfHistory = 20_000
	maxEvents       = 1000
)

// History returns what the logs still contain about an entity.
func (h *Handle) History(ctx context.Context, id locality.ID) (*History, error) {
	e, err := h.entities.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	records, err := h.entities.Members(ctx, e.Entity)
	if err != nil {
		return nil, err
	}
	hist := &History{Entity: e.Entity}
	hist.Events, hist.Since, err = h.events(ctx, records, e.Entity.PUIDs(), eventsOfHistory)
	return hist, err
}

// events reads the changes of some of the records and of the entities named after them.
func (h *Handle) events(ctx context.Context, records []*entity.Record, members []entity.PUID,
	most int) (events []changes.Change, since time.Time, err error) {
	about := map[locality.ID]bool{}
	var cells []cell.ID
	for _, rec := range records {
		if !slices.Contains(members, rec.PUID) {
			continue
		}
		home, err := h.engine.LocateRecord(ctx, rec.PUID)
		if err != nil {
			return nil, since, err
		}
		about[rec.Birth] = true
		cells = append(cells, home)
	}
	slices.SortFunc(cells, cell.ID.Compare)
	cells = slices.Compact(cells)
	found, froms := make([][]changes.Change, len(cells)), make([]time.Time, len(cells))
	if err := h.engine.Parallel(cells, func(i int, id cell.ID) error {
		return h.engine.View(ctx, id, func(tx storage.Tx) (err error) {
			found[i], froms[i], err = eventsIn(ctx, tx, id, about, most)
			return err
		})
	}); err != nil {
		return nil, since, fmt.Errorf("read the logs: %w", err)
	}
	events = slices.Concat(found...)
	for _, from := range froms {
		if from.After(since) {
			since = from
		}
	}
	slices.SortStableFunc(events, func(a, b changes.Change) int { return a.Time.Compare(b.Time) })
	if n := len(events) - maxEvents; n > 0 {
		events, since = events[n:], events[n].Time
	}
	if events == nil {
		events = []changes.Change{}
	}
	return events, since, nil
}

// eventsIn scans the end of a log; from is the time from which the result is complete.
func eventsIn(ctx context.Context, tx storage.Tx, id cell.ID, about map[locality.ID]bool,
	most int) (events []changes.Change, from time.Time, err error) {
	bounds, err := tx.Bounds(ctx)
	if err != nil {
		return nil, from, err
	}
	at := bounds.Tail(most)
	begin := at
	for at < bounds.Last {
		page, err := tx.Changes(ctx, at, min(most, 1000))
		if err != nil || len(page) == 0 {
			return events, from, err
		}
		if begin > 0 && from.IsZero() {
			from = page[0].Time
		}
		for _, c := range page {
			if about[c.Entity] {
				c.Was, c.Is = nil, nil
				events = append(events, changes.Change{Cell: id, Change: c})
			}
		}
		at = page[len(page)-1].Seq
	}
	return events, from, nil
}
