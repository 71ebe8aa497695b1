// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// The looks of this file start from derived rows and find surplus ones, whose record does not lead back to
// them. Those of check_records.go start from records and find missing rows.

const (
	adviceRecord = "restore the row from a backup of the cell: until then the record can be neither put nor erased"
	adviceBackup = "compare with a backup of the cell"
	adviceAgain  = "put all records of the sources again"
)

func (v *checks) suspect(row []any, what, id, stored, want string, about ...entity.PUID) *suspect {
	v.found = append(v.found, suspect{
		Difference: Difference{What: what, Cell: v.id, ID: id, Stored: stored, Want: want},
		row:        row, about: slices.Clone(about),
	})
	return &v.found[len(v.found)-1]
}

// drop deletes a row as part of the repair.
func (s *suspect) drop(id cell.ID, table string, key []any) {
	s.repairs = append(s.repairs, repairWrite{id, func(ctx context.Context, tx storage.Tx) error {
		return tx.DeleteRows(ctx, table, [][]any{key})
	}})
}

// lives reports whether a record exists and is not deleted. An unreadable one may.
func (v *checks) lives(p entity.PUID) bool {
	n := v.nodes[p]
	return v.unread[p] != nil || n != nil && n.norm != nil
}

// state describes what is stored about a record.
func (v *checks) state(p entity.PUID) string {
	switch n := v.nodes[p]; {
	case v.unread[p] != nil:
		return "cannot be read"
	case n == nil:
		return "is not there"
	case n.norm == nil:
		return "was deleted"
	}
	return "is there"
}

// homed returns those puids that belong to a cell of the map.
func (v *checks) homed(puids []entity.PUID) []entity.PUID {
	return slices.DeleteFunc(slices.Clone(puids), func(p entity.PUID) bool { _, err := v.home(p); return err != nil })
}

// lookKeys compares keys of the directory with the records or metrics that they name. A number of the key's own cell may
// have neither: a metric gets its number before its first hit is written, which may fail. A record is written with its
// key, so the loss of one there is found by its birth.
func (v *checks) lookKeys(ctx context.Context, rows [][]any) error {
	var puids []entity.PUID
	for _, row := range rows {
		if p, ok := row[2].(int64); ok {
			puids = append(puids, entity.PUID(p))
		}
	}
	if err := v.load(ctx, v.homed(puids)); err != nil {
		return err
	}
	m := v.opts.Cells.Map()
	for _, row := range rows {
		number, linked := row[2].(int64)
		if !linked {
			continue
		}
		p, id := entity.PUID(number), fmt.Sprintf("%v/%x", row[0], row[1])
		home, err := v.home(p)
		if err != nil {
			v.suspect(row[:2], "key", id, "leads to "+p.String(), "a number of a cell", p).Advice = adviceBackup
			continue
		}
		n := v.nodes[p]
		switch {
		case v.unread[p] != nil || n != nil && n.norm == nil:
		case n != nil:
			if k := m.KeyOf(n.Source, n.Key); k.Ring != row[0] || string(k.Digest[:]) != string(row[1].([]byte)) {
				v.suspect(row[:2], "key", id, "leads to "+p.String(), "no row: that is "+n.Ref.String()+", which has another hash", p).drop(v.id, "locus_key", row[:2])
			}
		case home != v.id:
			ok, err := v.isMetric(ctx, home, p, row)
			if err != nil {
				return err
			}
			if !ok {
				v.suspect(row[:2], "key", id, "leads to "+p.String(), "a record, or a metric, of that number", p).Advice = adviceAgain
			}
		}
	}
	return nil
}

// isMetric reports whether a key names a metric.
func (v *checks) isMetric(ctx context.Context, home cell.ID, p entity.PUID, row []any) (ok bool, err error) {
	m := v.opts.Cells.Map()
	lo, _ := m.PuidRange(home)
	err = v.ask(ctx, home, func(tx storage.Tx) error {
		metas, err := tx.Metrics(ctx, []counter.ID{counter.ID(int64(p) - lo)})
		if err == nil && metas[0].Name != "" {
			k := m.KeyOf("", string(metas[0].Name))
			ok = k.Ring == row[0] && string(k.Digest[:]) == string(row[1].([]byte))
		}
		return err
	})
	return ok, err
}

