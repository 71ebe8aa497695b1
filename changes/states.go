// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/storage"
)

// Source is an installation as package mirror follows it: mirror.New(db.Changes().Source(), target, nil).
type Source struct{ changes *Handle }

var _ mirror.Source = (*Source)(nil)

// Source returns the installation as a source for package mirror.
func (h *Handle) Source() *Source { return &Source{h} }

// Installation implements mirror.Source. If several processes share the cells, it reads the newest map first.
func (s *Source) Installation(ctx context.Context) (string, []cell.ID, error) {
	if err := s.changes.engine.Refresh(ctx); err != nil {
		return "", nil, err
	}
	return s.changes.engine.Map().Spec().ID, s.changes.engine.Map().Cells(), nil
}

// Tail implements mirror.Source.
func (s *Source) Tail(ctx context.Context) (map[cell.ID]changelog.Seq, error) {
	return s.changes.Tail(ctx, nil)
}

// Changes implements mirror.Source.
func (s *Source) Changes(ctx context.Context, of cell.ID, after changelog.Seq, limit int) ([]changelog.Change, error) {
	found, _, err := s.changes.Read(ctx, Query{Cells: []cell.ID{of}, After: changelog.Watermark{of: after}, Limit: limit})
	changes := make([]changelog.Change, len(found))
	for i := range found {
		changes[i] = found[i].Change
	}
	return changes, err
}

// ListStates implements mirror.Source.
func (s *Source) ListStates(ctx context.Context, of cell.ID, after locality.ID, limit int) ([]mirror.State, error) {
	page, _, err := s.changes.ListStates(ctx, of, after, limit)
	return page, err
}

// States implements mirror.Source.
func (s *Source) States(ctx context.Context, ids []locality.ID, records []entity.PUID) ([]mirror.State, error) {
	return s.changes.States(ctx, ids, records)
}

// States returns what entity ids, and the birth ids of records, currently resolve to. Each state is read from one
// snapshot of its home cell and carries that cell's log position. A redirect whose target does not list the record yet
// is marked as settling. The states are in no particular order, each once. Missing and deleted records are left out; an
// id that was never minted has kind unknown. At most mirror.MostStates ids and records can be requested at once.
func (h *Handle) States(ctx context.Context, ids []locality.ID, records []entity.PUID) ([]mirror.State, error) {
	if n := len(ids) + len(records); n > mirror.MostStates {
		return nil, problem.Invalid("/ids", "invalid", "%d ids and records: at most %d per request", n, mirror.MostStates)
	}
	found, err := h.engine.Records(ctx, records)
	if err != nil {
		return nil, err
	}
	ids = slices.Clone(ids)
	for _, rec := range found {
		if rec != nil && !rec.Deleted() {
			ids = append(ids, rec.Birth)
		}
	}
	slices.SortFunc(ids, locality.ID.Compare)
	homes := map[cell.ID][]locality.ID{}
	states := make([]mirror.State, 0, len(ids))
	var following []led
	for _, id := range slices.Compact(ids) {
		home, err := engine.Locate(ctx, h.engine, id, (*cell.Map).Entity)
		switch {
		case errors.Is(err, entity.ErrNotFound), errors.Is(err, cell.ErrNoCell):
			states = append(states, mirror.State{ID: id, Kind: mirror.Unknown})
		case err != nil:
			return nil, fmt.Errorf("id %v: %w", id, err)
		default:
			homes[home] = append(homes[home], id)
		}
	}
	for home, group := range homes {
		some, err := h.statesIn(ctx, home, func(tx storage.Tx) ([]*entity.Birth, []locality.ID, error) {
			births, err := tx.Births(ctx, group)
			return births, group, err
		})
		if err != nil {
			return nil, err
		}
		following = append(following, some...)
	}
	return h.resolveRedirects(ctx, states, following)
}

// ListStates returns the states of the ids of a cell in order, those after the given id; next is the After of the next
// page, the zero id at the end. See States.
func (h *Handle) ListStates(ctx context.Context, of cell.ID, after locality.ID,
	limit int) (page []mirror.State, next locality.ID, err error) {
	if limit < 1 || limit > mirror.MostStates {
		return nil, next, problem.Invalid("/limit", "invalid", "limit %d: want 1 to %d", limit, mirror.MostStates)
	}
	if err := h.engine.CheckCell(ctx, of); err != nil {
		return nil, next, err
	}
	more := false
	some, err := h.statesIn(ctx, of, func(tx storage.Tx) ([]*entity.Birth, []locality.ID, error) {
		listed, err := tx.ListBirths(ctx, after, limit+1)
		more = len(listed) > limit
		listed = listed[:min(len(listed), limit)]
		births, ids := make([]*entity.Birth, len(listed)), make([]locality.ID, len(listed))
		for i := range listed {
			births[i], ids[i] = &listed[i], listed[i].ID
		}
		return births, ids, err
	})
	if err == nil {
		page, err = h.resolveRedirects(ctx, nil, some)
	}
	if more && err == nil {
		next = page[len(page)-1].ID
	}
	return page, next, err
}

