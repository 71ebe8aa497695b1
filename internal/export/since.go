// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/records"
)

// eachChange reads the logs from the watermark of the query to their end.
func (b *builder) eachChange(ctx context.Context, fn func(*changelog.Change)) error {
	for at := b.query.Since; ; {
		page, next, err := b.db.Changes().Read(ctx, changes.Query{After: at, Limit: locus.MaxLimit})
		if err != nil {
			return err
		}
		for i := range page {
			fn(&page[i].Change)
		}
		if len(page) < locus.MaxLimit {
			return nil
		}
		at = next
	}
}

// changedRecords returns the records that were put or deleted after the watermark, as they are now, in the order of
// puids; with links, also those that were in an entity that has changed. It keeps their puids in memory, 8 bytes each.
func (b *builder) changedRecords(ctx context.Context, links bool) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		touched := map[entity.PUID]struct{}{}
		if err := b.eachChange(ctx, func(c *changelog.Change) {
			if !links && !c.Kind.OfRecord() {
				return
			}
			for _, versions := range [][]changelog.Version{c.Before, c.After} {
				for _, v := range versions {
					touched[v.PUID] = struct{}{}
				}
			}
		}); err != nil {
			yield(nil, err)
			return
		}
		for page := range slices.Chunk(slices.Sorted(maps.Keys(touched)), locus.MaxLimit) {
			found, err := b.db.Records().ByPUID(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, rec := range found {
				if rec == nil || b.query.Source != "" && rec.Source != b.query.Source || b.query.Kind != "" && !rec.Deleted() &&
					rec.Kind != b.query.Kind {
					continue
				}
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// changedEntities yields the state of the ids that a change after the watermark is about, in the order of ids. It keeps
// the ids in memory, 16 bytes each.
func (b *builder) changedEntities(ctx context.Context, yield func(exchange.Row, error) bool) {
	touched := map[locality.ID]struct{}{}
	if err := b.eachChange(ctx, func(c *changelog.Change) {
		if !c.Kind.OfRecord() {
			touched[c.Entity] = struct{}{}
		}
	}); err != nil {
		yield(nil, err)
		return
	}
	for page := range slices.Chunk(slices.SortedFunc(maps.Keys(touched), locality.ID.Compare), mirror.MostStates) {
		states, err := b.states(ctx, page)
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range states {
			if row := b.state(&states[i]); row != nil && !yield(row, nil) {
				return
			}
		}
	}
}

// rereads is how often states are read until none is settling.
const rereads = 100

// states reads the states of ids, again while some are settling, ordered by id.
func (b *builder) states(ctx context.Context, ids []locality.ID) (states []mirror.State, err error) {
	for try := 0; len(ids) > 0; try++ {
		found, err := b.db.Changes().States(ctx, ids, nil)
		if err != nil {
			return nil, err
		}
		ids = nil
		for i := range found {
			if found[i].Settling {
				ids = append(ids, found[i].ID)
			} else {
				states = append(states, found[i])
			}
		}
		if try == rereads {
			return nil, fmt.Errorf("%w: %d entities are being resolved: try again", locus.ErrUnavailable, len(ids))
		}
	}
	slices.SortFunc(states, func(x, y mirror.State) int { return x.ID.Compare(y.ID) })
	return states, nil
}

// state returns the row of a state, nil if the query leaves it out. The kind and the sources of an id that is no longer
// an entity's are unknown, so redirects and deletions are rows of every kind and source.
func (b *builder) state(s *mirror.State) exchange.Row {
	b.begin()
	b.set(columnEntity, s.ID.String())
	switch s.Kind {
	case mirror.Entity:
		if b.query.Kind != "" && s.Thing.Kind != b.query.Kind || b.query.Source != "" &&
			!hasSource(s.Thing.Members, b.query.Source) {
			return nil
		}
		b.entity(s.ID, s.Thing.Kind, s.Thing.Members)
		schema := b.db.Kinds().Schema(s.Thing.Kind)
		for _, a := range s.Thing.Attributes {
			b.shown(schema, a.Name, a.Values)
		}
	case mirror.Redirect:
		b.set(columnOp, OpRedirect)
		b.set(columnInto, s.To.String())
	default:
		b.set(columnOp, OpDelete)
	}
	return b.row
}
