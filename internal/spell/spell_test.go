// SPDX-License-Identifier: Apache-2.0

package spell_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/spell"
)

func list(words ...string) *spell.List {
	var b spell.Builder
	slices.Sort(words)
	for _, w := range words {
		b.Add(w)
	}
	return b.List()
}

func has(l *spell.List, word string) bool {
	_, found := l.Find(word)
	return found
}

func Example() {
	words := list("blue", "door", "dora", "floor", "open")
	for _, w := range words.Within("dorr", spell.Edits("dorr"), 10) {
		fmt.Println(w.Text, w.Edits)
	}
	// Output:
	// door 1
	// dora 1
}

// distance is the textbook version of optimal string alignment.
func distance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// The walk finds exactly the words that are near by the textbook, in scripts of one to four bytes a letter.
func TestWithin_IsTheDistance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcéжя\u0301𞤨")), 1, 9, -1)
		words := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(word, 0, 60).Draw(t, "words"))))
		l := list(words...)
		asked, edits := word.Draw(t, "asked"), rapid.IntRange(0, spell.MaxEdits).Draw(t, "edits")
		want := map[string]int{}
		for _, w := range words {
			if n := distance([]rune(asked), []rune(w)); n <= edits {
				want[w] = n
			}
		}
		found := l.Within(asked, edits, 1000)
		for i, w := range found {
			if n, near := want[w.Text]; !near || n != w.Edits || l.At(w.At) != w.Text {
				t.Fatalf("%q is at %d from %q, want %d", w.Text, w.Edits, asked, n)
			}
			if i > 0 && found[i-1].Edits > w.Edits {
				t.Fatalf("%v are not in order", found)
			}
		}
		if len(found) != len(want) {
			t.Fatalf("%v are near %q, want %v", found, asked, want)
		}
		for _, w := range words {
			if !has(l, w) {
				t.Fatalf("the list lacks %q", w)
			}
		}
		from, to := l.Prefixed(asked)
		for i, w := range words {
			if strings.HasPrefix(w, asked) != (i >= from && i < to) {
				t.Fatalf("%q are words %d to %d of %q", asked, from, to, words)
			}
		}
	})
}

func TestWithin_Order(t *testing.T) {
	t.Parallel()
	l := list("martin", "marten", "martins", "bartin", "marin", "cartons", "martian", "mratin", "marti", "maritn")
	var got []string
	for _, w := range l.Within("martin", 2, 100) {
		got = append(got, fmt.Sprint(w.Text, w.Edits))
	}
	want := []string{"martin0", "maritn1", "marten1", "mratin1", "marin1", "marti1", "martian1", "martins1", "bartin1"}
	if !slices.Equal(got, want) {
		t.Errorf("the words near martin are %v, want %v", got, want)
	}
	if got := l.Within("martin", 2, 2); len(got) != 2 || got[1].Text != "maritn" {
		t.Errorf("the two nearest are %v", got)
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{
		"": 0, "a": 0, "st": 0, "bar": 1, "dorr": 1, "pizza": 1, "pizzas": 2, "trampoline": 2,
		"94110": 0, "a1b2c3d4": 0, "route66": 0, "١٢٣٤٥٦": 0, "ⅷabc": 0, "寿司屋": 0,
		"пи": 0, "пицца": 1, "пиццерия": 2, "ab\u0301": 0, "cafe\u0301s": 1,
	} {
		if got := spell.Edits(word); got != want {
			t.Errorf("%d errors are assumed in %q, want %d", got, word, want)
		}
	}
}

func TestBuilder_LeavesOut(t *testing.T) {
	t.Parallel()
	l := list("94110", "94111", "a1", "ab", "ab", "寿司", "пицца", "x\xff", "١٢٣")
	if l.Len() != 2 || !has(l, "ab") || !has(l, "пицца") || has(l, "94110") {
		t.Errorf("%d words, want ab and пицца", l.Len())
	}
	if got := new(spell.List).Within("ab", 2, 5); len(got) > 0 || has(new(spell.List), "ab") {
		t.Errorf("the empty list has %v", got)
	}
	long := ""
	for range 100 {
		long += "a"
	}
	if got := list(long, long[1:]).Within(long, 2, 5); len(got) > 0 {
		t.Errorf("a word of 100 letters is corrected to %d words", len(got))
	}
}

// names returns n different words that look like names.
func names(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"ba", "ri", "ton", "mel", "shi", "go", "ra", "ne", "lund", "vic", "ster", "o", "el", "hart", "ma",
		"qui", "ber", "ley", "dan", "fo", "tz", "kow", "ski", "ie", "ham", "wick", "pe", "ur", "san", "to", "al", "en"}
	seen := make(map[string]bool, n)
	for len(seen) < n {
		w := ""
		for range 2 + r.IntN(3) {
			w += parts[r.IntN(len(parts))]
		}
		if r.IntN(3) == 0 {
			w += string(rune('a' + r.IntN(26)))
		}
		seen[w] = true
	}
	words := make([]string, 0, n)
	for w := range seen {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}

func BenchmarkWithin(b *testing.B) {
	words := names(500_000)
	l := list(words...)
	b.Logf("%d words, %.1f MB", l.Len(), float64(l.Bytes())/1e6)
	for edits := range 3 {
		b.Run(fmt.Sprintf("%d_edits", edits), func(b *testing.B) {
			for i := range b.N {
				w := []byte(words[i*7919%len(words)])
				w[len(w)/2] = 'x'
				l.Within(string(w), edits, 50)
			}
		})
	}
}
