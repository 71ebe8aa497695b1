// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
)

func emptyArguments(t tester, c Cell) {
	conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
		records, err1 := s.Records(ctx, nil)
		births, err2 := s.Births(ctx, nil)
		entities, err3 := s.Entities(ctx, nil)
		decisions, err4 := s.Decisions(ctx, nil)
		if n := len(records) + len(births) + len(entities) + len(decisions); n > 0 {
			return fmt.Errorf("%d answers to no questions", n)
		}
		return errors.Join(err1, err2, err3, err4, s.PutDecisions(ctx, nil), s.DeleteDecisions(ctx, nil), s.PutRecords(ctx, nil), s.Assign(ctx, nil), s.PutBirths(ctx, nil),
			s.PutEntities(ctx, nil), s.DeleteEntities(ctx, nil), s.AddCounts(ctx, entity.Counts{}))
	})
}

func emptyCell(t tester, c Cell) {
	same(t, "records", getRecords(t, c, 1, -1), []*entity.Record{nil, nil})
	same(t, "entities", getEntities(t, c, 1, -1), []*entity.Entity{nil, nil})
	same(t, "births", getBirths(t, c, birthID(1), locality.ID{}), []*entity.Birth{nil, nil})
	same(t, "list of records", listRecords(t, c, "", math.MinInt64, 10), nil)
	same(t, "list of entities", listEntities(t, c, math.MinInt64, 10), nil)
	finds(t, c, entity.Query{After: math.MinInt64})
	finds(t, c, entity.Query{After: math.MinInt64, Words: []string{"joes"}})
	same(t, "counts", getCounts(t, c), entity.Counts{})
}

func recordsComeBackWhole(t tester, c Cell) {
	old := record(7)
	old.Observed = time.UnixMilli(0).UTC()
	late := record(8)
	late.Observed = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	late.Version = math.MaxInt64
	late.Anchor = 7
	bare := record(9)
	bare.Attributes = entity.Attributes{}
	wide := record(10)
	for i := range 128 {
		wide.Attributes[fmt.Sprintf("a%d", i)] = []string{"1", "", "1"}
	}
	all := []*entity.Record{old, late, bare, wide, tombstone(11, 4)}
	putRecords(t, c, all...)
	got := getRecords(t, c, 7, 8, 9, 10, 11)
	same(t, "records", got, all)
	if got[2].Deleted() || !got[4].Deleted() {
		t.Fatalf("a record without attributes and a tombstone: deleted %v and %v", got[2].Deleted(), got[4].Deleted())
	}
}

func recordsInTheOrderAsked(t tester, c Cell) {
	putRecords(t, c, record(3), record(-1), record(2))
	same(t, "records", getRecords(t, c, 2, 5, 3, 2, -1),
		[]*entity.Record{record(2), nil, record(3), record(2), record(-1)})
}

func laterRecordOfABatchWins(t tester, c Cell) {
	first, second := record(1), record(1)
	second.Version, second.Attributes = 2, entity.Attributes{"name": {"Later"}}
	putRecords(t, c, record(2), first, record(0x7fff), second)
	same(t, "record", getRecords(t, c, 1), []*entity.Record{second})
}

func newVersionReplaces(t tester, c Cell) {
	putRecords(t, c, record(1), record(2))
	changed := record(1)
	changed.Version, changed.Birth, changed.Anchor, changed.Attributes = 2, birthID(99), 2, entity.Attributes{"fax": {"no"}}
	changed.Observed = changed.Observed.Add(time.Millisecond)
	putRecords(t, c, changed)
	same(t, "records", getRecords(t, c, 1, 2), []*entity.Record{changed, record(2)})
	putRecords(t, c, tombstone(1, 3))
	same(t, "records", getRecords(t, c, 1, 2), []*entity.Record{tombstone(1, 3), record(2)})
	putRecords(t, c, record(1))
	same(t, "records", getRecords(t, c, 1, 2), []*entity.Record{record(1), record(2)})
}

