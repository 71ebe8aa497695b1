// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math"
	"strings"
	"testing"

	"github.com/xrash/smetrics"
	"pgregory.net/rapid"
)

// TestSimilar_Oracle compares with another implementation on words that both define.
func TestSimilar_Oracle(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-d]{1,12}|[a-z0-9]{1,40}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		want := smetrics.JaroWinkler(a, b, 0, 4)
		if got := similar(a, b); math.Abs(got-want) > 0.02 {
			t.Fatalf("%q and %q: %v, the oracle says %v", a, b, got, want)
		}
	})
}

func TestSimilar_KnownPairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"martha", "marhta", 0.9611},
		{"dixon", "dicksonx", 0.8133},
		{"dwayne", "duane", 0.8400},
		{"", "", 1},
		{"a", "", 0},
		{"abc", "xyz", 0},
		{"a", "a", 1},
		{"東京タワー", "東京タワ", 0.96},
	} {
		if got := similar(c.a, c.b); math.Abs(got-c.want) > 0.0001 {
			t.Errorf("%q and %q: %.4f, want %.4f", c.a, c.b, got, c.want)
		}
	}
}

// TestSimilar_TwoPathsAgree compares the bit path with the plain one, on words that both accept.
func TestSimilar_TwoPathsAgree(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-c]{0,10}|[a-z0-9]{0,80}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		var bufA, bufB [similarWindow]rune
		if x, y := similarASCII(a, b), similarRunes(runes(&bufA, a), runes(&bufB, b)); x != y {
			t.Fatalf("%q and %q: %v and %v", a, b, x, y)
		}
	})
}

func TestSimilarBound_IsNeverBelow(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-d]{1,10}|[a-z0-9]{1,80}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		ca, cb := countLetters(a), countLetters(b)
		if s, bound := similar(a, b), similarBound(a, b, &ca, &cb); a != b && s > bound+1e-12 {
			t.Fatalf("%q and %q: similarity %v, bound %v", a, b, s, bound)
		}
	})
}

func TestMayBeSimilar_IsNeverWrongly(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-d]{4,10}|[a-z0-9]{4,20}`)
	rapid.Check(t, func(t *rapid.T) {
		a := word.Draw(t, "a")
		b := word.Draw(t, "b")
		if rapid.Bool().Draw(t, "slip") { // words one typo apart are the critical case
			i := rapid.IntRange(0, len(a)-1).Draw(t, "at")
			b = a[:i] + "x" + a[i+1:]
		}
		if similar(a, b) >= softSimilar && !mayBeSimilar(a, b, letters(a), letters(b)) {
			t.Fatalf("%q and %q are similar, %v", a, b, similar(a, b))
		}
	})
}

func TestSimilar_LongWordsAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab", 200)
	if got := similar(long, long+"c"); got != 1 {
		t.Errorf("%v, want 1: the letters behind the window are not compared", got)
	}
}

// BenchmarkSimilar compares typical words of names, on both paths.
func BenchmarkSimilar(b *testing.B) {
	for _, c := range []struct {
		name  string
		pairs [][2]string
	}{
		{"ascii", [][2]string{
			{"zanzibar", "zanzibra"},
			{"pizzeria", "pizzerria"},
			{"quetzal", "dental"},
			{"sanfranciscobakery", "sanfranbakery"},
			{"mcdonalds", "mcdonald"},
			{"joespizzaandpastarestaurant", "joespizzapastarestaurant"},
		}},
		{"runes", [][2]string{{"東京タワー", "東京タワ"}, {"mañana", "manana"}, {"кофейня", "кофеин"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p := c.pairs[i%len(c.pairs)]
				similar(p[0], p[1])
			}
		})
	}
}
