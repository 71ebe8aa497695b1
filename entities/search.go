// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// MaxText is the maximum length of a search text, in bytes.
const MaxText = 256

// Query selects entities that meet all its conditions. The zero Query selects all.
type Query struct {
	Kind    string       // only this kind; "" for all
	Text    string       // every word must occur in a name, a category or a city; the last may be a prefix
	Where   []Filter     // required values of attributes
	Has     []string     // attributes that must have a value
	Without []string     // attributes that must have no value
	Order   Order        // "" is OrderBest if there is any condition, otherwise OrderID
	Typos   Typos        // typing errors in Text that are forgiven; "" is TyposFallback
	After   entity.Place // exclusive start; the zero place to begin
	Limit   int          // 1 to 1000; 0 for 100
}

// Filter requires an attribute to have a value, compared as its kind normalises it. An entity has all the values of its
// records.
type Filter struct{ Attribute, Value string }

// Order is the order of the results.
type Order string

// Orders of entities.
const (
	// OrderBest sorts by descending rank, see entity.Rank, then as OrderID.
	OrderBest Order = "best"
	// OrderID sorts by the anchors' puids, so that pages over all entities are stable.
	OrderID Order = "id"
)

// MaxFilters is the maximum number of conditions in Where, Has and Without together.
const MaxFilters = 32

// Search returns a page of entities; next is the After of the next page, the zero place at the end. Each also returns
// which words were corrected.
func (h *Handle) Search(ctx context.Context, q Query) (entities []*entity.Entity, next entity.Place, err error) {
	limit, err := engine.Limit(q.Limit)
	if err != nil {
		return nil, next, err
	}
	for r, err := range h.Each(ctx, q) {
		if err != nil {
			return nil, entity.Place{}, err
		}
		if len(entities) == limit {
			return entities, next, nil
		}
		entities, next = append(entities, r.Entity), r.Place()
	}
	return entities, entity.Place{}, nil
}

// Result is an entity that a search found.
type Result struct {
	*entity.Entity
	// Edits is 0 for an exact hit, otherwise the number of typing errors that were assumed in a word of the search: the
	// largest of all words.
	Edits int
	// Corrections are the words of the search that the entity does not have, in order, and those it has instead.
	Corrections []Correction
}

// Place returns the position of the result, for use as After.
func (r *Result) Place() entity.Place {
	p := placeOf(r.Entity)
	p.Edits = r.Edits
	return p
}

// placeOf returns the position of an entity among those with as many edits.
func placeOf(e *entity.Entity) entity.Place {
	return entity.Place{Points: e.Rank.Points(), Anchor: e.Anchor()}
}

