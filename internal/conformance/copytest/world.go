// SPDX-License-Identifier: Apache-2.0

package copytest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// population is how many records a case begins with.
const population = 40

// thing has the values that the n-th record of a case writes through the Stores. Numbers and texts are those that are
// easily mishandled: at the ends of their ranges, negative, empty, with quotes.
type thing struct {
	key      cell.Key
	record   *entity.Record
	birth    entity.Birth
	entity   entity.Indexed
	changes  []changelog.Change
	postings []derived.Posting
	chunk    []any // a row of postings, as no run has
	edges    []derived.Edge
	redo     derived.Redo
	decision entity.Decision
	// A rollup of its own, with a generation and rows.
	rollup     rollup.Rollup
	generation rollup.Generation
	rows       []rollup.Row
	hits       hits
	audited    []audit.Row
}

func keyOf(n int) (k cell.Key) {
	k.Ring = int64(uint64(n) * 0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(k.Digest[8:], uint64(n))
	return k
}

func idOf(n int) (id locality.ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(n)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], 0xb000_0190_0000_0000+uint64(n))
	return id
}

func thingOf(n int, puid entity.PUID, version int64) thing {
	at := time.UnixMilli(1_700_000_000_000 + int64(n)).UTC()
	ref := entity.Ref{Source: "osm", Key: fmt.Sprintf("node/%d '\"\\寿", n)}
	w := thing{
		key: keyOf(n),
		record: &entity.Record{
			PUID: puid, Ref: ref, Version: version, Birth: idOf(n), Anchor: puid, Observed: at,
			Attributes: entity.Attributes{"name": {fmt.Sprintf("Joe's %d", n), ""}, "version": {fmt.Sprint(version)}},
		},
		birth: entity.Birth{ID: idOf(n), PUID: puid},
		changes: []changelog.Change{
			{Time: at, Kind: changelog.Put, Cause: changelog.CausePut, Entity: idOf(n),
				After: []changelog.Version{{PUID: puid, Version: version}}},
			{Time: at, Kind: changelog.Retired, Entity: idOf(n), Into: idOf(n + 1),
				Before: []changelog.Version{{PUID: puid, Version: version}}},
		},
		postings: []derived.Posting{{Key: uint64(n) << 58, PUID: puid}, {Key: math.MaxUint64, PUID: puid}},
		chunk:    []any{int64(1)<<60 + int64(n), []byte{0, byte(version), 0xff}, version},
		edges: []derived.Edge{
			{A: puid, B: puid + 1, Vector: match.Vector(math.MaxUint64 - uint64(n)), Weight: match.Weight(-n)},
			{A: puid, B: math.MaxInt64, Vector: match.Vector(version), Weight: math.MaxInt16},
		},
		redo: derived.Redo{PUID: puid, Version: version, Decided: int64(n)},
		// Rows of 1970 may be changed, like those of other tables.
		audited: []audit.Row{{Position: audit.Position{At: 1000 + int64(n), Chain: int64(n) << 56, Seq: version},
			Body: "{寿"}},
		decision: entity.Decision{Verdict: entity.VerdictValue, A: puid, Attribute: "name", Value: "Joe's '\"\\寿",
			At: at.Add(time.Duration(version) * time.Millisecond)},
	}
	image := &changelog.Image{Sources: []string{"osm", "'\"\\寿"}, Outcome: changelog.OutcomeMatched,
		Attributes: w.record.Attributes}
	w.changes[0].Is, w.changes[1].Was = image, &changelog.Image{}
	w.define(n, version, at)
	w.hits = hitsOf(n, version)
	if n%2 == 0 {
		w.redo.LostKeys = []uint64{1 << 63, uint64(n)}
	}
	w.entity = entity.Indexed{
		Entity: &entity.Entity{
			ID: idOf(n), Members: []entity.Member{{PUID: puid, Ref: ref, Version: version}}, Stamp: math.MaxUint64 - uint64(n),
			View: entity.View{{Name: "name", Values: []entity.MergedValue{{Value: "Joe's", Members: []int{0}}}}},
		},
		Words: []string{"joes"}, Terms: []uint64{uint64(n)},
	}
	return w
}

