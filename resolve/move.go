// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/storage"
)

// Move moves a cell to another database while it is in use; see cell.Move. Entities are not copied as rows,
// because every backend indexes them in its own way; they are written again from their members.
func (r *Resolver) Move(ctx context.Context, cells *storage.Cells, id cell.ID, to cell.Destination,
	progress func(cell.MoveProgress)) (cell.MoveProgress, error) {
	return cell.Move(ctx, cells, id, to, cell.MoveOptions[storage.Tx]{
		Owner:  cmp.Or(r.opts.Owner, "this process"),
		Leases: func(tx storage.Tx) lease.Store { return tx },
		Copier: func(tx storage.Tx) cell.Copier { return tx },
		Made: func(ctx context.Context, tx storage.Tx, after []any, limit int) ([][]any, error) {
			entities, err := tx.ListEntities(ctx, anchorOf(after), limit)
			keys := make([][]any, len(entities))
			for i, e := range entities {
				keys[i] = []any{int64(e.Anchor())}
			}
			return keys, err
		},
		Make: func(ctx context.Context, from, to storage.Cell, keys [][]any) error {
			return r.carry(ctx, from, to, keys)
		},
		Last: func(ctx context.Context, from, to storage.Tx) error {
			l, err := from.Lease(ctx, leaseName)
			if err != nil || l.Token == 0 {
				return err
			}
			return to.PutLease(ctx, leaseName, l)
		},
		Progress: progress,
	})
}

// anchorOf returns the anchor in the key of an entity. A nil key is below all anchors.
func anchorOf(key []any) entity.PUID {
	if key == nil {
		return math.MinInt64
	}
	n, _ := key[0].(int64)
	return entity.PUID(n)
}

// carry writes entities from one database of a cell to another, and removes entities that the source lacks. A nil
// source has no entities.
func (r *Resolver) carry(ctx context.Context, from, to storage.Cell, keys [][]any) error {
	anchors := make([]entity.PUID, len(keys))
	for i, key := range keys {
		anchors[i] = anchorOf(key)
	}
	found := make([]*entity.Entity, len(anchors))
	if from != nil {
		if err := from.View(ctx, func(tx storage.Tx) (err error) {
			found, err = tx.Entities(ctx, anchors)
			return err
		}); err != nil {
			return fmt.Errorf("read entities: %w", err)
		}
	}
	var members, gone []entity.PUID
	for i, e := range found {
		if e == nil {
			gone = append(gone, anchors[i])
			continue
		}
		for _, m := range e.Members {
			members = append(members, m.PUID)
		}
	}
	nodes := map[entity.PUID]*node{}
	if err := r.readNodes(ctx, r.view, nodes, members); err != nil {
		return err
	}
	var there []entity.Indexed
	for _, e := range found {
		if e == nil {
			continue
		}
		indexed := entity.Indexed{Entity: e}
		var of []*node
		for _, m := range e.Members {
			if n := nodes[m.PUID]; n != nil && n.norm != nil {
				of = append(of, n)
			}
		}
		r.index(&indexed, of)
		there = append(there, indexed)
	}
	return to.Update(ctx, func(tx storage.Tx) error {
		return errors.Join(tx.DeleteEntities(ctx, gone), tx.PutEntities(ctx, there))
	})
}
