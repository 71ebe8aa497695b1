// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
)

func entitiesComeBackWhole(t tester, c Cell) {
	big := thing(1, 2, -3, math.MinInt64)
	big.Stamp = math.MaxUint64
	small := thing(5)
	small.Stamp, small.View, small.ID = 0, nil, locality.Max()
	putEntities(t, c, entity.Indexed{Entity: small}, entity.Indexed{Entity: big})
	same(t, "entities", getEntities(t, c, 2, 1, 5, 1), []*entity.Entity{nil, big, small, big})
}

func deleteEntities(t tester, c Cell, anchors ...entity.PUID) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
		return s.DeleteEntities(ctx, anchors)
	})
}

func entitiesReplaceAndDelete(t tester, c Cell) {
	first, second := thing(1), thing(1, 2)
	second.Stamp, second.View = 99, second.View[:1]
	putEntities(t, c, entity.Indexed{Entity: first}, entity.Indexed{Entity: thing(3)})
	putEntities(t, c, entity.Indexed{Entity: second})
	same(t, "replaced", getEntities(t, c, 1, 3), []*entity.Entity{second, thing(3)})
	putEntities(t, c, entity.Indexed{Entity: second}, entity.Indexed{Entity: thing(4)}, entity.Indexed{Entity: first})
	same(t, "the later one of a batch", getEntities(t, c, 1), []*entity.Entity{first})
	for range 2 {
		deleteEntities(t, c, 4, 77, 1, 1)
		same(t, "deleted", getEntities(t, c, 1, 3, 4), []*entity.Entity{nil, thing(3), nil})
	}
	putEntities(t, c, entity.Indexed{Entity: first})
	same(t, "back again", getEntities(t, c, 1), []*entity.Entity{first})
}

func listEntities(t tester, c Cell, after entity.PUID, limit int) []*entity.Entity {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]*entity.Entity, error) {
		return s.ListEntities(ctx, after, limit)
	})
}

func listEntitiesInPages(t tester, c Cell) {
	want := []*entity.Entity{thing(-40), thing(-3), thing(5, -100), thing(6), thing(1 << 40)}
	for _, i := range []int{3, 0, 4, 2, 1} {
		putEntities(t, c, entity.Indexed{Entity: want[i]})
	}
	same(t, "all", listEntities(t, c, math.MinInt64, 100), want)
	same(t, "first two", listEntities(t, c, math.MinInt64, 2), want[:2])
	same(t, "after one that is there", listEntities(t, c, -3, 2), want[2:4])
	same(t, "after one that is not", listEntities(t, c, 0, 100), want[2:])
	same(t, "after the last", listEntities(t, c, 1<<40, 100), nil)
}

func thousandItems(t tester, c Cell) {
	const n = 1000
	var records []*entity.Record
	var births []entity.Birth
	var entities []entity.Indexed
	var assignments []entity.Assignment
	var puids []entity.PUID
	var ids []locality.ID
	for i := range n {
		// An odd multiplier visits every puid of the range out of order.
		p := entity.PUID(i*7919%n - 500)
		if p == 0 {
			p = n
		}
		r := record(p)
		r.Anchor = p + 1
		records, puids, ids = append(records, r), append(puids, p), append(ids, r.Birth)
		births = append(births, entity.Birth{ID: r.Birth, PUID: p})
		entities = append(entities, indexed(p, fmt.Sprintf("shop number%d", i%10), uint64(i)))
		assignments = append(assignments, entity.Assignment{PUID: p, Anchor: p + 1})
	}
	conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
		return errors.Join(s.PutRecords(ctx, records), s.PutBirths(ctx, births), s.PutEntities(ctx, entities),
			s.Assign(ctx, assignments))
	})
	same(t, "records", getRecords(t, c, puids...), records)
	for i, b := range getBirths(t, c, ids...) {
		if b == nil || b.PUID != puids[i] {
			t.Fatalf("birth %d of %d: %+v, want puid %s", i, n, b, puids[i])
		}
	}
	for i, e := range getEntities(t, c, puids...) {
		if diff := equal(e, entities[i].Entity); diff != "" {
			t.Fatalf("entity %d of %d (-want +got):\n%s", i, n, diff)
		}
	}
	if got := search(t, c, entity.Query{Words: []string{"number3", "shop"}, After: math.MinInt64}); len(got) != n/10 || !slices.IsSorted(got) {
		t.Fatalf("%d entities with one of ten words among %d: %v", len(got), n, got)
	}
	finds(t, c, entity.Query{Terms: []uint64{17}, After: math.MinInt64}, puids[17])
	deleteEntities(t, c, puids...)
	same(t, "list of entities", listEntities(t, c, math.MinInt64, n), nil)
	finds(t, c, entity.Query{Words: []string{"shop"}, After: math.MinInt64})
}