func (w *thing) define(n int, version int64, at time.Time) {
	d := rollup.Definition{
		Name: fmt.Sprintf("r-%d", n), Kind: "place", Over: rollup.Entities, Group: []string{"city"},
		Where:    []rollup.Condition{{Attribute: "name", Values: []string{"'\"\\寿"}}},
		Measures: []rollup.Measure{{Name: "count", Func: rollup.Count}},
	}
	number := int64(n) << 56
	w.rollup = rollup.Rollup{Name: d.Name, Serving: &rollup.Version{Generation: number, Definition: d, Since: at},
		Last: number + version}
	w.generation = rollup.Generation{
		Number: number, Definition: d, State: rollup.Following, Watermark: changelog.Seq(math.MaxInt64 - version), At: at,
		Groups: version,
		Reason: "none", Verified: at,
	}
	body := []byte{0, byte(version), 0xff}
	w.rows = []rollup.Row{{Key: []byte{}, Body: body}, {Key: []byte{0}, Body: []byte{}},
		{Key: []byte("g寿\x00\xff"), Body: body}, {Key: []byte{0xff, byte(n)}, Body: body}}
}

// put writes the things from n to n+count-1, new ones or new versions.
func put(ctx context.Context, tx storage.Tx, n, count int, version int64) error {
	for i := n; i < n+count; i++ {
		allocated, err := tx.Allocate(ctx, []cell.Key{keyOf(i)})
		if err != nil {
			return err
		}
		w := thingOf(i, entity.PUID(allocated[0].PUID), version)
		_, err = tx.PutRedo(ctx, []derived.Redo{w.redo})
		err = errors.Join(err,
			tx.PutRecords(ctx, []*entity.Record{w.record}), tx.PutBirths(ctx, []entity.Birth{w.birth}),
			tx.PutEntities(ctx, []entity.Indexed{w.entity}),
			tx.PutRollup(ctx, w.rollup), tx.PutGeneration(ctx, w.generation), tx.PutRows(ctx, w.generation.Number, w.rows),
			tx.PutDefinition(ctx, w.rollup.Name, w.rows[0].Body), w.hits.put(ctx, tx), tx.Append(ctx, w.changes),
			tx.Post(ctx, w.postings, nil), copier(tx).WriteRows(ctx, "posting_chunk", [][]any{w.chunk}),
			tx.PutEdges(ctx, w.edges), tx.PutAudit(ctx, w.audited),
			tx.PutDecisions(ctx, []entity.Decision{w.decision}), tx.AddCounts(ctx, entity.Counts{
				Records: 1, Entities: 2, Merges: 3, Splits: 4,
			}))
		if err != nil {
			return err
		}
	}
	return nil
}

// remove deletes what a thing has written, as far as the Stores can.
func remove(ctx context.Context, tx storage.Tx, n int, puid entity.PUID) error {
	w := thingOf(n, puid, math.MaxInt64)
	tombstone := &entity.Record{PUID: puid, Version: 99, Anchor: puid}
	w.birth.PUID, w.birth.Successor = 0, idOf(n+1)
	return errors.Join(
		tx.PutRecords(ctx, []*entity.Record{tombstone}), tx.PutBirths(ctx, []entity.Birth{w.birth}),
		tx.DeleteEntities(ctx, []entity.PUID{puid}), tx.Post(ctx, nil, w.postings[:1]),
		copier(tx).DeleteRows(ctx, "posting_chunk", [][]any{w.chunk[:1]}),
		tx.DeleteEdges(ctx, []derived.Pair{{A: puid, B: puid + 1}}),
		tx.DeleteGeneration(ctx, w.generation.Number),
		tx.PutRows(ctx, w.generation.Number, []rollup.Row{{Key: w.rows[0].Key}}),
		w.hits.remove(ctx, tx), tx.ClearRedo(ctx, []derived.Redo{w.redo}), tx.DropAudit(ctx, []audit.Position{{Chain: int64(n) << 56, Seq: 1}}), tx.DeleteDecisions(ctx, []entity.PUID{puid}), tx.AddCounts(ctx, entity.Counts{Records: -1}))
}

func trim(ctx context.Context, tx storage.Tx, n int) error {
	b, err := tx.Bounds(ctx)
	if err != nil {
		return err
	}
	got, err := tx.Trim(ctx, b.Last, n)
	if err == nil && got != n {
		err = fmt.Errorf("%d changes were trimmed, want %d", got, n)
	}
	return err
}

