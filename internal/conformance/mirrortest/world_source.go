// SPDX-License-Identifier: Apache-2.0

package mirrortest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// IDs returns all birth IDs ever issued, in order.
func (w *World) IDs() []locality.ID {
	return slices.SortedFunc(maps.Keys(w.homes), locality.ID.Compare)
}

// Cells returns the cells.
func (w *World) Cells() []cell.ID {
	ids := make([]cell.ID, len(w.cells))
	for i, c := range w.cells {
		ids[i] = c.id
	}
	return ids
}

// Installation implements mirror.Source.
func (w *World) Installation(context.Context) (string, []cell.ID, error) {
	return "world", w.Cells(), w.Pause()
}

// Tail implements mirror.Source.
func (w *World) Tail(context.Context) (map[cell.ID]changelog.Seq, error) {
	err := w.Pause()
	tail := map[cell.ID]changelog.Seq{}
	for _, c := range w.cells {
		tail[c.id] = c.last
	}
	return tail, err
}

// Changes implements mirror.Source.
func (w *World) Changes(_ context.Context, of cell.ID, after changelog.Seq, limit int) ([]changelog.Change, error) {
	if err := w.Pause(); err != nil {
		return nil, err
	}
	c := w.cells[of.Index]
	if after < c.trimmed {
		return nil, fmt.Errorf("%w: beyond %d", changelog.ErrTrimmed, after)
	}
	changes := slices.Clone(c.log[after:])
	return changes[:min(len(changes), limit, 1+w.IntN(5))], nil
}

// ListStates implements mirror.Source.
func (w *World) ListStates(_ context.Context, of cell.ID, after locality.ID, limit int) ([]mirror.State, error) {
	if err := w.Pause(); err != nil {
		return nil, err
	}
	var ids []locality.ID
	for _, id := range slices.SortedFunc(maps.Keys(w.cells[of.Index].births), locality.ID.Compare) {
		if id.Compare(after) > 0 {
			ids = append(ids, id)
		}
	}
	return w.read(ids[:min(len(ids), limit, 1+w.IntN(5))])
}

// States implements mirror.Source.
func (w *World) States(_ context.Context, ids []locality.ID, records []entity.PUID) ([]mirror.State, error) {
	if err := w.Pause(); err != nil {
		return nil, err
	}
	ids = slices.Clone(ids)
	for _, p := range records {
		if r := w.home(p).records[p]; r != nil && !r.Deleted() {
			ids = append(ids, r.Birth)
		}
	}
	slices.SortFunc(ids, locality.ID.Compare)
	return w.read(slices.Compact(ids))
}

// read reads a snapshot of the home of each ID, and then, perhaps much later, of the cells that their redirects
// lead to.
func (w *World) read(ids []locality.ID) ([]mirror.State, error) {
	states := make([]mirror.State, len(ids))
	records := make([]*entity.Record, len(ids))
	for i, id := range ids {
		w.Tick++
		s := &states[i]
		s.ID, s.Kind = id, mirror.Unknown
		c := w.homes[id]
		if c == nil {
			continue
		}
		s.Cell, s.At = c.id, changelog.Seq(w.Tick) // represents the moment at which the state was true
		switch b := c.births[id]; {
		case b.PUID == 0 && b.Successor.IsZero():
			s.Kind = mirror.Deleted
		case b.PUID == 0:
			s.Kind, s.To = mirror.Redirect, b.Successor
		default:
			rec := c.records[b.PUID]
			if rec.Anchor != rec.PUID {
				s.Kind, records[i] = mirror.Redirect, rec
				continue
			}
			e := c.entities[rec.PUID]
			if e == nil {
				e = &entity.Entity{ID: id, Kind: "place", Members: []entity.Member{{PUID: rec.PUID, Version: rec.Version}},
					Stamp: uint64(rec.Version)}
				s.Settling = true
			}
			s.Kind, s.Thing = mirror.Entity, mirror.ThingOf(e, nil)
		}
	}
	if err := w.Pause(); err != nil {
		return nil, err
	}
	for i, rec := range records {
		if rec == nil {
			continue
		}
		s := &states[i]
		e := w.home(rec.Anchor).entities[rec.Anchor]
		if s.Settling = e == nil || !slices.ContainsFunc(e.Members, func(m entity.Member) bool { return m.PUID == rec.PUID }); !s.Settling {
			s.To = e.ID
		}
	}
	return states, nil
}
