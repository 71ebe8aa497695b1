// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"math"

	"github.com/locus-db/locus/entity"
)

func names(words ...string) entity.Query { return entity.Query{Words: words} }

func terms(terms ...uint64) entity.Query { return entity.Query{Terms: terms} }

func searchWords(t tester, c Cell) {
	putEntities(t, c, indexed(3, "joes pizza"), indexed(1, "joes famous pizza pizza"), indexed(2, "famous rays"),
		indexed(4, ""))
	finds(t, c, names("pizza"), 1, 3)
	finds(t, c, names("pizza", "joes"), 1, 3)
	finds(t, c, names("pizza", "pizza"), 1, 3)
	finds(t, c, names("famous", "joes"), 1)
	finds(t, c, names("famous"), 1, 2)
	finds(t, c, names("famous", "absent"))
	finds(t, c, names("izza"))
	finds(t, c, entity.Query{}, 1, 2, 3, 4)
}

func searchPrefixOfLastWordOnly(t tester, c Cell) {
	putEntities(t, c, indexed(1, "pizza hut"), indexed(2, "pizzeria hut"), indexed(3, "hut"), indexed(4, "p"))
	finds(t, c, names("hut", "pizz"), 1, 2)
	finds(t, c, names("pizz", "hut"))
	finds(t, c, names("p"), 1, 2, 4)
	finds(t, c, names("pizza"), 1)
	finds(t, c, names("pizzas"))
	finds(t, c, names("pizzeria", "h"), 2)
}

func searchTerms(t tester, c Cell) {
	city := entity.Term("city", "springfield")
	putEntities(t, c, indexed(1, "joes", city, 0), indexed(2, "joes", city, math.MaxUint64), indexed(3, "", 1<<63, 0xabc),
		indexed(4, "0000000000000abc"))
	finds(t, c, terms(city), 1, 2)
	finds(t, c, terms(city, 0), 1)
	finds(t, c, terms(0, city), 1)
	finds(t, c, terms(math.MaxUint64), 2)
	finds(t, c, terms(1<<63), 3)
	finds(t, c, terms(1))
	finds(t, c, terms(0xabc), 3)
	finds(t, c, terms(0xabcd))
	finds(t, c, terms(0xab))
	finds(t, c, entity.Query{Words: []string{"jo"}, Terms: []uint64{math.MaxUint64}}, 2)
	finds(t, c, entity.Query{Words: []string{"hut"}, Terms: []uint64{city}})
	finds(t, c, names("0000000000000abc"), 4)
	finds(t, c, names("0"), 4)
}

// searchAllScripts uses words whose letters are easily folded or split: combining marks, scripts beyond the
// first Unicode plane or missing from older tables, digits of other scripts.
func searchAllScripts(t tester, c Cell) {
	words := []string{
		"café", "cafe\u0301", "cafe", "münchen", "munchen", "ß", "ss", "寿司", "すし", "스시", "пицца", "πίτσα", "بيتزا",
		"पिज़्ज़ा", "พิซซ่า",
		"𞤨𞤭𞤶𞤢", "𑄛𑄨", "\U00031350", "١٢٣", "１２３", "ⅷ", "a1", "1a", "ﬁ", "i̇",
	}
	for i, w := range words {
		putEntities(t, c, indexed(entity.PUID(i+1), w+" x"))
	}
	for i, w := range words {
		switch w {
		case "cafe": // also a prefix of its decomposed variant
			finds(t, c, names("x", w), 2, 3)
			finds(t, c, names(w, "x"), 3)
		default:
			finds(t, c, names("x", w), entity.PUID(i+1))
			finds(t, c, names(w, "x"), entity.PUID(i+1))
		}
	}
	finds(t, c, names("寿"), 8)
	finds(t, c, names("пи"), 11)
}

func searchInPages(t tester, c Cell) {
	for _, p := range []entity.PUID{7, -9, 3, -2, 100} {
		putEntities(t, c, indexed(p, "joes", 4))
	}
	putEntities(t, c, indexed(5, "rays", 4))
	for _, q := range []entity.Query{names("joes"), {Words: []string{"joes"}, Terms: []uint64{4}}} {
		page := func(after entity.PUID, limit int, want ...entity.PUID) {
			q.After, q.Limit = after, limit
			finds(t, c, q, want...)
		}
		page(math.MinInt64, 100, -9, -2, 3, 7, 100)
		page(math.MinInt64, 2, -9, -2)
		page(-2, 2, 3, 7)
		page(4, 1, 7)
		page(7, 5, 100)
		page(100, 5)
	}
	finds(t, c, entity.Query{Terms: []uint64{4}, After: 3, Limit: 2}, 5, 7)
	finds(t, c, entity.Query{After: 3, Limit: 2}, 5, 7)
}

func searchForgets(t tester, c Cell) {
	putEntities(t, c, indexed(1, "joes pizza", 5), indexed(2, "joes", 5))
	putEntities(t, c, indexed(1, "rays pizza", 6))
	finds(t, c, names("joes"), 2)
	finds(t, c, names("rays"), 1)
	finds(t, c, names("pizza"), 1)
	finds(t, c, terms(5), 2)
	finds(t, c, terms(6), 1)
	putEntities(t, c, indexed(2, "first"), indexed(3, "third"), indexed(2, "second"))
	finds(t, c, names("first"))
	finds(t, c, names("second"), 2)
	deleteEntities(t, c, 1, 3)
	finds(t, c, names("rays"))
	finds(t, c, names("third"))
	finds(t, c, terms(6))
	finds(t, c, entity.Query{}, 2)
	putEntities(t, c, indexed(1, "back"))
	finds(t, c, names("back"), 1)
	finds(t, c, names("pizza"))
}

// searchHostileWords queries words that no entity can have. They must find nothing and must not be parsed
// as operators of a query language.
func searchHostileWords(t tester, c Cell) {
	putEntities(t, c, indexed(1, "and or not near joes words a"))
	finds(t, c, names("and"), 1)
	finds(t, c, names("or", "not"), 1)
	finds(t, c, names("near", "and"), 1)
	for _, w := range []string{"", " ", `"`, `""`, "'", `a"b`, "*", "a*", "joes pizza", "words:a", "-a", "^a", "(a)", "a+b", "{a}", "%", "_", "$where", "a.b", "\\"} {
		finds(t, c, names(w))
		finds(t, c, names(w, "joes"))
		finds(t, c, names("joes", w))
	}
}
