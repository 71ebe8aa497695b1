// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
)

// named puts businesses with these names, each in its own city block and without a phone.
func named(t *testing.T, s *locus.DB, names ...string) {
	t.Helper()
	var puts []records.Input
	for _, name := range names {
		puts = append(puts, records.Input{
			Ref: entity.Ref{Source: "a", Key: name}, Attributes: entity.Attributes{"name": {name}},
		})
	}
	put(t, s, puts...)
}

// corrected returns the names of the results of a search, each with its corrections.
func corrected(t *testing.T, s *locus.DB, q entities.Query) (names []string) {
	t.Helper()
	for r, err := range s.Entities().Each(t.Context(), q) {
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		name := r.View.First("name")
		for _, c := range r.Corrections {
			name += fmt.Sprintf(" [%s for %s]", c.As, c.Word)
		}
		names = append(names, name)
	}
	return names
}

func TestSearch_ForgivesTypos(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	named(t, s, "Blue Door", "Blue Dorr", "Bleu Doors", "Floor Nine", "Trampoline Hall", "Café Müller", "Пиццерия Рим",
		"寿司屋 Kyo", "寿司店 Kyo", "Bar 94110", "Bar 94111", "Ono", "Bo Bar", "Route66 Diner")
	for name, tc := range map[string]struct {
		text  string
		typos entities.Typos
		want  []string
	}{
		"exact hits first":       {"dorr", "auto", []string{"Blue Dorr", "Blue Door [door for dorr]"}},
		"only if there are none": {"dorr", "", []string{"Blue Dorr"}},
		"a transposition is one": {"bleu door", "auto",
			[]string{"Bleu Doors", "Blue Door [blue for bleu]", "Blue Dorr [blue for bleu] [dorr for door]"}},
		"none":                       {"bleu dorr", "0", nil},
		"one of a long word":         {"tranpoline", "1", []string{"Trampoline Hall [trampoline for tranpoline]"}},
		"two of a long word":         {"tranpolne", "", []string{"Trampoline Hall [trampoline for tranpolne]"}},
		"two where one is forgiven":  {"tranpolne", "1", nil},
		"two of a short word":        {"flxxr", "", nil},
		"two of a short word, asked": {"flxxr", "2", []string{"Floor Nine [floor for flxxr]"}},
		"letters with marks":         {"cafe mulelr", "", []string{"Café Müller [muller for mulelr]"}},
		"cyrillic":                   {"пицерия рмм", "", []string{"Пиццерия Рим [пиццерия for пицерия] [рим for рмм]"}},
		"numbers are others":         {"94112", "", nil},
		"a word with a number":       {"route66 dinner", "", []string{"Route66 Diner [diner for dinner]"}},
		"a beginning with a number":  {"dinner route", "", []string{"Route66 Diner [diner for dinner]"}},
		"one word is not there":      {"chrome dinner route66", "", nil},
		"a number beside a word":     {"baar 94111", "", []string{"Bar 94111 [bar for baar]"}},
		"characters are words":       {"寿司家", "", nil},
		"two letters are exact":      {"bu bar", "", nil},
		"three letters":              {"onp", "", []string{"Ono [ono for onp]"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := corrected(t, s, entities.Query{Text: tc.text, Typos: tc.typos})
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q finds %q, want %q", tc.text, got, tc.want)
			}
		})
	}
	for _, q := range []entities.Query{{Text: "door", Typos: "3"}, {Text: "door", Typos: "2", Order: entities.OrderID}} {
		if _, _, err := s.Entities().Search(t.Context(), q); err == nil || !errors.As(err, new(*locus.InvalidError)) {
			t.Errorf("%+v: %v, want an InvalidError", q, err)
		}
	}
	if got := corrected(t, s, entities.Query{Text: "dorr", Order: entities.OrderID}); !slices.Equal(got, []string{"Blue Dorr"}) {
		t.Errorf("in the order of ids: %q", got)
	}
}

