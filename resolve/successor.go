// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// successors returns, for every record that this batch deletes, the birth id that its own birth id will
// redirect to: that of the earliest remaining record of its entity. It runs before the first round, because
// the redirect must be durable together with the deletion.
func (b *batch) successors(ctx context.Context, targets map[int]target) (map[entity.PUID]locality.ID, error) {
	var puids []entity.PUID
	for i, t := range targets {
		if b.ops[i].Delete {
			puids = append(puids, t.puid)
		}
	}
	if len(puids) == 0 {
		return nil, nil
	}
	going := map[entity.PUID]*node{}
	if err := b.load(ctx, going, puids); err != nil {
		return nil, err
	}
	for i, t := range targets { // a record that stays can inherit
		if n := going[t.puid]; n != nil && b.ops[i].Delete && !n.Deleted() && b.ops[i].refused(n.Record) != nil {
			delete(going, t.puid)
		}
	}
	var anchors []entity.PUID
	for _, n := range going {
		if !n.Deleted() {
			anchors = append(anchors, n.Anchor)
		}
	}
	entities, err := b.entities(ctx, anchors)
	if err != nil {
		return nil, err
	}
	heirs := map[entity.PUID]entity.PUID{} // anchor → the first member that stays
	var staying []entity.PUID
	for anchor, e := range entities {
		for _, m := range e.Members {
			if going[m.PUID] == nil {
				heirs[anchor] = m.PUID
				staying = append(staying, m.PUID)
				break
			}
		}
	}
	stay := map[entity.PUID]*node{}
	if err := b.load(ctx, stay, staying); err != nil {
		return nil, err
	}
	successors := make(map[entity.PUID]locality.ID, len(going))
	for p, n := range going {
		if heir := stay[heirs[n.Anchor]]; heir != nil {
			successors[p] = heir.Birth
		}
	}
	return successors, nil
}

// entitiesOf reads the entities stored under these anchors; a missing one gets no entry.
func (r *Resolver) entitiesOf(ctx context.Context, ask asking,
	anchors []entity.PUID) (map[entity.PUID]*entity.Entity, error) {
	read := make(map[entity.PUID]*entity.Entity, len(anchors))
	err := fromHomes(ctx, r, ask, unique(anchors), func(tx storage.Tx, group []entity.PUID) ([]*entity.Entity, error) {
		found, err := tx.Entities(ctx, group)
		if err != nil {
			return nil, fmt.Errorf("read entities: %w", err)
		}
		return found, nil
	}, func(group []entity.PUID, found []*entity.Entity) {
		for i, e := range found {
			if e != nil {
				read[group[i]] = e
			}
		}
	})
	return read, err
}