func hostileStrings(t tester, c Cell) {
	var all []*entity.Record
	var puids []entity.PUID
	for i, s := range hostile {
		r := record(entity.PUID(i + 1))
		r.Source, r.Key, r.Attributes = s, s, entity.Attributes{s: {s, s}, "x" + s: {"y"}}
		all, puids = append(all, r), append(puids, r.PUID)
	}
	putRecords(t, c, all...)
	same(t, "records", getRecords(t, c, puids...), all)
	for i, s := range hostile {
		if s != "" {
			same(t, fmt.Sprintf("records of source %q", s), listRecords(t, c, s, 0, 10), all[i:i+1])
		}
	}
	var things []entity.Indexed
	var want []*entity.Entity
	for i, s := range hostile {
		e := thing(entity.PUID(i + 1))
		e.Members[0].Ref = entity.Ref{Source: s, Key: s}
		e.View = entity.View{{Name: s, Values: []entity.MergedValue{{Value: s, Members: []int{0}}}}}
		things, want = append(things, entity.Indexed{Entity: e}), append(want, e)
	}
	putEntities(t, c, things...)
	same(t, "entities", getEntities(t, c, puids...), want)
}

func wholeRangeOfPUIDs(t tester, c Cell) {
	var records []*entity.Record
	var entities []entity.Indexed
	var things []*entity.Entity
	for _, p := range puidEdges {
		records = append(records, record(p))
		e := indexed(p, "joes")
		entities, things = append(entities, e), append(things, e.Entity)
	}
	slices.Reverse(records)
	putRecords(t, c, records...)
	slices.Reverse(records)
	putEntities(t, c, entities...)
	same(t, "records", getRecords(t, c, puidEdges...), records)
	same(t, "entities", getEntities(t, c, puidEdges...), things)
	same(t, "list of records", listRecords(t, c, "", math.MinInt64, 100), records[1:])
	same(t, "list of entities", listEntities(t, c, math.MinInt64, 100), things[1:])
	finds(t, c, entity.Query{Words: []string{"joes"}, After: math.MinInt64}, puidEdges[1:]...)
	finds(t, c, entity.Query{Words: []string{"joes"}, After: -1}, puidEdges[7:]...)
	finds(t, c, entity.Query{Words: []string{"joes"}, After: math.MaxInt64})
}

func assignSetsTheAnchorOnly(t tester, c Cell) {
	putRecords(t, c, record(1), record(2), record(3), tombstone(4, 2))
	for range 2 {
		conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
			return s.Assign(ctx, []entity.Assignment{{PUID: 3, Anchor: 1}, {PUID: 2, Anchor: -5}, {PUID: 77, Anchor: 1},
				{PUID: 4, Anchor: 1}})
		})
	}
	two, three, four := record(2), record(3), tombstone(4, 2)
	two.Anchor, three.Anchor, four.Anchor = -5, 1, 1
	same(t, "records", getRecords(t, c, 1, 2, 3, 4, 77), []*entity.Record{record(1), two, three, four, nil})
}

func listRecords(t tester, c Cell, source string, after entity.PUID, limit int) []*entity.Record {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]*entity.Record, error) {
		return s.ListRecords(ctx, source, after, limit)
	})
}

func listRecordsInPages(t tester, c Cell) {
	var want []*entity.Record
	for _, p := range []entity.PUID{-40, -3, 5, 6, 1 << 40} {
		want = append(want, record(p))
	}
	putRecords(t, c, want[4], want[0], tombstone(-4, 1), want[2], want[1], want[3])
	same(t, "all", listRecords(t, c, "", math.MinInt64, 100), want)
	same(t, "first two", listRecords(t, c, "", math.MinInt64, 2), want[:2])
	same(t, "after one that is there", listRecords(t, c, "", -3, 2), want[2:4])
	same(t, "after one that is not", listRecords(t, c, "", 0, 100), want[2:])
	same(t, "after a tombstone", listRecords(t, c, "", -4, 1), want[1:2])
	same(t, "after the last", listRecords(t, c, "", 1<<40, 100), nil)
}

// counted is the result of CountRecords, in the order of source and kind.
type counted struct {
	Counts []entity.SourceCount
	Next   entity.PUID
}

