// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"math"

	"github.com/locus-db/locus/entity"
)

// best returns the query with results from the highest rank down.
func best(q entity.Query) entity.Query {
	q.Best, q.Points, q.After = true, entity.MaxRank, math.MinInt64
	return q
}

func searchWithout(t tester, c Cell) {
	putEntities(t, c, indexed(-1, "joes", 4, 5), indexed(1, "joes pizza", 4), indexed(2, "rays", 5), indexed(3, "rays"))
	without := func(q entity.Query, terms ...uint64) entity.Query {
		q.Without, q.After = terms, math.MinInt64
		return q
	}
	finds(t, c, without(names("joes"), 5), 1)
	finds(t, c, without(terms(4), 5), 1)
	finds(t, c, without(terms(4), 4))
	finds(t, c, without(names("joes"), 6), -1, 1)
	finds(t, c, without(entity.Query{}, 5), 1, 3)
	finds(t, c, without(entity.Query{}, 5, 4), 3)
	finds(t, c, without(entity.Query{}, 6), -1, 1, 2, 3)
	finds(t, c, best(without(entity.Query{}, 5)), 1, 3)
	finds(t, c, best(without(names("ra"), 5)), 3)
}

func searchBestFirst(t tester, c Cell) {
	putEntities(t, c, ranked(1, 3, "joes pizza", 4), ranked(2, entity.MaxRank, "joes", 4), ranked(3, 0, "joes pizza"),
		ranked(4, 3, "joes", 4), ranked(-7, 3, "joes"))
	finds(t, c, best(entity.Query{}), 2, -7, 1, 4, 3)
	finds(t, c, best(names("joes")), 2, -7, 1, 4, 3)
	finds(t, c, best(names("joes", "piz")), 1, 3)
	finds(t, c, best(terms(4)), 2, 1, 4)
	finds(t, c, best(names("absent")))
	finds(t, c, best(names("%")))
	putEntities(t, c, ranked(3, 17, "joes pizza"), ranked(2, 2, "joes", 4)) // the words are unchanged
	finds(t, c, best(names("joes")), 3, -7, 1, 4, 2)
	same(t, "entity of another rank", getEntities(t, c, 3)[0].Rank, entity.Rank{Sources: 8, Known: 9})
	deleteEntities(t, c, 3)
	finds(t, c, best(entity.Query{}), -7, 1, 4, 2)
}

func searchBestInPages(t tester, c Cell) {
	putEntities(t, c, ranked(7, 5, "joes"), ranked(-9, 5, "joes"), ranked(3, 5, "joes"), ranked(-2, 9, "joes"),
		ranked(100, 1, "joes"), ranked(101, 1, "rays"))
	for _, q := range []entity.Query{names("joes"), {Words: []string{"joes"}, Without: []uint64{1}}} {
		page := func(points int, after entity.PUID, limit int, want ...entity.PUID) {
			q.Best, q.Points, q.After, q.Limit = true, points, after, limit
			finds(t, c, q, want...)
		}
		page(entity.MaxRank, math.MinInt64, 100, -2, -9, 3, 7, 100)
		page(entity.MaxRank, 1000, 2, -2, -9)
		page(9, -2, 1, -9)
		page(5, -9, 2, 3, 7)
		page(5, 4, 5, 7, 100)
		page(5, 7, 5, 100)
		page(4, 1000, 5, 100)
		page(1, 100, 5)
		page(0, math.MinInt64, 5)
	}
}

// searchBestOfMany matches more entities than can be sorted one by one, some of equal rank.
func searchBestOfMany(t tester, c Cell) {
	const n = 12_000
	var entities []entity.Indexed
	for i := range entity.PUID(n) {
		e := indexed(i-n/2, "joes")
		if i%5 == 0 {
			e = indexed(i-n/2, "joes pizza", 1)
		}
		e.Rank = entity.Rank{Sources: int(i % 3), Known: int(i % 2)}
		entities = append(entities, e)
	}
	putEntities(t, c, entities...)
	for _, q := range []entity.Query{names("joes"), names("jo"), {Words: []string{"joes"}, Without: []uint64{1}}, {}} {
		var want []entity.PUID
		for points := entity.MaxRank; points >= 0; points-- {
			for _, e := range entities {
				if e.Rank.Points() == points && matches(e, q) {
					want = append(want, e.Anchor())
				}
			}
		}
		q = best(q)
		for from, limit := range map[int]int{0: 3, 1990: 30, 5000: 1, len(want) - 5: 20, len(want) - 1: 5} {
			if from > 0 {
				i := int(want[from-1] + n/2)
				q.Points, q.After = i%3+i%2, want[from-1]
			}
			q.Limit = limit
			finds(t, c, q, want[from:min(from+limit, len(want))]...)
			q = best(q)
		}
	}
}
