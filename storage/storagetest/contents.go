// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

func vector(bits uint64) match.Vector { return match.Vector(bits) }

func weight(n int) match.Weight { return match.Weight(n) }

// contents are the rows of everything, as read from a cell.
type contents struct {
	Key          int64
	Record       *entity.Record
	Birth        *entity.Birth
	Entity       *entity.Entity
	Found        int
	Counts       entity.Counts
	Changes      int
	RecordsByKey [][]entity.PUID
	Edges        []derived.Edge
	Redo         []derived.Redo
	Rollups      int
	Groups       []int64 // of generations
	Rows         [][]byte
}

var (
	sampleKey = cell.Key{Ring: -7, Digest: [16]byte{1, 2, 3}}
	sampleRow = []byte{0, 0xff}
	sampleID  = locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2")
)

// everything writes through every store and returns what it wrote.
func everything(ctx context.Context, tx storage.Tx) (contents, error) {
	allocated, err := tx.Allocate(ctx, []cell.Key{sampleKey})
	if err != nil {
		return contents{}, err
	}
	puid := entity.PUID(allocated[0].PUID)
	ref := entity.Ref{Source: "osm", Key: "node/1"}
	want := contents{
		Key: int64(puid),
		Record: &entity.Record{
			PUID: puid, Ref: ref, Version: 1, Birth: sampleID, Anchor: puid, Observed: time.UnixMilli(1_700_000_000_000).UTC(),
			Attributes: entity.Attributes{"name": {"Joe's"}},
		},
		Birth: &entity.Birth{ID: sampleID, PUID: puid},
		Entity: &entity.Entity{
			ID: sampleID, Members: []entity.Member{{PUID: puid, Ref: ref, Version: 1}}, Stamp: 5,
			View: entity.View{{Name: "name", Values: []entity.MergedValue{{Value: "Joe's", Members: []int{0}}}}},
		},
		Found: 1, Counts: entity.Counts{Records: 1, Entities: 1}, Changes: 1,
		RecordsByKey: [][]entity.PUID{{puid}}, Edges: []derived.Edge{edge(puid, 3)}, Redo: []derived.Redo{{
			PUID: puid, Version: 1, LostKeys: []uint64{4},
		}},
		Rollups: 1, Groups: []int64{5}, Rows: [][]byte{[]byte("6")},
	}
	number, d := int64(7), rollup.Definition{Name: "r", Kind: "place", Group: []string{"city"}}
	change := changelog.Change{
		Time: want.Record.Observed, Kind: changelog.Put, Entity: sampleID,
		After: []changelog.Version{{PUID: puid, Version: 1}},
	}
	return want, errors.Join(
		tx.PutRecords(ctx, []*entity.Record{want.Record}), tx.PutBirths(ctx, []entity.Birth{*want.Birth}),
		tx.PutEntities(ctx, []entity.Indexed{{Entity: want.Entity, Words: []string{"joes"}}}), tx.AddCounts(ctx, want.Counts),
		tx.Append(ctx, []changelog.Change{change}), tx.Post(ctx, postings(9, puid), nil), tx.PutEdges(ctx, want.Edges), put(ctx, tx, want.Redo...),
		tx.PutRollup(ctx, rollup.Rollup{Name: "r", Next: &rollup.Version{Generation: number, Definition: d}, Last: number}),
		tx.PutGeneration(ctx, rollup.Generation{
			Number: number, Definition: d, State: rollup.Building, Groups: want.Groups[0],
		}),
		tx.PutRows(ctx, number, []rollup.Row{{Key: sampleRow, Body: want.Rows[0]}}))
}

func inspect(ctx context.Context, tx storage.Tx, puid entity.PUID) (got contents, err error) {
	puids, err1 := tx.Lookup(ctx, []cell.Key{sampleKey})
	records, err2 := tx.Records(ctx, []entity.PUID{puid})
	births, err3 := tx.Births(ctx, []locality.ID{sampleID})
	entities, err4 := tx.Entities(ctx, []entity.PUID{puid})
	found, err5 := tx.Search(ctx, entity.Query{Words: []string{"joes"}, After: puid - 1, Limit: 10})
	counts, err6 := tx.Counts(ctx)
	changes, err7 := tx.Changes(ctx, 0, 10)
	carriers, err8 := tx.RecordsByKey(ctx, []uint64{9}, []int{10})
	es, err9 := tx.Edges(ctx, []entity.PUID{puid})
	redo, err10 := tx.Redo(ctx, first, 10)
	rollups, err11 := tx.Rollups(ctx)
	generations, err12 := tx.Generations(ctx)
	rows, err13 := tx.Rows(ctx, 7, [][]byte{sampleRow})
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11, err12, err13); err != nil {
		return got, err
	}
	var groups []int64
	for _, g := range generations {
		groups = append(groups, g.Groups)
	}
	return contents{
		puids[0], records[0], births[0], entities[0], len(found), counts, len(changes), carriers, es, redo,
		len(rollups), groups, rows,
	}, nil
}

// holds fails unless the cell has exactly these contents.
func holds(t tester, c Cell, puid entity.PUID, want contents) {
	t.Helper()
	same(t, "contents", view(t, c, func(ctx context.Context, tx storage.Tx) (contents, error) { return inspect(ctx, tx, puid) }), want)
}

// nothing are the contents of an empty cell.
var nothing = contents{RecordsByKey: [][]entity.PUID{nil}, Rows: [][]byte{nil}}
