// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// batchSize is how many records are stored together.
const batchSize = 8000

func (f *filling) record(ctx context.Context) error {
	var l recordLine
	if err := f.decode(&l); err != nil {
		return err
	}
	switch {
	case l.Source == "" || l.Key == "" || len(l.Source) > cell.MaxSource:
		return f.errorf("a record needs a source and a key")
	case l.Birth.IsZero() || l.Version < 1 || l.Attributes == nil:
		return f.errorf("record %s:%s needs a birth id, a version and attributes", l.Source, l.Key)
	case f.engine.Kind(l.Kind) == nil || l.Kind == "":
		return f.errorf("record %s:%s is of kind %.64q, which the dump does not define", l.Source, l.Key, l.Kind)
	}
	if len(f.ops) == 0 {
		f.opsLine = f.line
	}
	f.Records++
	f.opsOf = append(f.opsOf, l.PUID)
	f.ops = append(f.ops, resolve.Op{
		Ref: entity.Ref{Source: l.Source, Key: l.Key}, Kind: l.Kind, Observed: l.Observed, Attributes: l.Attributes,
		Birth: l.Birth, Version: l.Version,
	})
	if len(f.ops) == batchSize {
		return f.apply(ctx)
	}
	return nil
}

// apply puts the collected records.
func (f *filling) apply(ctx context.Context) error {
	m := f.engine.Map()
	var places []placed
	for i := range f.ops {
		p, err := f.place(m.KeyOf(f.ops[i].Source, f.ops[i].Key), f.ops[i].Birth)
		if err != nil {
			return fmt.Errorf("%w: line %d: record %v: %w", ErrFile, f.opsLine+i, f.ops[i].Ref, err)
		}
		if p.away {
			places = append(places, p)
		}
	}
	if _, err := f.allocate(ctx, places); err != nil {
		return err
	}
	for i, r := range f.engine.Resolver.Apply(ctx, f.ops) {
		switch {
		case r.Err != nil:
			return fmt.Errorf("line %d: record %v: %w", f.opsLine+i, f.ops[i].Ref, r.Err)
		case r.Outcome != resolve.Created || r.Version != f.ops[i].Version:
			return fmt.Errorf("%w: line %d: record %v is there twice", ErrFile, f.opsLine+i, f.ops[i].Ref)
		}
		if _, wanted := f.numbers[f.opsOf[i]]; wanted {
			f.numbers[f.opsOf[i]] = r.PUID
		}
	}
	f.ops, f.opsOf = f.ops[:0], f.opsOf[:0]
	return nil
}

// placed is a key with the cell of its record.
type placed struct {
	key  cell.Key
	home cell.ID // the cell of the record, by its birth id
	away bool    // the key itself belongs to another cell
}

// place returns where a record lives: in the cell of its birth id, which lies near its key. Only at a border between
// two cells that was not one in the dumped installation can they be different cells.
func (f *filling) place(key cell.Key, birth locality.ID) (placed, error) {
	m := f.engine.Map()
	p := placed{key: key, home: m.Home(key.Position())}
	if birth.IsZero() {
		return p, nil
	}
	home, err := m.Entity(birth)
	if err != nil {
		return p, fmt.Errorf("birth id %v: %w", birth, err)
	}
	p.away = home != p.home
	p.home = home
	return p, nil
}

// allocate gives keys their puids in the cells of their records, and makes the cells of the keys point to these cells.
func (f *filling) allocate(ctx context.Context, all []placed) ([]entity.PUID, error) {
	puids := make([]entity.PUID, len(all))
	groups := map[cell.ID][]int{}
	for i, p := range all {
		groups[p.home] = append(groups[p.home], i)
	}
	copies := map[cell.ID][]cell.Row{}
	for id, group := range groups {
		keys := make([]cell.Key, len(group))
		for n, i := range group {
			keys[n] = all[i].key
		}
		var got []cell.Allocation
		if err := f.engine.Update(ctx, id, func(tx storage.Tx) (err error) {
			got, err = tx.Allocate(ctx, keys)
			return err
		}); err != nil {
			return nil, fmt.Errorf("allocate in cell %v: %w", id, err)
		}
		for n, i := range group {
			puids[i] = entity.PUID(got[n].PUID)
			if all[i].away {
				of := f.engine.Map().Home(all[i].key.Position())
				copies[of] = append(copies[of], cell.Row{Key: all[i].key, PUID: got[n].PUID})
			}
		}
	}
	for id, rows := range copies {
		if err := f.engine.Update(ctx, id, func(tx storage.Tx) error { return tx.Copy(ctx, rows) }); err != nil {
			return nil, fmt.Errorf("copy keys to cell %v: %w", id, err)
		}
	}
	return puids, nil
}

// delete writes the collected tombstones.
func (f *filling) delete(ctx context.Context) error {
	places := make([]placed, len(f.deleted))
	for i, l := range f.deleted {
		key, err := parseKey(l.Key)
		if err == nil {
			places[i], err = f.place(key, l.Birth)
		}
		if err != nil {
			return f.errorf("a deleted record before it: %v", err)
		}
	}
	puids, err := f.allocate(ctx, places)
	if err != nil {
		return err
	}
	groups := map[cell.ID][]*entity.Record{}
	for i, l := range f.deleted {
		groups[places[i].home] = append(groups[places[i].home],
			&entity.Record{PUID: puids[i], Version: l.Version, Birth: l.Birth, Anchor: puids[i]})
		if _, wanted := f.numbers[l.PUID]; wanted {
			f.numbers[l.PUID] = puids[i]
		}
	}
	for id, group := range groups {
		if err := f.engine.Update(ctx, id, func(tx storage.Tx) error { return tx.PutRecords(ctx, group) }); err != nil {
			return fmt.Errorf("put deleted records in cell %v: %w", id, err)
		}
	}
	f.deleted = f.deleted[:0]
	return nil
}

func (f *filling) birth(ctx context.Context) error {
	var l birthLine
	if err := f.decode(&l); err != nil {
		return err
	}
	home, err := f.engine.Map().Entity(l.ID)
	if err != nil {
		return f.errorf("id %v: %v", l.ID, err)
	}
	f.Births++
	f.births[home] = append(f.births[home], entity.Birth{ID: l.ID, Successor: l.Successor})
	if f.waiting++; f.waiting == page {
		return f.bear(ctx)
	}
	return nil
}

// bear writes the collected births.
func (f *filling) bear(ctx context.Context) error {
	for id, births := range f.births {
		if err := f.engine.Update(ctx, id, func(tx storage.Tx) error { return tx.PutBirths(ctx, births) }); err != nil {
			return fmt.Errorf("put births in cell %v: %w", id, err)
		}
	}
	clear(f.births)
	f.waiting = 0
	return nil
}

// decide stores the decisions, about the new numbers of their records.
func (f *filling) decide(ctx context.Context) error {
	for all := range slices.Chunk(f.decisions, page) {
		kept := all[:0]
		for _, d := range all {
			d.A = f.numbers[d.A]
			if d.Pair() {
				d.B = f.numbers[d.B]
			}
			if d.A == 0 || d.Pair() && d.B == 0 {
				f.Dropped++
				continue
			}
			kept = append(kept, d)
		}
		if err := f.engine.Resolver.RestoreDecisions(ctx, kept); err != nil {
			return err
		}
	}
	return nil
}
