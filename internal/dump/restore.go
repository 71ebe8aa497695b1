// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
)

// Restored is the result of a restore.
type Restored struct {
	Totals
	Entities int64 `json:"entities"`
	// Expected and Hash are the hashes of the entities in the dump and in the installation; Expected is "" if the dump
	// has none, for the reason Unsettled.
	Expected  string `json:"expected,omitempty"`
	Hash      string `json:"hash"`
	Unsettled string `json:"unsettled,omitempty"`
	// Dropped counts decisions about records that the dump does not have.
	Dropped int64 `json:"dropped,omitempty"`
}

// Differs reports whether the entities differ from the dump's.
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
	if err := authority.Update(ctx, func(tx storage.Tx) error {
		return resolve.WriteStored(ctx, tx, rules.Rules, terms)
	}); err != nil {
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
	sinks     []sinks.Dumped
	sources   []sources.Dumped
	imports   map[string]sources.Import
}

// Fill reads the rest of a dump into an installation, whose rules it has and whose resolver is held, and resolves the
// records: first all in one load, then the changes by decisions. It returns the rollups to define.
func Fill(ctx context.Context, d *Reader, e *engine.Engine) (*Restored, []rollup.Definition, error) {
	f := &filling{Reader: d, engine: e, numbers: map[entity.PUID]entity.PUID{}, births: map[cell.ID][]entity.Birth{},
		imports: map[string]sources.Import{}}
	f.counters.filling = f
	end, err := f.lines(ctx)
	if err != nil {
		return nil, nil, err
	}
	if f.Totals != end.Totals {
		return nil, nil, d.errorf("the lines are %+v, the last one says %+v", f.Totals, end.Totals)
	}
	if err := e.Resolver.Load(ctx, func(resolve.LoadProgress) {}); err != nil {
		return nil, nil, err
	}
	if err := f.decide(ctx); err != nil {
		return nil, nil, err
	}
	if err := e.Resolver.Settled(ctx, func() error { return nil }); err != nil {
		return nil, nil, err
	}
	if err := e.Update(ctx, e.Map().Authority(), func(tx storage.Tx) error {
		return errors.Join(sinks.Restore(ctx, tx, f.sinks), sources.Restore(ctx, tx, f.sources, f.imports))
	}); err != nil {
		return nil, nil, err
	}
	e.Tidy(ctx)
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
	case typeSink:
		var l sinkLine
		if err := f.decode(&l); err != nil {
			return false, err
		}
		f.sinks = append(f.sinks, l.Dumped)
		f.Sinks++
	case typeSource:
		var l sourceLine
		if err := f.decode(&l); err != nil {
			return false, err
		}
		f.sources = append(f.sources, l.Dumped)
		f.Sources++
	case typeImport:
		var l importLine
		if err := f.decode(&l); err != nil {
			return false, err
		}
		f.imports[l.Source] = l.Import
		f.Imports++
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
