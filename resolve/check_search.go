// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// mostUnsearched is the maximum number of entities that are searched for at once. The posting lists of frequent words,
// which thousands of entities share, are then read once for all of them.
const mostUnsearched = 10_000

// search finds entities that searches by their words and terms do not return. A first look leaves them to
// searchCarried.
func (v *checks) search(ctx context.Context, entities []expected) error {
	if v.carried != nil {
		v.carried.unsearched = append(v.carried.unsearched, entities...)
		return nil
	}
	if len(entities) == 0 {
		return nil
	}
	indexed := make([]entity.Indexed, len(entities))
	for i, e := range entities {
		indexed[i] = e.is
	}
	var unfound []entity.PUID
	err := v.ask(ctx, v.id, func(tx storage.Tx) (err error) {
		unfound, err = tx.Unfound(ctx, indexed)
		return err
	})
	switch n := len(entities); {
	case err == nil:
	case errors.Is(err, cell.ErrUnavailable) || ctx.Err() != nil:
		return err
	case n > 1: // a part of the index cannot be read
		if err := v.search(ctx, entities[:n/2]); err != nil {
			return err
		}
		return v.search(ctx, entities[n/2:])
	default:
		v.note("search", entities[0], err.Error()).repairs = []repairWrite{v.reindex(entities[0])}
	}
	missing := make(map[entity.PUID]bool, len(unfound))
	for _, anchor := range unfound {
		missing[anchor] = true
	}
	for _, e := range entities {
		if missing[e.PUID] {
			v.note("search", e, "not found by its words").repairs = []repairWrite{v.reindex(e)}
		}
	}
	return nil
}

// reindex writes an entity again. It removes the entity first, because writing one with the same words would leave the
// index unchanged.
func (v *checks) reindex(e expected) repairWrite {
	return repairWrite{v.id, func(ctx context.Context, tx storage.Tx) error {
		if err := tx.DeleteEntities(ctx, []entity.PUID{e.PUID}); err != nil {
			return err
		}
		return tx.PutEntities(ctx, []entity.Indexed{e.is})
	}}
}

// searchCarried searches for the entities of earlier pages, once there are many of them or no more pages.
func (c *checker) searchCarried(ctx context.Context, id cell.ID, s step, last bool) error {
	entities := c.carried.unsearched
	if len(entities) == 0 || len(entities) < mostUnsearched && !last {
		return nil
	}
	c.carried.unsearched = nil
	v := c.checks(id, c.view, nil)
	if err := v.search(ctx, entities); err != nil || len(v.found) == 0 {
		return err
	}
	return c.settle(ctx, id, s, v.found)
}