func countOf(ctx context.Context, s entity.Store, after entity.PUID, limit int) (c counted, err error) {
	c.Counts, c.Next, err = s.CountRecords(ctx, after, limit)
	slices.SortFunc(c.Counts, func(a, b entity.SourceCount) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind))
	})
	return c, err
}

func countRecordsInPages(t tester, c Cell) {
	of := func(p, anchor entity.PUID, source, kind string, hour int) *entity.Record {
		r := record(p)
		r.Anchor = anchor
		r.Source, r.Kind, r.Observed = source, kind, time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)
		return r
	}
	putRecords(t, c, of(-9, -9, "osm", "place", 3), of(-2, -9, "osm", "place", 5), tombstone(1, 4),
		of(4, -9, "crm", "place", 1), of(5, 5, "osm", "person", 2), of(6, 6, "osm", "place", 4))
	count := func(source, kind string, n, created int64, hour int) entity.SourceCount {
		return entity.SourceCount{Source: source, Kind: kind, Records: n, Created: created,
			Newest: time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)}
	}
	page := func(after entity.PUID, limit int) counted {
		return read(t, c, func(ctx context.Context, s entity.Store) (counted, error) { return countOf(ctx, s, after, limit) })
	}
	same(t, "all", page(math.MinInt64, 100), counted{Counts: []entity.SourceCount{
		count("crm", "place", 1, 0, 1), count("osm", "person", 1, 1, 2), count("osm", "place", 3, 2, 5),
	}})
	same(t, "the first three", page(math.MinInt64, 3),
		counted{Counts: []entity.SourceCount{count("crm", "place", 1, 0, 1), count("osm", "place", 2, 1, 5)}, Next: 4})
	same(t, "the other two", page(4, 3),
		counted{Counts: []entity.SourceCount{count("osm", "person", 1, 1, 2), count("osm", "place", 1, 1, 4)}})
	same(t, "after the last", page(6, 3), counted{})
}

func listRecordsOfASource(t tester, c Cell) {
	var all []*entity.Record
	for i, source := range []string{"osm", "OSM", "osm", "o%", "osm2", "osm"} {
		r := record(entity.PUID(i + 1))
		r.Source = source
		all = append(all, r)
	}
	gone := tombstone(9, 1)
	gone.Source = "osm"
	putRecords(t, c, append(all, gone)...)
	same(t, "osm", listRecords(t, c, "osm", 0, 100), []*entity.Record{all[0], all[2], all[5]})
	same(t, "osm, a page", listRecords(t, c, "osm", 1, 1), []*entity.Record{all[2]})
	same(t, "OSM", listRecords(t, c, "OSM", 0, 100), all[1:2])
	same(t, "o%", listRecords(t, c, "o%", 0, 100), all[3:4])
	same(t, "of nobody", listRecords(t, c, "nobody", 0, 100), nil)
	moved := record(1)
	moved.Source = "nobody"
	putRecords(t, c, moved, tombstone(3, 2))
	same(t, "osm, after changes", listRecords(t, c, "osm", 0, 100), []*entity.Record{all[5]})
	same(t, "nobody, after changes", listRecords(t, c, "nobody", 0, 100), []*entity.Record{moved})
}

func getCounts(t tester, c Cell) entity.Counts {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) (entity.Counts, error) { return s.Counts(ctx) })
}

func countsAddUp(t tester, c Cell) {
	add := func(delta entity.Counts) {
		conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
			before, err := s.Counts(ctx)
			if err != nil {
				return err
			}
			if err := s.AddCounts(ctx, delta); err != nil {
				return err
			}
			if got, err := s.Counts(ctx); err != nil || got != before.Add(delta) {
				return fmt.Errorf("%+v and %+v is %+v, %w", before, delta, got, err)
			}
			return nil
		})
	}
	add(entity.Counts{Records: 1, Entities: 2, Merges: 3, Splits: 4})
	add(entity.Counts{Records: -1, Entities: -1, Merges: 1 << 53})
	add(entity.Counts{Merges: 1, Splits: 1})
	same(t, "counts", getCounts(t, c), entity.Counts{Records: 0, Entities: 1, Merges: 1<<53 + 4, Splits: 5})
}
