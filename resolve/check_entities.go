// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// lookEntities finds entities whose anchor is missing or belongs to another entity. All other entities are compared by
// lookClusters.
func (v *checks) lookEntities(ctx context.Context, rows [][]any) error {
	puids := make([]entity.PUID, len(rows))
	for i, row := range rows {
		puids[i] = entity.PUID(row[0].(int64))
	}
	if err := v.load(ctx, v.homed(puids)); err != nil {
		return err
	}
	for i, p := range puids {
		home, err := v.home(p)
		n := v.nodes[p]
		switch {
		case err != nil || home != v.id:
			v.suspect(rows[i], "entity", p.String(), "in this cell", "no row: its anchor lives in another cell, or in none", p).repairs = []repairWrite{v.remove(p)}
		case !v.lives(p):
			v.orphan(ctx, rows[i], p, "no row: record "+p.String()+" "+v.state(p))
		case n != nil && n.Anchor != p:
			v.orphan(ctx, rows[i], p, "no row: record "+p.String()+" is a member of the entity of "+n.Anchor.String())
		}
	}
	return nil
}

// orphan notes an entity that should not exist. Its members are resolved again, too.
func (v *checks) orphan(ctx context.Context, row []any, p entity.PUID, want string) {
	s := v.suspect(row, "entity", p.String(), "in the store", want, p)
	s.redo = []entity.PUID{p}
	e, err := v.entity(ctx, p)
	switch {
	case err != nil && !errors.Is(err, cell.ErrUnavailable):
		s.repairs = []repairWrite{v.remove(p)}
	case e != nil:
		for _, m := range e.Members {
			if _, err := v.home(m.PUID); err == nil {
				s.about, s.redo = append(s.about, m.PUID), append(s.redo, m.PUID)
			}
		}
	}
}

func (v *checks) entity(ctx context.Context, anchor entity.PUID) (e *entity.Entity, err error) {
	err = v.ask(ctx, v.id, func(tx storage.Tx) error {
		found, err := tx.Entities(ctx, []entity.PUID{anchor})
		if err == nil {
			e = found[0]
		}
		return err
	})
	return e, err
}

// remove deletes an entity that is unreadable or in the wrong cell.
func (v *checks) remove(anchor entity.PUID) repairWrite {
	return repairWrite{v.id, func(ctx context.Context, tx storage.Tx) error {
		if err := tx.DeleteEntities(ctx, []entity.PUID{anchor}); err != nil {
			return err
		}
		return tx.AddCounts(ctx, entity.Counts{Entities: -1})
	}}
}
