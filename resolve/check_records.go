// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// lookRecords compares records with their keys, births and postings.
func (v *checks) lookRecords(ctx context.Context, rows [][]any) error {
	live, err := v.readPage(ctx, rows, true)
	if err != nil {
		return err
	}
	if err := v.lookLeft(ctx, rows); err != nil || len(live) == 0 {
		return err
	}
	m := v.opts.Cells.Map()
	keys := make([]cell.Key, len(live))
	for i, n := range live {
		keys[i] = m.KeyOf(n.Source, n.Key)
	}
	puids, err := v.keys.Lookup(ctx, keys)
	if err != nil {
		return err
	}
	for i, n := range live {
		if entity.PUID(puids[i]) != n.PUID {
			if err := v.wrongKey(ctx, n, keys[i], entity.PUID(puids[i])); err != nil {
				return err
			}
		}
	}
	if err := v.lookBorn(ctx, live); err != nil {
		return err
	}
	return v.lookPosted(ctx, live)
}

// readPage reads the records of rows, notes unreadable and misplaced ones, and returns the live ones.
func (v *checks) readPage(ctx context.Context, rows [][]any, note bool) (live []*node, err error) {
	puids := make([]entity.PUID, len(rows))
	for i, row := range rows {
		puids[i] = entity.PUID(row[0].(int64))
	}
	lo, hi := v.opts.Cells.Map().PuidRange(v.id)
	var used int64
	if err := v.ask(ctx, v.id, func(tx storage.Tx) error {
		total, err := tx.RowsAt(ctx, cell.Total, [][]any{{int64(1)}})
		if err == nil {
			used = total[0][1].(int64)
		}
		return err
	}); err != nil {
		return nil, err
	}
	if err := v.load(ctx, v.homed(puids)); err != nil {
		return nil, err
	}
	for i, p := range puids {
		n := v.nodes[p]
		switch home, err := v.home(p); {
		case err != nil || home != v.id:
			if note {
				v.suspect(rows[i][:1], "record", p.String(), "in this cell", "in the cell that its number names", p).Advice = adviceBackup
			}
		case v.unread[p] != nil:
			if note {
				v.suspect(rows[i][:1], "record", p.String(), v.unread[p].Error(), "a record "+refOf(rows[i]), p).Advice = adviceRecord
			}
		case int64(p)-lo > used || int64(p) > hi:
			if note {
				v.suspect(rows[i][:1], "record", p.String(), fmt.Sprintf("%d numbers were given", used), fmt.Sprintf("at least %d", int64(p)-lo), p).Advice = "run locus cell restored"
			}
		case n != nil && n.norm != nil:
			live = append(live, n)
		}
	}
	return live, nil
}

// refOf returns the external key in the row of a record.
func refOf(row []any) string { return fmt.Sprintf("%v:%v", row[1], row[2]) }

func rowOf(n *node) []any { return []any{int64(n.PUID)} }

// wrongKey reports a record whose key is missing or names another record.
func (v *checks) wrongKey(ctx context.Context, n *node, k cell.Key, leads entity.PUID) error {
	stored := "no row"
	if leads != cell.Nothing {
		stored = "leads to " + leads.String()
	}
	s := v.suspect(rowOf(n), "key", n.Ref.String(), stored, "leads to "+n.PUID.String(), n.PUID)
	if _, err := v.home(leads); err == nil && leads != cell.Nothing {
		if err := v.load(ctx, []entity.PUID{leads}); err != nil {
			return err
		}
		if other := v.nodes[leads]; v.unread[leads] != nil || other != nil && (other.norm == nil || other.Ref == n.Ref) {
			s.Advice = "two records may have this key; compare with a backup of the cell"
			return nil
		}
	}
	s.repairs = []repairWrite{{v.opts.Cells.Map().Home(k.Position()), func(ctx context.Context, tx storage.Tx) error {
		return tx.WriteRows(ctx, "locus_key", [][]any{{k.Ring, k.Digest[:], int64(n.PUID)}})
	}}}
	return nil
}

