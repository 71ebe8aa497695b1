// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// Route describes which cell serves an address, and why. Exactly one of Key, PUID and ID is set, depending on the
// address.
type Route struct {
	Address string            `json:"address"`
	Key     *cell.KeyRoute    `json:"key,omitempty"`
	PUID    *cell.PuidRoute   `json:"puid,omitempty"`
	ID      *cell.EntityRoute `json:"id,omitempty"`
	// Found reports whether there is a record or an entity.
	Found bool `json:"found"`
	// Record and Entity are the record and the entity at the address.
	Record *entity.PUID `json:"record,omitempty"`
	Entity *locality.ID `json:"entity,omitempty"`
}

// Route explains which cell serves an address (an entity id, a puid or SOURCE:KEY), and whether that cell has anything
// at the address. The error is a *locus.InvalidError if the address is none of these.
func (h *Handle) Route(ctx context.Context, address string) (*Route, error) {
	route := &Route{Address: address}
	if id, err := locality.Parse(address); err == nil {
		if err := engine.CheckID("/address", id); err != nil {
			return nil, err
		}
		if _, err := engine.Locate(ctx, h.engine, id, (*cell.Map).Entity); err != nil {
			return nil, fmt.Errorf("route %s: %w", address, err)
		}
		r, err := cell.NewRouter(h.engine.Map()).ExplainEntity(id)
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", address, err)
		}
		route.ID = &r
		e, err := h.entities.Get(ctx, id)
		if err == nil {
			route.found(e.Anchor(), e.ID)
		}
		return route, engine.Absent(err)
	}
	if puid, err := entity.ParsePUID(address); err == nil {
		r, err := cell.NewRouter(h.engine.Map()).ExplainPuid(int64(puid))
		if err != nil {
			return nil, fmt.Errorf("route %s: %w", address, err)
		}
		route.PUID = &r
		return route, h.routeRecord(ctx, route, address)
	}
	ref, err := records.ParseRef(address)
	if err != nil {
		return nil, err
	}
	route.Key = h.walk(ctx, ref)
	return route, h.routeRecord(ctx, route, address)
}

// walk follows an external key from cell to cell, as a lookup does, and notes the answer of each.
func (h *Handle) walk(ctx context.Context, ref entity.Ref) *cell.KeyRoute {
	m, begin := h.engine.Map(), time.Now()
	route := cell.NewRouter(m).ExplainKey(ref.Source, ref.Key)
	key := m.KeyOf(ref.Source, ref.Key)
	for _, p := range route.Probes {
		gen := int(p.Cell.Gen)
		if h.engine.Cells.DefinitelyAbsent(p.Cell, key) {
			route.Saw(gen, cell.Sealed, cell.AnswerFilterNo)
			continue
		}
		var head cell.Head
		answer := cell.AnswerNo
		err := h.engine.View(ctx, p.Cell, func(tx storage.Tx) (err error) {
			if head, err = tx.Head(ctx); err != nil {
				return err
			}
			rows, err := tx.Lookup(ctx, []cell.Key{key})
			if err == nil && rows[0] != cell.Nothing {
				answer = cell.AnswerFound
			}
			return err
		})
		if err != nil {
			answer = cell.AnswerUnavailable
		}
		if route.Saw(gen, head.Keys, answer); answer == cell.AnswerFound {
			break
		}
	}
	route.TookMS = float64(time.Since(begin).Microseconds()) / 1000
	return &route
}

func (h *Handle) routeRecord(ctx context.Context, route *Route, address string) error {
	rec, err := h.entities.Record(ctx, address)
	if err != nil {
		return engine.Absent(err)
	}
	of, err := h.records.WithEntities(ctx, []*entity.Record{rec})
	if err != nil {
		return err
	}
	route.found(rec.PUID, of[0].Entity)
	return nil
}

func (r *Route) found(record entity.PUID, id locality.ID) {
	r.Found, r.Record, r.Entity = true, &record, &id
}