// Pages of any size show the same results as one page, each once.
func TestSearch_TyposInPages(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var names []string
	for i, word := range []string{"pizzeria", "pizzerai", "pizeria", "pizzerias", "bizzeria", "pizzzeriia", "bizeria"} {
		for n := range 3 {
			names = append(names, fmt.Sprintf("%s house %c%c", word, 'a'+i, 'p'+n))
		}
	}
	named(t, s, names...)
	for _, q := range []entities.Query{{Text: "pizzeria hosue", Typos: entities.TyposAuto}, {Text: "pizzeria house", Typos: entities.TyposTwo}, {Text: "pizzeria hosue"}} {
		all := corrected(t, s, q)
		if len(all) != len(names) {
			t.Fatalf("%+v: %d results, want %d: %q", q, len(all), len(names), all)
		}
		for size := range 7 {
			var paged []string
			for _, e := range pages(t, s, q, size+1) {
				paged = append(paged, e.View.First("name"))
			}
			for i, name := range paged {
				if len(paged) != len(all) || !strings.HasPrefix(all[i], name) {
					t.Fatalf("%+v: pages of %d show %q, want %q", q, size+1, paged, all)
				}
			}
		}
	}
}

// The list of words follows writes and deletes.
func TestSearch_TyposFollowWrites(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	find := func(want ...string) {
		t.Helper()
		if got := corrected(t, s, entities.Query{Text: "zephir"}); !slices.Equal(got, want) {
			t.Fatalf("found %q, want %q", got, want)
		}
	}
	find()
	named(t, s, "Zephyr")
	find("Zephyr [zephyr for zephir]")
	named(t, s, "Zephis")
	find("Zephyr [zephyr for zephir]", "Zephis [zephis for zephir]")
	if _, err := s.Records().Delete(t.Context(), []entity.Ref{{Source: "a", Key: "Zephyr"}}); err != nil {
		t.Fatal(err)
	}
	find("Zephis [zephis for zephir]")
}

// Where the words are too many to be read again after each change, the entities that have changed since are followed.
func TestSearch_TyposFollowChangesOfManyWords(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := open(t, t.TempDir(), 1)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	word := func(i int) (w string) {
		for range 4 {
			w, i = w+[]string{"ba", "ri", "ton", "mel", "shi", "go", "ra", "ne", "lund", "vic"}[i%10], i/10
		}
		return w
	}
	many := func(from, to int) {
		var names []string
		for i := from; i < to; i++ {
			names = append(names, word(i)+" "+word(9999-i))
		}
		named(t, s, names...)
	}
	find := func(text string, want ...string) {
		t.Helper()
		if got := corrected(t, s, entities.Query{Text: text}); !slices.Equal(got, want) {
			t.Fatalf("%q finds %q, want %q", text, got, want)
		}
	}
	many(0, 1500)
	find("zephyir")
	named(t, s, "Zephyr")
	find("zephyir", "Zephyr [zephyr for zephyir]")
	named(t, s, "Bari Zephyr")
	find("baari zephyir", "Bari Zephyr [bari for baari] [zephyr for zephyir]")
	if _, err := s.Records().Delete(t.Context(), []entity.Ref{{Source: "a", Key: "Zephyr"}}); err != nil {
		t.Fatal(err)
	}
	find("zephyir", "Bari Zephyr [zephyr for zephyir]")
	many(1500, 4000) // more than are followed
	named(t, s, "Zephyr Hall")
	until(t, "the words are read again, after twenty times as long as that took", func() (bool, string) {
		got := corrected(t, s, entities.Query{Text: "hlal zephyr"})
		return slices.Equal(got, []string{"Zephyr Hall [hall for hlal]"}), fmt.Sprintf("found %q", got)
	})
}

// Searches find records that were put just before, while other searches run.
func TestSearch_TyposBesideWrites(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), 1)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var names []string
	for i := range 2500 { // too many words to be read again after each change
		names = append(names, fmt.Sprintf("%c%c%c%c street corner", 'a'+i%26, 'a'+i/26%26, 'a'+i/676, 'q'))
	}
	named(t, s, names...)
	words := strings.Fields("zephyr trampoline quarantine wharfside bumblebee xylophone juggernaut")
	var all sync.WaitGroup
	for _, word := range words {
		all.Go(func() {
			for i, second := range []string{"house", "garden", "palace", "bridge"} { // things of one name but for a letter may be one
				name := fmt.Sprintf("%s%c %s", word, 'p'+i, second)
				if _, err := s.Records().Put(t.Context(), []records.Input{{Ref: entity.Ref{Source: "b", Key: name}, Attributes: entity.Attributes{"name": {name}}}}); err != nil {
					t.Error(err)
				}
				text := word[:2] + word[3:] + string(rune('p'+i))                 // a letter is missing
				text += " " + second[:2] + second[3:4] + second[2:3] + second[4:] // and two change places
				found, _, err := s.Entities().Search(t.Context(), entities.Query{Text: text, Typos: entities.TyposAuto})
				if err != nil || !slices.ContainsFunc(found, func(e *entity.Entity) bool { return e.View.First("name") == name }) {
					t.Errorf("%q finds %d entities, not %q: %v", text, len(found), name, err)
				}
			}
		})
	}
	all.Wait()
}