// lookBirths compares births with their records and successors.
func (v *checks) lookBirths(ctx context.Context, rows [][]any) error {
	var puids []entity.PUID
	next := map[cell.ID][]locality.ID{}
	m := v.opts.Cells.Map()
	for _, row := range rows {
		puids = append(puids, entity.PUID(row[1].(int64)))
		if id, ok := birthOf(row[2]); ok {
			if c, err := m.Entity(id); err == nil {
				next[c] = append(next[c], id)
			}
		}
	}
	if err := v.load(ctx, v.homed(slices.DeleteFunc(puids, func(p entity.PUID) bool { return p == 0 }))); err != nil {
		return err
	}
	known := map[locality.ID]bool{}
	for c, ids := range next {
		if err := v.ask(ctx, c, func(tx storage.Tx) error {
			births, err := tx.Births(ctx, ids)
			for i, b := range births {
				known[ids[i]] = known[ids[i]] || b != nil
			}
			return err
		}); err != nil {
			return err
		}
	}
	for _, row := range rows {
		id, ok := birthOf(row[0])
		p := entity.PUID(row[1].(int64))
		if c, err := m.Entity(id); !ok || err != nil || c != v.id {
			v.suspect(row[:1], "birth", id.String(), "in this cell", "in the cell that the id names", p).Advice = adviceBackup
			continue
		}
		switch successor, leads := birthOf(row[2]); {
		case p == 0 && leads && !known[successor]:
			v.suspect(row[:1], "birth", id.String(), "leads on to "+successor.String(), "an id that was given").Advice = adviceBackup
		case p != 0 && v.unread[p] == nil && v.nodes[p] == nil:
			v.suspect(row[:1], "birth", id.String(), "of record "+p.String(), "of a record that is there", p).Advice = adviceAgain
		case p != 0 && v.unread[p] == nil && v.nodes[p].Birth != id:
			v.suspect(row[:1], "birth", id.String(), "of record "+p.String(), "of a record that was born with it", p).Advice = adviceBackup
		}
	}
	return nil
}

func birthOf(value any) (id locality.ID, ok bool) {
	b, ok := value.([]byte)
	if !ok || len(b) != len(id) {
		return id, false
	}
	return locality.ID(b), true
}

// lookPostings finds postings that their records should not have, or that are in the wrong cell.
func (v *checks) lookPostings(ctx context.Context, rows [][]any) error {
	var unknown []entity.PUID
	for _, row := range rows {
		if p := entity.PUID(row[1].(int64)); v.carried.get(p) == nil {
			unknown = append(unknown, p)
		}
	}
	if err := v.load(ctx, v.homed(unknown)); err != nil {
		return err
	}
	live := make([]*node, 0, len(unknown))
	for _, p := range unique(unknown) {
		if n := v.nodes[p]; n != nil && n.norm != nil {
			live = append(live, n)
		}
	}
	leaders, err := v.leadersOf(ctx, live)
	if err != nil {
		return err
	}
	for _, row := range rows {
		f, p := uint64(row[0].(int64)), entity.PUID(row[1].(int64))
		id := fmt.Sprintf("%016x/%v", f, p)
		_, err := v.home(p)
		if err != nil || int(v.id.Gen) >= v.opts.Cells.Map().Floor() && !slices.Contains(v.keyCells(f), v.id) {
			s := v.suspect(row, "posting", id, "in this cell", "no row: the blocking key or the record lives in another cell", p)
			s.drop(v.id, "posting", row)
			if err == nil {
				s.redo = []entity.PUID{p}
			}
			continue
		}
		keys := v.carried.get(p)
		if n := v.nodes[p]; keys == nil && n != nil && n.norm != nil {
			keys = v.carried.put(p, posted(n, leads(n, leaders)))
		}
		if v.unread[p] != nil {
			continue
		}
		if _, carries := slices.BinarySearch(keys, f); !carries {
			s := v.suspect(row, "posting", id, "in the store", "no row: record "+p.String()+" "+v.state(p)+" and is not posted under the blocking key", p)
			s.redo, s.lost = []entity.PUID{p}, []uint64{f}
		}
	}
	return nil
}

// lookEdges finds edges of missing records. Those of live records are compared by lookClusters.
func (v *checks) lookEdges(ctx context.Context, rows [][]any) error {
	var puids []entity.PUID
	for _, row := range rows {
		puids = append(puids, entity.PUID(row[0].(int64)), entity.PUID(row[1].(int64)))
	}
	if err := v.load(ctx, v.homed(puids)); err != nil {
		return err
	}
	for _, row := range rows {
		a, b := entity.PUID(row[0].(int64)), entity.PUID(row[1].(int64))
		id := a.String() + "/" + b.String()
		home, err := v.home(a)
		_, err2 := v.home(b)
		switch {
		case err != nil || err2 != nil || home != v.id:
			s := v.suspect(row[:2], "edge", id, "in this cell", "no row: one of the records lives in another cell, or in none", a, b)
			s.drop(v.id, "edge", row[:2])
			s.redo = v.homed([]entity.PUID{a, b})
		case !v.lives(a):
			v.suspect(row[:2], "edge", id, "in the store", "no row: record "+a.String()+" "+v.state(a), a, b).redo = []entity.PUID{a, b}
		case !v.lives(b):
			v.suspect(row[:2], "edge", id, "in the store", "no row: record "+b.String()+" "+v.state(b), a, b).redo = []entity.PUID{a, b}
		}
	}
	return nil
}
