// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
)

func searchInstead(t tester, c Cell) {
	putEntities(t, c, indexed(1, "blue door", 5), indexed(2, "blues doors"), indexed(3, "blue dora", 5), indexed(4, "bleu door"), indexed(5, "door"))
	or := func(words string, instead ...[]string) entity.Query {
		return entity.Query{Words: strings.Fields(words), Instead: instead}
	}
	finds(t, c, or("blue dorr"))
	finds(t, c, or("blue dorr", nil, []string{"door"}), 1)
	finds(t, c, or("blue dorr", nil, []string{"door", "dora", "absent"}), 1, 3)
	finds(t, c, or("blue dorr", []string{"bleu"}, []string{"dora", "door"}), 1, 3, 4)
	finds(t, c, or("blue dorr", []string{"blues"}), nil...)
	finds(t, c, or("dorr", []string{"doo"})) // whole words only
	finds(t, c, or("doo", []string{"dora"}), 1, 2, 3, 4, 5)
	finds(t, c, or("dorr", []string{"door", `"`, "a*", ""}), 1, 4, 5)
	q := or("dorr", []string{"door", "dora"})
	q.Terms = []uint64{5}
	finds(t, c, q, 1, 3)
	q.Terms, q.Without = nil, []uint64{5}
	finds(t, c, q, 4, 5)
	q.Best, q.Points, q.After = true, entity.MaxRank, math.MinInt64
	finds(t, c, q, 4, 5)
	var many []string
	for i := range 200 {
		many = append(many, "w"+strings.Repeat("x", i%20)+string(rune('a'+i/20)))
	}
	finds(t, c, or("blue dorr", many, append(slices.Clone(many), "door")), 1)
}

func searchExcept(t tester, c Cell) {
	putEntities(t, c, indexed(1, "blue door"), indexed(2, "blue doors"), indexed(3, "blue dora"), indexed(4, "bleu door"))
	q := entity.Query{Words: []string{"blue", "door"}, Instead: [][]string{{"bleu"}, {"dora"}}}
	finds(t, c, q, 1, 2, 3, 4)
	q.Except = [][]string{nil, nil}
	finds(t, c, q, 3, 4)
	q.Except = [][]string{}
	finds(t, c, q, 3, 4)
	q.Except = [][]string{nil, {"dora"}}
	finds(t, c, q, 4)
	q.Best, q.Points, q.After = true, entity.MaxRank, math.MinInt64
	finds(t, c, q, 4)
	q.Except = q.Instead
	finds(t, c, q)
}

func listWords(t tester, c Cell) {
	words := func(after string, limit int) []string {
		t.Helper()
		return read(t, c, func(ctx context.Context, s entity.Store) ([]string, error) { return s.Words(ctx, after, limit) })
	}
	same(t, "words of an empty cell", words("", 10), nil)
	putEntities(t, c, indexed(1, "pizza joes 94110 a1 x", 7, 8), indexed(2, "pizza пицца 寿司 café zz"), indexed(3, ""), indexed(4, strings.Repeat("y", 65)+" "+strings.Repeat("y", 64)))
	all := []string{"café", "joes", "pizza", strings.Repeat("y", 64), "zz", "пицца", "寿司"}
	same(t, "all words", words("", 100), all)
	var paged []string
	for after := ""; ; after = paged[len(paged)-1] {
		page := words(after, 2)
		paged = append(paged, page...)
		if len(page) < 2 {
			break
		}
	}
	same(t, "all words in pages", paged, all)
	same(t, "the words after one that is not there", words("q", 2), all[3:5])
	putEntities(t, c, indexed(1, "rays pizza"))
	deleteEntities(t, c, 2)
	left := words("", 100)
	for _, w := range []string{"rays", "pizza", strings.Repeat("y", 64)} {
		if !slices.Contains(left, w) {
			t.Fatalf("the words %q lack %s", left, w)
		}
	}
	for _, w := range left { // a word that no entity has any more may still be listed, and finds nothing
		switch w {
		case "rays", "pizza":
			finds(t, c, entity.Query{Words: []string{"absent"}, Instead: [][]string{{w}}}, 1)
		case strings.Repeat("y", 64):
		default:
			finds(t, c, entity.Query{Words: []string{"absent"}, Instead: [][]string{{w}}})
		}
	}
	own := read(t, c, func(ctx context.Context, s entity.Store) ([]string, error) {
		if err := s.PutEntities(ctx, []entity.Indexed{indexed(9, "zzz")}); err != nil {
			return nil, err
		}
		return s.Words(ctx, "zzy", 1)
	})
	same(t, "the words that a transaction sees after it adds one", own, []string{"zzz"})
}