// Each returns all matching entities in order: first those that have the words as they are written, then those with
// one typing error in a word, then those with two. It reads lazily, and reads little in vain if the caller takes about
// Limit of them: words are corrected only once all exact hits were read.
func (h *Handle) Each(ctx context.Context, q Query) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		s := search{Handle: h, yield: yield}
		query, none, err := h.query(q)
		switch {
		case err == nil && none:
			return
		case err == nil && query.Best:
			err = s.bestEdits(ctx, query, q)
		case err == nil:
			err = s.inOrder(ctx, query, q.After.Anchor)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// search is one search, whose results go to yield.
type search struct {
	*Handle
	yield func(*Result, error) bool
}

// errEnough ends a search whose caller stopped iterating.
var errEnough = errors.New("locus: the caller has enough")

// pass passes a result to the caller after making sure that this process has its kind.
func (s *search) pass(ctx context.Context, r Result) error {
	if err := s.engine.EnsureKind(ctx, r.Kind); err != nil {
		return err
	}
	if !s.yield(&r, nil) {
		return errEnough
	}
	return nil
}

// searchPage is the maximum number of entities read from a cell at once.
const searchPage = 64

// inOrder searches in the order of anchors.
func (s *search) inOrder(ctx context.Context, query entity.Query, after entity.PUID) error {
	for wanted := query.Limit + 1; ; {
		page, next, err := engine.List[*entity.Entity]{
			Read: func(tx storage.Tx, after entity.PUID, limit int) ([]*entity.Entity, error) {
				at := query
				at.After, at.Limit = after, limit
				return tx.Search(ctx, at)
			},
			PUID: (*entity.Entity).Anchor,
		}.Page(ctx, s.engine, after, min(max(wanted, 1), searchPage))
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := s.pass(ctx, Result{Entity: e}); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		after = next
		wanted -= len(page)
	}
}

// found is the state of a search in one cell.
type found struct {
	cell cell.ID
	next []*entity.Entity
	more bool         // there may be more after next
	at   entity.Query // reads the next page
}

// best merges the results of all cells by rank. It reads about each cell's share of the page first, and more only when
// that is used up. of returns the query of a cell, or false if the cell has no results.
func (s *search) best(ctx context.Context, limit int, after entity.Place, of func(cell.ID) (entity.Query, bool), result func(cell.ID, *entity.Entity) Result) error {
	points, from := entity.MaxRank, entity.PUID(math.MinInt64)
	if after != (entity.Place{}) {
		points, from = min(max(after.Points, 0), entity.MaxRank), after.Anchor
	}
	ids := s.engine.Map().Cells()
	cells := make([]*found, 0, len(ids))
	for _, id := range ids {
		if query, any := of(id); any {
			query.Points, query.After = points, from
			query.Limit = min(searchPage, limit/len(ids)+searchPage/8)
			cells = append(cells, &found{cell: id, at: query, more: true})
		}
	}
	for {
		var first *found
		for _, c := range cells {
			if err := s.look(ctx, c); err != nil {
				return err
			}
			if len(c.next) > 0 && (first == nil || before(c.next[0], first.next[0])) {
				first = c
			}
		}
		if first == nil {
			return nil
		}
		e := first.next[0]
		first.next = first.next[1:]
		if err := s.pass(ctx, result(first.cell, e)); err != nil {
			return err
		}
	}
}

// before reports whether a precedes b in the order of ranks and anchors.
func before(a, b *entity.Entity) bool {
	if x, y := a.Rank.Points(), b.Rank.Points(); x != y {
		return x > y
	}
	return a.Anchor() < b.Anchor()
}

// look reads the next page of a cell if the last one is used up.
func (h *Handle) look(ctx context.Context, c *found) error {
	if len(c.next) > 0 || !c.more {
		return nil
	}
	if err := h.engine.View(ctx, c.cell, func(tx storage.Tx) (err error) {
		c.next, err = tx.Search(ctx, c.at)
		return err
	}); err != nil {
		return err
	}
	if c.more = len(c.next) == c.at.Limit; c.more {
		last := placeOf(c.next[len(c.next)-1])
		c.at.Points, c.at.After = last.Points, last.Anchor
	}
	return nil
}

// query normalises q. none reports that nothing can match it.
func (h *Handle) query(q Query) (query entity.Query, none bool, err error) {
	if query.Limit, err = engine.Limit(q.Limit); err != nil {
		return query, false, err
	}
	if err := checkText("/q", q.Text); err != nil {
		return query, false, err
	}
	if n := len(q.Where) + len(q.Has) + len(q.Without); n > MaxFilters {
		return query, false, problem.Invalid("/filter", "invalid", "%d filters, at most %d are taken", n, MaxFilters)
	}
	if strings.TrimSpace(q.Text) != "" {
		query.Words = match.NameTokens(q.Text)
		none = len(query.Words) == 0
	}
	if q.Kind != "" {
		if h.engine.Kind(q.Kind) == nil {
			return query, false, h.engine.UnknownKind(q.Kind)
		}
		query.Terms = append(query.Terms, entity.Term("", q.Kind))
	}
	for _, f := range q.Where {
		kind, declared, err := h.declaring("/filter", q.Kind, f.Attribute)
		if err == nil {
			err = checkText("/filter", f.Value)
		}
		if err == nil && !resolve.Exact(declared) {
			err = problem.Invalid("/filter", "invalid", "nothing is searched by its exact %s", f.Attribute)
		}
		if err != nil {
			return query, false, err
		}
		normal := kind.Matcher.NormaliseValue(f.Attribute, f.Value)
		none = none || normal == ""
		query.Terms = append(query.Terms, entity.Term(f.Attribute, normal))
	}
	present := func(pointer string, attributes []string) (terms []uint64, err error) {
		for _, name := range attributes {
			if _, _, err := h.declaring(pointer, q.Kind, name); err != nil {
				return nil, err
			}
			terms = append(terms, entity.Term(name, ""))
		}
		return terms, nil
	}
	has, err := present("/has", q.Has)
	if err != nil {
		return query, false, err
	}
	query.Terms = append(query.Terms, has...)
	if query.Without, err = present("/without", q.Without); err != nil {
		return query, false, err
	}
	if !slices.Contains([]Typos{TyposFallback, TyposAuto, TyposNone, TyposOne, TyposTwo}, q.Typos) {
		return query, false, problem.Invalid("/typos", "invalid", "typos is %.64q: want auto, 0, 1 or 2", q.Typos)
	}
	if (q.Typos == TyposOne || q.Typos == TyposTwo) && q.Order == OrderID {
		return query, false, problem.Invalid("/typos", "invalid", "the order of ids has no exact hits first, so typing errors are not forgiven in it: leave out order or typos")
	}
	switch q.Order {
	case OrderBest:
		query.Best = true
	case "":
		query.Best = len(query.Words)+len(query.Terms)+len(query.Without) > 0
	case OrderID:
	default:
		return query, false, problem.Invalid("/order", "invalid", "there is no order %.64q: there are best, id", q.Order)
	}
	return query, none, nil
}

// declaring returns the named kind and the definition of the attribute in it. If kind is "", it returns the first kind
// that has the attribute, the default kind before the others.
func (h *Handle) declaring(pointer, kind, attribute string) (*resolve.Kind, match.Attribute, error) {
	rules := h.engine.Resolver.Rules()
	kinds := append([]*resolve.Kind{rules.Kind("")}, rules.Kinds()...)
	of := "no kind has an"
	if kind != "" {
		kinds, of = []*resolve.Kind{rules.Kind(kind)}, "kind "+kind+" has no"
	}
	for _, k := range kinds {
		if a, known := k.Matcher.Schema().Attribute(attribute); known {
			return k, a, nil
		}
	}
	return nil, match.Attribute{}, problem.Invalid(pointer, "invalid", "%s attribute %.64q", of, attribute)
}

// checkText validates a search text.
func checkText(pointer, s string) error {
	code, message := "invalid", ""
	switch {
	case len(s) > MaxText:
		message = fmt.Sprintf("the text has %d bytes, more than %d", len(s), MaxText)
	case !utf8.ValidString(s):
		code, message = "invalid_utf8", "the text is not valid UTF-8"
	case strings.ContainsFunc(s, unicode.IsControl):
		message = "the text holds a control character"
	default:
		return nil
	}
	return problem.Invalid(pointer, code, "%s", message)
}