// populate writes things into a cell: new ones, new versions, a deleted one, and trimmed changes.
func populate(t tester, c storage.Cell) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		return put(ctx, tx, 0, population, 1)
	})
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		puids, err := tx.Lookup(ctx, []cell.Key{keyOf(0)})
		if err != nil {
			return err
		}
		return errors.Join(tx.RaiseDedupHorizon(ctx, 7), put(ctx, tx, 3, 2, 7), remove(ctx, tx, 0, entity.PUID(puids[0])),
			trim(ctx, tx, 2))
	})
}

// answers are the results of the Stores for the first n things, without entities, which are rebuilt by the mover.
type answers struct {
	PUIDs        []int64
	Next         cell.Allocation
	Records      []*entity.Record
	Births       []*entity.Birth
	Changes      []changelog.Change
	RecordsByKey [][]entity.PUID
	Edges        []derived.Edge
	Redo         []derived.Redo
	Depth        int
	Counts       entity.Counts
	Decided      []entity.Decision
	Seq          []changelog.Change

	Bounds      changelog.Bounds
	Rollups     []rollup.Rollup
	Generations []rollup.Generation
	Rows        [][][]rollup.Row
	Definitions [][]byte
	Audited     []audit.Row
	Counted     counted
}

// ask queries the Stores, and writes one more key and change to see which numbers they get. It rolls that back.
func ask(t tester, c storage.Cell, n int) (a answers) {
	t.Helper()
	ctx := context.Background()
	err := c.Update(ctx, func(tx storage.Tx) error {
		keys, ids, features, limits := make([]cell.Key, n), make([]locality.ID, n), []uint64{math.MaxUint64}, []int{many}
		for i := range n {
			keys[i], ids[i] = keyOf(i), idOf(i)
			features, limits = append(features, uint64(i)<<58), append(limits, many)
		}
		var err [16]error
		a.PUIDs, err[0] = tx.Lookup(ctx, keys)
		var puids []entity.PUID
		for _, p := range a.PUIDs {
			puids = append(puids, entity.PUID(p))
		}
		a.Records, err[1] = tx.Records(ctx, puids)
		a.Decided, err[14] = tx.Decisions(ctx, puids)
		a.Births, err[2] = tx.Births(ctx, ids)
		a.Bounds, err[9] = tx.Bounds(ctx)
		a.Changes, err[3] = tx.Changes(ctx, a.Bounds.Trimmed, many)
		a.RecordsByKey, err[4] = tx.RecordsByKey(ctx, features, limits)
		a.Edges, err[5] = tx.Edges(ctx, puids)
		a.Redo, err[6] = tx.Redo(ctx, math.MinInt64, many)
		a.Depth, err[7] = tx.RedoDepth(ctx)
		a.Counts, err[8] = tx.Counts(ctx)
		a.Counted, err[13] = askCounters(ctx, tx, n)
		a.Rollups, err[10] = tx.Rollups(ctx)
		a.Generations, err[11] = tx.Generations(ctx)
		a.Rows = make([][][]rollup.Row, n)
		for i := range n {
			if a.Rows[i], err[12] = tx.ScanRows(ctx, int64(i)<<56, []rollup.Range{{Limit: many}}); err[12] != nil {
				break
			}
		}
		a.Audited, err[15] = tx.AuditAfter(ctx, audit.Position{}, many)
		a.Definitions = make([][]byte, n)
		for i := range n {
			if a.Definitions[i], err[14] = tx.Definition(ctx, fmt.Sprintf("r-%d", i)); err[14] != nil {
				break
			}
		}
		if err := errors.Join(err[:]...); err != nil {
			return err
		}
		next, e := tx.Allocate(ctx, []cell.Key{{Ring: 1}})
		if e != nil {
			return e
		}
		a.Next = next[0]
		if e := tx.Append(ctx, []changelog.Change{{Time: time.UnixMilli(0).UTC(), Kind: changelog.Put, Entity: idOf(1)}}); e != nil {
			return e
		}
		a.Seq, e = tx.Changes(ctx, a.Bounds.Last, many)
		return errors.Join(e, conformance.ErrRollback)
	})
	if !errors.Is(err, conformance.ErrRollback) {
		t.Fatalf("ask the Stores: %v", err)
	}
	return a
}
