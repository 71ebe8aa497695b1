// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"
	"math"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
)

func getBirths(t tester, c Cell, ids ...locality.ID) []*entity.Birth {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]*entity.Birth, error) { return s.Births(ctx, ids) })
}

func birthsAnswerForEver(t tester, c Cell) {
	a, b := entity.Birth{ID: birthID(1), PUID: 1}, entity.Birth{ID: birthID(2), PUID: -2}
	last := entity.Birth{ID: locality.Max(), PUID: math.MinInt64, Successor: birthID(1)}
	put := func(births ...entity.Birth) {
		conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error { return s.PutBirths(ctx, births) })
	}
	put(last, b, a)
	same(t, "births", getBirths(t, c, a.ID, birthID(3), last.ID, b.ID, a.ID), []*entity.Birth{&a, nil, &last, &b, &a})
	a.PUID, a.Successor = 0, b.ID
	b.PUID = 0
	put(a, b)
	put(a)
	same(t, "births", getBirths(t, c, b.ID, a.ID, last.ID), []*entity.Birth{&b, &a, &last})
}

func listBirths(t tester, c Cell, after locality.ID, limit int) []entity.Birth {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]entity.Birth, error) {
		return s.ListBirths(ctx, after, limit)
	})
}

func listBirthsInPages(t tester, c Cell) {
	// Ids are ordered by their unsigned bytes, independent of their records.
	high := locality.ID{0: 0x80, 15: 1}
	want := []entity.Birth{
		{ID: locality.ID{15: 1}, PUID: 9},
		{ID: locality.ID{0: 0x7f, 15: 0xff}, PUID: -2},
		{ID: high, Successor: locality.Max()},
		{ID: locality.ID{0: 0xff}},
		{ID: locality.Max(), PUID: 1},
	}
	conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
		return s.PutBirths(ctx, []entity.Birth{want[3], want[0], want[4], want[2], want[1]})
	})
	same(t, "all", listBirths(t, c, locality.ID{}, 100), want)
	same(t, "first two", listBirths(t, c, locality.ID{}, 2), want[:2])
	same(t, "after one that is there", listBirths(t, c, want[1].ID, 2), want[2:4])
	same(t, "after one that is not", listBirths(t, c, locality.ID{0: 0x80}, 100), want[2:])
	same(t, "after the last", listBirths(t, c, locality.Max(), 100), nil)
}
