// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// Restored is the result of a restore.
type Restored struct {
	Totals
	Entities int64 `json:"entities"`
	// Expected and Hash are the hashes of the entities in the dump and in the installation; Expected is "" if the dump has
	// none, for the reason Unsettled.
	Expected  string `json:"expected,omitempty"`
	Hash      string `json:"hash"`
	Unsettled string `json:"unsettled,omitempty"`
	// Dropped counts decisions about records that the dump does not have.
	Dropped int64 `json:"dropped,omitempty"`
}

// Differs reports whether the entities are not those of the dump.
func (r *Restored) Differs() bool { return r.Expected != "" && r.Expected != r.Hash }

// Rules reads the rules and term-frequency tables of a dump and stores them in the authority of a new installation. It
// leaves the reader at the next line.
func Rules(ctx context.Context, d *Reader, authority storage.Cell) error {
	var rules rulesLine
	var terms []resolve.StoredTerms
	if err := d.next(); err != nil {
		return err
	}
	if d.kind != typeRules {
		return d.errorf("want the rules, not a line of type %.20q", d.kind)
	}
	if err := d.decode(&rules); err != nil {
		return err
	}
	at := d.line
	for {
		if err := d.next(); err != nil {
			return err
		}
		if d.kind != typeTerms {
			break
		}
		var t termsLine
		if err := d.decode(&t); err != nil {
			return err
		}
		terms = append(terms, resolve.StoredTerms{Hash: t.Hash, Body: t.Body})
	}
	if err := authority.Update(ctx, func(tx storage.Tx) error { return resolve.WriteStored(ctx, tx, rules.Rules, terms) }); err != nil {
		return fmt.Errorf("line %d: %w", at, err)
	}
	return nil
}

// filling is an installation while a dump is written into it.
type filling struct {
	Restored
	*Reader
	engine *engine.Engine

	decisions []entity.Decision
	numbers   map[entity.PUID]entity.PUID // of the records that decisions name; 0 until they are put
	ops       []resolve.Op
	opsOf     []entity.PUID // the numbers of the ops in the dump
	opsLine   int           // line of the first op
	deleted   []deletedLine
	births    map[cell.ID][]entity.Birth
	waiting   int // births
	counters  counters
	rollups   []rollup.Definition
}

// Fill reads the rest of a dump into an installation, whose rules it has, and resolves the records. It returns the rollups
// to define.
func Fill(ctx context.Context, d *Reader, e *engine.Engine) (*Restored, []rollup.Definition, error) {
	f := &filling{Reader: d, engine: e, numbers: map[entity.PUID]entity.PUID{}, births: map[cell.ID][]entity.Birth{}}
	f.counters.filling = f
	end, err := f.lines(ctx)
	if err != nil {
		return nil, nil, err
	}
	if f.Totals != end.Totals {
		return nil, nil, d.errorf("the lines are %+v, the last one says %+v", f.Totals, end.Totals)
	}
	if err := f.decide(ctx); err != nil {
		return nil, nil, err
	}
	if err := e.Resolver.Settled(ctx, func() error { return nil }); err != nil {
		return nil, nil, err
	}
	hash, err := hashOf(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	f.Entities, f.Hash, f.Expected, f.Unsettled = hash.n, hash.String(), end.Hash, end.Unsettled
	return &f.Restored, f.rollups, nil
}

// lines reads all lines to the end.
func (f *filling) lines(ctx context.Context) (*End, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		done, err := f.one(ctx)
		if err != nil {
			return nil, err
		}
		if done {
			end := &End{}
			return end, f.decode(end)
		}
		if err := f.next(); err != nil {
			return nil, err
		}
	}
}

// one handles a line, and reports whether it is the last.
func (f *filling) one(ctx context.Context) (done bool, err error) {
	if f.kind != typeRecord && len(f.ops) > 0 {
		if err := f.apply(ctx); err != nil {
			return false, err
		}
	}
	if f.kind != typeDeleted && len(f.deleted) > 0 {
		if err := f.delete(ctx); err != nil {
			return false, err
		}
	}
	if f.kind != typeBirth && f.waiting > 0 {
		if err := f.bear(ctx); err != nil {
			return false, err
		}
	}
	switch f.kind {
	case typeRollup:
		var l rollupLine
		if err := f.decode(&l); err != nil {
			return false, err
		}
		f.rollups = append(f.rollups, l.Definition)
		f.Rollups++
	case typeDecision:
		var l decisionLine
		if err := f.decode(&l); err != nil {
			return false, err
		}
		f.Decisions++
		f.decisions = append(f.decisions, l.Decision)
		if f.numbers[l.A] = 0; l.Pair() {
			f.numbers[l.B] = 0
		}
	case typeRecord:
		return false, f.record(ctx)
	case typeDeleted:
		var l deletedLine
		if err := f.decode(&l); err != nil {
			return false, err
		}
		f.Deleted++
		if f.deleted = append(f.deleted, l); len(f.deleted) == page {
			return false, f.delete(ctx)
		}
	case typeBirth:
		return false, f.birth(ctx)
	case typeEnd:
		return true, f.counters.flush(ctx)
	default:
		return false, f.counters.line(ctx)
	}
	return false, nil
}

// batchSize is how many records are resolved together.
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
		Ref: entity.Ref{Source: l.Source, Key: l.Key}, Kind: l.Kind, Observed: l.Observed, Attributes: l.Attributes, Birth: l.Birth, Version: l.Version,
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
		case r.Outcome != resolve.Created && r.Outcome != resolve.Matched || r.Version != f.ops[i].Version:
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
	home cell.ID // of the record: that of its birth id
	away bool    // the key itself belongs to another cell
}

// place returns where a record lives: in the cell of its birth id, which lies near its key. Only at a border between two
// cells that was not one in the dumped installation can they be different cells.
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

// allocate gives keys their puids in the cells of their records, and lets the cells of the keys point there.
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
		groups[places[i].home] = append(groups[places[i].home], &entity.Record{PUID: puids[i], Version: l.Version, Birth: l.Birth, Anchor: puids[i]})
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