// everything writes one row of each type and reads it back in the same transaction.
func everything(ctx context.Context, s entity.Store) error {
	r := record(1)
	moved := record(1)
	moved.Anchor = 9
	b := entity.Birth{ID: r.Birth, PUID: 1}
	e := indexed(1, "joes pizza", 5)
	err := errors.Join(s.PutRecords(ctx, []*entity.Record{r}), s.Assign(ctx, []entity.Assignment{{PUID: 1, Anchor: 9}}),
		s.PutBirths(ctx, []entity.Birth{b}), s.PutEntities(ctx, []entity.Indexed{e}),
		s.AddCounts(ctx, entity.Counts{Records: 1, Entities: 1}))
	if err != nil {
		return err
	}
	records, err1 := s.Records(ctx, []entity.PUID{1})
	listed, err2 := s.ListRecords(ctx, "vendor", 0, 10)
	births, err3 := s.Births(ctx, []locality.ID{r.Birth})
	entities, err4 := s.Entities(ctx, []entity.PUID{1})
	found, err5 := s.Search(ctx, entity.Query{Words: []string{"joes"}, Terms: []uint64{5}, Limit: 10})
	counts, err6 := s.Counts(ctx)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return err
	}
	got := []any{records, listed, births, entities, found, counts}
	want := []any{
		[]*entity.Record{moved},
		[]*entity.Record{moved},
		[]*entity.Birth{&b},
		[]*entity.Entity{e.Entity},
		[]*entity.Entity{e.Entity},
		entity.Counts{Records: 1, Entities: 1},
	}
	if diff := equal(got, want); diff != "" {
		return fmt.Errorf("what the transaction wrote (-want +got):\n%s", diff)
	}
	return nil
}

func seesItsOwnWrites(t tester, c Cell) { conformance.Update(t, c.Update, everything) }

func rollbackLeavesNothing(t tester, c Cell) {
	conformance.Ends(t, c.Update, true, everything)
	emptyCell(t, c)
	putRecords(t, c, record(2))
	putEntities(t, c, indexed(2, "joes"))
	conformance.Ends(t, c.Update, true, func(ctx context.Context, s entity.Store) error {
		return errors.Join(s.PutRecords(ctx, []*entity.Record{tombstone(2, 2)}), s.DeleteEntities(ctx, []entity.PUID{2}))
	})
	same(t, "record", getRecords(t, c, 2), []*entity.Record{record(2)})
	finds(t, c, entity.Query{Words: []string{"joes"}}, 2)
}

func survivesReopening(t tester, c Cell) {
	conformance.Update(t, c.Update, everything)
	putEntities(t, c, indexed(1, "other"), indexed(2, "two"))
	deleteEntities(t, c, 2)
	conformance.Reopen(t, c.Reopen)
	want := record(1)
	want.Anchor = 9
	same(t, "record", getRecords(t, c, 1), []*entity.Record{want})
	same(t, "birth", getBirths(t, c, want.Birth), []*entity.Birth{{ID: want.Birth, PUID: 1}})
	same(t, "counts", getCounts(t, c), entity.Counts{Records: 1, Entities: 1})
	finds(t, c, entity.Query{Words: []string{"other"}}, 1)
	finds(t, c, entity.Query{Words: []string{"joes"}})
	finds(t, c, entity.Query{}, 1)
}

func cancelledContext(t tester, c Cell) {
	putRecords(t, c, record(1))
	conformance.Cancelled(t, c.Update, func(ctx context.Context, s entity.Store) error {
		return s.PutRecords(ctx, []*entity.Record{tombstone(1, 2)})
	}, func(ctx context.Context, s entity.Store) error {
		_, err := s.Records(ctx, []entity.PUID{1})
		return err
	})
	same(t, "record", getRecords(t, c, 1), []*entity.Record{record(1)})
}
