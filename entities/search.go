// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

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

// Each returns all matching entities in order: first those that have the words as they are written, then those with one
// typing error in a word, then those with two. It reads lazily, and reads few unneeded ones if the caller takes about
// Limit of them: words are corrected only after all exact hits were read.
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
			err = problem.Invalid("/filter", "invalid", "%s cannot be searched by exact value", f.Attribute)
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
		return query, false, problem.Invalid("/typos", "invalid", "typos needs the order best: leave out order or typos")
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