func (v *checks) lookBorn(ctx context.Context, live []*node) error {
	births, err := v.births(ctx, live)
	if err != nil {
		return err
	}
	for i, n := range live {
		birth := births[i]
		if id, err := v.opts.Cells.Map().Entity(n.Birth); err != nil || id != v.id {
			v.suspect(rowOf(n), "record", n.PUID.String(), "born as "+n.Birth.String(), "an id of this cell", n.PUID).Advice = adviceBackup
			continue
		}
		if birth != nil && birth.PUID == n.PUID {
			continue
		}
		v.suspect(rowOf(n), "birth", n.Birth.String(), bornTo(birth), "of record "+n.PUID.String(), n.PUID).repairs = []repairWrite{{
			v.id, func(ctx context.Context, tx storage.Tx) error {
				return tx.PutBirths(ctx, []entity.Birth{{ID: n.Birth, PUID: n.PUID}})
			},
		}}
	}
	return nil
}

// lookLeft compares deleted records with their births, which lead on to the rest of their entities. The entities of
// erased records are unknown and not compared.
func (v *checks) lookLeft(ctx context.Context, rows [][]any) error {
	var deleted []*node
	for _, row := range rows {
		p := entity.PUID(row[0].(int64))
		n := v.nodes[p]
		if home, err := v.home(p); err != nil || home != v.id || v.unread[p] != nil || n == nil || n.norm != nil || n.Birth.IsZero() {
			continue
		}
		deleted = append(deleted, n)
	}
	if len(deleted) == 0 {
		return nil
	}
	births, err := v.births(ctx, deleted)
	if err != nil {
		return err
	}
	for i, n := range deleted {
		if births[i] != nil && births[i].PUID == 0 {
			continue
		}
		v.suspect(rowOf(n), "birth", n.Birth.String(), bornTo(births[i]), "of no record, because "+n.PUID.String()+" is deleted", n.PUID).Advice = adviceBackup
	}
	return nil
}

// births returns the births of records of the cell, nil for one that is missing.
func (v *checks) births(ctx context.Context, nodes []*node) (births []*entity.Birth, err error) {
	ids := make([]locality.ID, len(nodes))
	for i, n := range nodes {
		ids[i] = n.Birth
	}
	err = v.ask(ctx, v.id, func(tx storage.Tx) (err error) {
		births, err = tx.Births(ctx, ids)
		return err
	})
	return births, err
}

// bornTo names the record whose birth is stored.
func bornTo(birth *entity.Birth) string {
	if birth == nil {
		return "no row"
	}
	return "of record " + birth.PUID.String()
}

// lookPosted finds missing postings of records.
func (v *checks) lookPosted(ctx context.Context, live []*node) error {
	type posting struct {
		n *node
		f uint64
	}
	there := map[posting]bool{}
	at := map[cell.ID][]posting{}
	leaders, err := v.leadersOf(ctx, live)
	if err != nil {
		return err
	}
	should := make([][]uint64, len(live))
	for i, n := range live {
		should[i] = posted(n, leads(n, leaders))
		for _, f := range should[i] {
			for _, id := range v.keyCells(f) {
				at[id] = append(at[id], posting{n, f})
			}
		}
	}
	for id, wanted := range at {
		keys := make([][]any, len(wanted))
		for i, w := range wanted {
			keys[i] = []any{int64(w.f), int64(w.n.PUID)}
		}
		if err := v.ask(ctx, id, func(tx storage.Tx) error {
			rows, err := tx.RowsAt(ctx, "posting", keys)
			for i, row := range rows {
				there[wanted[i]] = there[wanted[i]] || row != nil
			}
			return err
		}); err != nil {
			return err
		}
	}
	for i, n := range live {
		for _, f := range should[i] {
			if !there[posting{n, f}] {
				s := v.suspect(rowOf(n), "posting", fmt.Sprintf("%016x/%v", f, n.PUID), "no row",
					"a row: "+n.Ref.String()+" carries the blocking key", n.PUID)
				s.Cell, s.redo = v.keyCell(f), []entity.PUID{n.PUID}
			}
		}
	}
	return nil
}
