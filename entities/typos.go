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
			for i, words := range near[id] {
				for _, w := range words {
					if w.Edits < edits {
						corrected.Except[i] = append(corrected.Except[i], w.Text)
					}
					if w.Edits <= edits {
						corrected.Instead[i] = append(corrected.Instead[i], w.Text)
					}
					any = any || w.Edits == edits
				}
			}
			return corrected, any
		}
		result := func(id cell.ID, e *entity.Entity) Result {
			return Result{Entity: e, Edits: edits, Corrections: s.corrections(e, query.Words, near[id])}
		}
		if err := s.best(ctx, query.Limit, after, of, result); err != nil {
			return err
		}
		after = entity.Place{}
	}
	return nil
}

// near returns, for each cell and word, the other words of the cell that the word may have been meant as, the nearest
// first.
func (s *search) near(ctx context.Context, words []string, forgiven []int) (map[cell.ID][][]spell.Word, error) {
	ids := s.engine.Map().Cells()
	found := make([][][]spell.Word, len(ids))
	limit := max(minWords, maxWords/len(words)) + 1
	err := s.engine.Parallel(ids, func(i int, id cell.ID) error {
		list, err := s.words.of(ctx, s.engine, id)
		if err != nil {
			return err
		}
		found[i] = make([][]spell.Word, len(words))
		for n, word := range words {
			if forgiven[n] > 0 {
				found[i][n] = slices.DeleteFunc(list.Within(word, forgiven[n], limit), func(w spell.Word) bool { return w.Edits == 0 })
			}
		}
		return nil
	})
	near := make(map[cell.ID][][]spell.Word, len(ids))
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
