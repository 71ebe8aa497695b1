// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
)

// sought is an entity that is searched.
type sought struct {
	anchor entity.PUID
	words  []string // of its name and its city
}

// search searches entities by name and city, spelled correctly and with typing errors in the longest word, and prints
// how many are among the first ten. Chains share names, so not even all exact searches find the right entity.
func search(ctx context.Context, db *locus.DB, n int) error {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same every time
	all, seen := make([]sought, 0, n), 0
	for e, err := range db.Entities().All(ctx, nil) {
		if err != nil {
			return err
		}
		name, city := e.View.First("name"), e.View.First("city")
		if name == "" || city == "" || !slices.ContainsFunc(strings.Fields(name), long) {
			continue
		}
		s := sought{e.Anchor(), append(strings.Fields(name), city)}
		if seen++; len(all) < n {
			all = append(all, s)
		} else if at := r.IntN(seen); at < n {
			all[at] = s
		}
	}
	fmt.Printf("| search of %d of %d entities | among the first ten | of those found without errors | p50, p99 ms | processor, ms |\n|---|---|---|---|---|\n", len(all), seen)
	exact := make([]bool, len(all))
	for edits := range 3 {
		var calls timed
		found, both, exactly := 0, 0, 0
		for i, s := range all {
			text := s.text(r, edits)
			hit := false
			if err := calls.call(func() error {
				taken := 0
				for e, err := range db.Entities().Each(ctx, entities.Query{Text: text, Typos: entities.TyposAuto, Limit: 10}) {
					if err != nil {
						return fmt.Errorf("search %q: %w", text, err)
					}
					hit = hit || e.Anchor() == s.anchor
					if taken++; taken == 10 {
						break
					}
				}
				return nil
			}); err != nil {
				return err
			}
			if edits == 0 {
				exact[i] = hit
			}
			if hit {
				found++
			}
			if exact[i] {
				exactly++
				if hit {
					both++
				}
			}
		}
		fmt.Printf("| %d typing errors | %.3f | %.3f | %.2f, %.2f | %.2f |\n", edits, float64(found)/float64(len(all)), float64(both)/float64(max(exactly, 1)),
			calls.share(.5), calls.share(.99), calls.used())
	}
	fmt.Println()
	return nil
}

// long reports whether two errors in a word are forgiven.
func long(word string) bool {
	return len(word) >= 6 && strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz") == ""
}

// text returns what is searched: the words, with errors in the first long one.
func (s *sought) text(r *rand.Rand, edits int) string {
	words := slices.Clone(s.words)
	at := slices.IndexFunc(words, long)
	word := []byte(strings.ToLower(words[at]))
	for range edits {
		word = mistyped(r, word)
	}
	words[at] = string(word)
	return strings.Join(words, " ")
}

// mistyped returns a word with one typing error: a letter that is missing, added or wrong, or two that changed places.
func mistyped(r *rand.Rand, word []byte) []byte {
	at, letter := r.IntN(len(word)-1), byte('a'+r.IntN(26)) //nolint:gosec // a letter
	switch r.IntN(4) {
	case 0:
		return slices.Delete(slices.Clone(word), at, at+1)
	case 1:
		return slices.Insert(slices.Clone(word), at, letter)
	case 2:
		word = slices.Clone(word)
		word[at] = letter
		return word
	}
	word = slices.Clone(word)
	word[at], word[at+1] = word[at+1], word[at]
	return word
}
