// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/spell"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// edits returns how many typing errors are forgiven in a word.
func (t Typos) edits(word string) int {
	auto := spell.Edits(word)
	switch letters := len([]rune(word)); {
	case t == TyposNone:
		return 0
	case t == TyposOne:
		return min(auto, 1)
	case t == TyposTwo && auto == 1 && letters > 3:
		return 2
	}
	return auto
}

// maxWords is about how many corrections of all words of a search are tried, at least minWords for each.
const (
	maxWords = 240
	minWords = 16
)

// bestEdits searches for the words as they are written, then for corrected ones: those with one typing error, then
// those with two. Each of these searches leaves out what the one before has found.
func (s *search) bestEdits(ctx context.Context, query entity.Query, q Query) error {
	after := q.After
	if after.Edits == 0 {
		any := after != (entity.Place{})
		exact := func(cell.ID) (entity.Query, bool) { return query, true }
		if err := s.best(ctx, query.Limit, after, exact, func(_ cell.ID, e *entity.Entity) Result {
			any = true
			return Result{Entity: e}
		}); err != nil || any && q.Typos == TyposFallback {
			return err
		}
		after = entity.Place{}
	}
	forgiven := make([]int, len(query.Words))
	for i, word := range query.Words {
		forgiven[i] = q.Typos.edits(word)
	}
	most := slices.Max(append(forgiven, 0))
	if most == 0 || q.Order == OrderID {
		return nil
	}
	near, err := s.near(ctx, query.Words, forgiven)
	if err != nil {
		return err
	}
	for edits := max(1, after.Edits); edits <= most; edits++ {
		of := func(id cell.ID) (entity.Query, bool) {
			corrected := query
			any := false
			corrected.Instead, corrected.Except = make([][]string, len(query.Words)), make([][]string, len(query.Words))
			for i, words := range near[id].words {
				for _, w := range words {
					if w.Edits < edits {
						corrected.Except[i] = append(corrected.Except[i], w.Text)
					}
					if w.Edits <= edits {
						corrected.Instead[i] = append(corrected.Instead[i], w.Text)
					}
					any = any || w.Edits == edits
				}
				if near[id].absent[i] && len(corrected.Instead[i]) == 0 {
					return corrected, false
				}
			}
			return corrected, any
		}
		result := func(id cell.ID, e *entity.Entity) Result {
			return Result{Entity: e, Edits: edits, Corrections: s.corrections(e, query.Words, near[id].words)}
		}
		if err := s.best(ctx, query.Limit, after, of, result); err != nil {
			return err
		}
		after = entity.Place{}
	}
	return nil
}

// nearby are the words of a cell that those of a search may have been meant as.
type nearby struct {
	words  [][]spell.Word // for each word others, the nearest first
	absent []bool         // for each word, whether the list of the cell would have it and does not
}

// near returns what may have been meant in each cell.
func (s *search) near(ctx context.Context, words []string, forgiven []int) (map[cell.ID]nearby, error) {
	ids := s.engine.Map().Cells()
	found := make([]nearby, len(ids))
	limit := max(minWords, maxWords/len(words)) + 1
	err := s.engine.Parallel(ids, func(i int, id cell.ID) error {
		list, err := s.words.of(ctx, s.engine, id)
		if err != nil {
			return err
		}
		n := nearby{make([][]spell.Word, len(words)), make([]bool, len(words))}
		for k, word := range words {
			if forgiven[k] > 0 {
				n.words[k] = slices.DeleteFunc(list.Within(word, forgiven[k], limit), func(w spell.Word) bool { return w.Edits == 0 })
			}
			last := k == len(words)-1 // words that are not listed may begin with it
			n.absent[k] = !last && entity.IsListed(word) && spell.Edits(word) > 0 && !list.Has(word)
		}
		found[i] = n
		return nil
	})
	near := make(map[cell.ID]nearby, len(ids))
	for i, id := range ids {
		near[id] = found[i]
	}
	return near, err
}

// corrections returns which words an entity has in place of those of the search.
func (h *Handle) corrections(e *entity.Entity, words []string, near [][]spell.Word) (all []Correction) {
	has := h.wordsOf(e)
	for i, word := range words {
		at, _ := slices.BinarySearch(has, word)
		if at < len(has) && (has[at] == word || i == len(words)-1 && strings.HasPrefix(has[at], word)) {
			continue
		}
		for _, w := range near[i] {
			if _, found := slices.BinarySearch(has, w.Text); found {
				all = append(all, Correction{word, w.Text})
				break
			}
		}
	}
	return all
}

// wordsOf returns the words that an entity is found by, sorted.
func (h *Handle) wordsOf(e *entity.Entity) (words []string) {
	schema := h.engine.Schema(e.Kind)
	if schema == nil {
		return nil
	}
	for _, a := range e.View {
		if declared, ok := schema.Attribute(a.Name); ok && resolve.Searched(declared) {
			for _, v := range a.Values {
				words = append(words, match.NameTokens(v.Value)...)
			}
		}
	}
	slices.SortFunc(words, cmp.Compare[string])
	return words
}
