// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"slices"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/spell"
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

// bestEdits searches for the words as written, then with one typing error, then with two. Each search leaves out the
// results of the previous ones.
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
			if near[id] == nil {
				return query, false // the cell has just been added
			}
			corrected, level := query, near[id].levels[edits-1]
			corrected.Instead, corrected.Except = level.instead, level.except
			return corrected, level.instead != nil
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

// near returns the words that may have been meant in each cell.
func (s *search) near(ctx context.Context, words []string, forgiven []int) (map[cell.ID]*nearby, error) {
	near := map[cell.ID]*nearby{}
	err := s.engine.Whole(ctx, func(ids []cell.ID) error {
		found := make([]*nearby, len(ids))
		err := s.engine.Parallel(ids, func(i int, id cell.ID) error {
			known, err := s.words.of(ctx, s.engine, id)
			if err == nil {
				found[i] = known.near(words, forgiven)
			}
			return err
		})
		for i, id := range ids {
			near[id] = found[i]
		}
		return err
	})
	return near, err
}

// corrections returns the words that an entity has in place of words of the search.
func (h *Handle) corrections(e *entity.Entity, words []string, near [][]candidate) (all []Correction) {
	schema := h.engine.Schema(e.Kind)
	if schema == nil {
		return nil
	}
	has := wordsOf(schema, e)
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