// mistype makes typing errors in a word: a letter is wrong, missing, added, or two change places.
func mistype(r *rand.Rand, word string, errors int) string {
	w := []rune(word)
	for range errors {
		i := r.IntN(len(w) - 1)
		letter := rune('a' + r.IntN(26))
		switch r.IntN(4) {
		case 0:
			w[i] = letter
		case 1:
			w = slices.Delete(w, i, i+1)
		case 2:
			w = slices.Insert(w, i, letter)
		default:
			w[i], w[i+1] = w[i+1], w[i]
		}
	}
	return string(w)
}

// Of names with one error 95 in 100 are among the first ten results, and of names with two errors 85, each error in a
// word that is long enough.
func TestSearch_RecallWithTypos(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := fresh(t)
	r := rand.New(rand.NewPCG(3, 4))
	syllables := strings.Fields("ba ri ton mel shi go ra ne lund vic ster hart ma ber ley dan fo kow ski ham wick pe san to al en")
	word := func(n int) (w string) {
		for range n {
			w += syllables[r.IntN(len(syllables))]
		}
		return w
	}
	var names []string
	for range 1500 {
		names = append(names, word(2+r.IntN(2))+" "+word(3))
	}
	named(t, s, names...)
	for errors, goal := range map[int]float64{1: 0.95, 2: 0.85} {
		const asked = 200
		hits := 0
		for i := range asked {
			name := names[i*7]
			first, last, _ := strings.Cut(name, " ")
			q := entities.Query{Text: first + " " + mistype(r, last, errors), Limit: 10, Typos: entities.TyposAuto}
			if i%2 == 0 {
				q.Text = mistype(r, last, errors) // a single word
			}
			found, _, err := s.Entities().Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(found, func(e *entity.Entity) bool { return e.View.First("name") == name }) {
				hits++
			}
		}
		if recall := float64(hits) / asked; recall < goal {
			t.Errorf("recall at 10 with %d errors is %.3f, want %.2f", errors, recall, goal)
		} else {
			t.Logf("recall at 10 with %d errors: %.3f", errors, recall)
		}
	}
}

// A probe whose name has a typing error shares no blocking key with its entity, so only a fuzzy match finds it.
func TestMatch_Fuzzy(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, business("a", "1", "Zephyr Trampolines", "Oakland", "cafe"),
		business("a", "2", "Golden Gate Pizza", "Oakland", "cafe"))
	probes := []entities.Probe{
		{Attributes: entity.Attributes{"name": {"Zehpyr Tramplines"}, "city": {"Oakland"}}},
		{Attributes: entity.Attributes{"name": {"Golden Gtae Big Pizza"}, "city": {"Oakland"}}}, // one word too many
		{Attributes: entity.Attributes{"phones": {"510-555-0000"}}},
		{Attributes: entity.Attributes{"name": {"Blue Door"}, "city": {"Oakland"}}},
	}
	match := func(fuzzy bool) (names []string, found []entities.Found) {
		t.Helper()
		found, err := s.Entities().Match(t.Context(), probes,
			&entities.MatchOptions{Fuzzy: fuzzy, Put: true, Why: true, MinMatchWeight: -10_000})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Err != nil {
				t.Fatal(f.Err)
			}
			name := "-"
			for _, c := range f.Candidates {
				name = c.Entity.View.First("name")
			}
			names = append(names, name)
		}
		return names, found
	}
	exact, plain := match(false)
	similar, fuzzy := match(true)
	if want := []string{"Zephyr Trampolines", "Golden Gate Pizza", "-", "-"}; !slices.Equal(similar, want) || exact[0] != "-" {
		t.Errorf("a fuzzy match finds %q, and one without %q; want %q", similar, exact, want)
	}
	for i := range fuzzy {
		if p, f := plain[i].Put, fuzzy[i].Put; (p == nil) != (f == nil) || p != nil && (p.Outcome != f.Outcome || p.Entity != f.Entity) {
			t.Errorf("probe %d: fuzzy changes what a put does from %+v to %+v", i, p, f)
		}
	}
	if c := fuzzy[0].Candidates; len(c) > 0 && c[0].Why == nil {
		t.Error("a candidate by name has no comparison")
	}
}
