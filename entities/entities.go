// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// Handle reads entities. Get it from DB.Entities of package locus. It is safe for concurrent use.
type Handle struct {
	engine  *engine.Engine
	records *records.Handle
	words   *words
}

// New returns the entities handle of an installation.
func New(e *engine.Engine, r *records.Handle) *Handle { return &Handle{e, r, new(words)} }

// Entity is an entity together with the id that was requested.
type Entity struct {
	*entity.Entity
	// Requested is the id the caller asked for. It differs from ID if that id was merged away; both resolve to this
	// entity for ever.
	Requested locality.ID
}

// Redirected reports whether the entity was requested by a former id.
func (e *Entity) Redirected() bool { return e.Requested != e.ID }

// Get returns the entity that an id resolves to. An id that was merged away resolves to the surviving entity for ever.
// The error is entity.ErrNotFound for an id that was never minted, entity.ErrErased if the last record behind it was
// deleted, and a *locus.InvalidError for an id that is not of version b.
func (h *Handle) Get(ctx context.Context, id locality.ID) (*Entity, error) {
	if err := engine.CheckID("/id", id); err != nil {
		return nil, err
	}
	passed := map[locality.ID]bool{} // two records deleted together may point to each other
	for at, seen := id, 0; ; seen++ {
		home, err := engine.Locate(ctx, h.engine, at, (*cell.Map).Entity)
		if err != nil {
			return nil, fmt.Errorf("entity %v: %w", id, err)
		}
		var birth *entity.Birth
		if err := h.engine.View(ctx, home, func(tx storage.Tx) error {
			births, err := tx.Births(ctx, []locality.ID{at})
			if err == nil {
				birth = births[0]
			}
			return err
		}); err != nil {
			return nil, err
		}
		switch {
		case birth == nil:
			return nil, fmt.Errorf("entity %v: %w", id, entity.ErrNotFound)
		case birth.PUID == 0 && (birth.Successor.IsZero() || passed[at]):
			return nil, fmt.Errorf("entity %v: %w", id, entity.ErrErased)
		case birth.PUID == 0:
			passed[at] = true
			at = birth.Successor
			continue
		}
		e, err := h.engine.EntityOf(ctx, birth.PUID)
		if err != nil {
			return nil, err
		}
		if e != nil {
			return &Entity{Entity: e, Requested: id}, nil
		}
		if seen > maxReread {
			return nil, fmt.Errorf("%w: entity %v is changing, try again", engine.ErrUnavailable, id)
		}
	}
}

// maxReread is how many times Get starts again because of a concurrent merge.
const maxReread = 1000

// Find resolves an address to its entity: an entity id, a puid or SOURCE:KEY. Only an id can be redirected. The error
// is a *locus.InvalidError for any other address.
func (h *Handle) Find(ctx context.Context, address string) (*Entity, error) {
	if id, err := locality.Parse(address); err == nil {
		if err := engine.CheckID("/address", id); err != nil {
			return nil, err
		}
		return h.Get(ctx, id)
	}
	rec, err := h.Record(ctx, address)
	if err != nil {
		return nil, err
	}
	e, err := h.Get(ctx, rec.Birth)
	if err != nil {
		return nil, err
	}
	return &Entity{Entity: e.Entity, Requested: e.ID}, nil
}

// Record reads the record at an address: a puid, SOURCE:KEY, or an entity id, which means the entity's anchor. The
// error is a *locus.InvalidError for any other address, entity.ErrNotFound or entity.ErrErased.
func (h *Handle) Record(ctx context.Context, address string) (*entity.Record, error) {
	if id, err := locality.Parse(address); err == nil {
		if err := engine.CheckID("/address", id); err != nil {
			return nil, err
		}
		e, err := h.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return h.engine.Record(ctx, e.Anchor())
	}
	if puid, err := entity.ParsePUID(address); err == nil {
		return h.engine.Record(ctx, puid)
	}
	ref, err := records.ParseRef(address)
	if err != nil {
		return nil, err
	}
	return h.records.Stored(ctx, ref)
}

// Members reads the records of an entity, in the order of its members. Records deleted since the entity was read are
// left out.
func (h *Handle) Members(ctx context.Context, e *entity.Entity) ([]*entity.Record, error) {
	records, err := h.engine.Records(ctx, e.PUIDs())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(rec *entity.Record) bool { return rec == nil || rec.Deleted() }), nil
}