// led is a state that may be a redirect of a live record to the entity of its anchor.
type led struct {
	mirror.State
	record, anchor entity.PUID // 0 if it is not
}

// statesIn reads the births of a cell and resolves them as far as that cell can, in one snapshot.
func (h *Handle) statesIn(ctx context.Context, home cell.ID,
	read func(storage.Tx) ([]*entity.Birth, []locality.ID, error)) ([]led, error) {
	var ids []locality.ID
	var births []*entity.Birth
	records, entities := map[entity.PUID]*entity.Record{}, map[entity.PUID]*entity.Entity{}
	var at changelog.Seq
	err := h.engine.View(ctx, home, func(tx storage.Tx) (err error) {
		if births, ids, err = read(tx); err != nil {
			return err
		}
		var puids, anchors []entity.PUID
		for _, b := range births {
			if b != nil && b.PUID != 0 {
				puids = append(puids, b.PUID)
			}
		}
		found, err := tx.Records(ctx, puids)
		if err != nil {
			return err
		}
		for _, rec := range found {
			if rec != nil && !rec.Deleted() {
				records[rec.PUID] = rec
				if rec.Anchor == rec.PUID {
					anchors = append(anchors, rec.PUID)
				}
			}
		}
		stored, err := tx.Entities(ctx, anchors)
		for i, e := range stored {
			entities[anchors[i]] = e
		}
		if err != nil {
			return err
		}
		bounds, err := tx.Bounds(ctx)
		at = bounds.Last
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the state of %d ids of cell %v: %w", len(ids), home, err)
	}
	states := make([]led, len(ids))
	for i, b := range births {
		states[i].ID, states[i].Cell, states[i].At = ids[i], home, at
		var rec *entity.Record
		if b != nil {
			rec = records[b.PUID]
		}
		if err := h.stateOf(ctx, &states[i], b, rec, entities); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// stateOf sets the state of a birth, given its record, if it exists, and the entities of the cell.
func (h *Handle) stateOf(ctx context.Context, to *led, b *entity.Birth, rec *entity.Record,
	entities map[entity.PUID]*entity.Entity) error {
	switch {
	case b == nil:
		to.Kind = mirror.Unknown
		return nil
	case b.PUID == 0 && b.Successor.IsZero():
		to.Kind = mirror.Deleted
		return nil
	case b.PUID == 0:
		to.Kind, to.To = mirror.Redirect, b.Successor
		return nil
	case rec == nil || rec.Birth != b.ID: // the cell was partly restored from a backup
		to.Kind, to.Settling = mirror.Unknown, true
		return nil
	case rec.Anchor != rec.PUID:
		to.Kind, to.record, to.anchor = mirror.Redirect, rec.PUID, rec.Anchor
		return nil
	}
	if err := h.engine.EnsureKind(ctx, rec.Kind); err != nil {
		return fmt.Errorf("record %v: %w", rec.PUID, err)
	}
	e := entities[rec.PUID]
	if e == nil {
		e, to.Settling = h.engine.Resolver.Alone(rec), true
	}
	schema := h.engine.Schema(e.Kind)
	to.Kind = mirror.Entity
	to.Thing = mirror.ThingOf(e, func(attribute string) bool {
		declared, ok := schema.Attribute(attribute)
		return ok && declared.Many
	})
	return nil
}

// resolveRedirects resolves redirects of live records. A redirect is final only if the target entity lists the record;
// until then a merge or a split is in progress.
func (h *Handle) resolveRedirects(ctx context.Context, states []mirror.State, following []led) ([]mirror.State, error) {
	var anchors []entity.PUID
	for _, l := range following {
		if l.anchor != 0 {
			anchors = append(anchors, l.anchor)
		}
	}
	slices.Sort(anchors)
	anchors = slices.Compact(anchors)
	stored, err := h.engine.Stored(ctx, anchors)
	if err != nil {
		return nil, fmt.Errorf("read the targets of redirects: %w", err)
	}
	entities := map[entity.PUID]*entity.Entity{}
	for i, e := range stored {
		entities[anchors[i]] = e
	}
	for i := range following {
		l := &following[i]
		if l.anchor != 0 {
			e := entities[l.anchor]
			if e != nil && slices.ContainsFunc(e.Members, func(m entity.Member) bool { return m.PUID == l.record }) {
				l.To = e.ID
			} else {
				l.Settling = true
			}
		}
		states = append(states, l.State)
	}
	return states, nil
}
