// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Entities searches; next is the After of the next page, the zero place if there is none.
func (s *Service) Entities(ctx context.Context, q EntityQuery) (entities []*entity.Entity, next entity.Place, err error) {
	query, none, err := s.query(q)
	switch {
	case err != nil || none:
		return nil, next, err
	case query.Best:
		entities, next, err = s.best(ctx, query, q.After)
	default:
		entities, next.Anchor, err = s.inOrder(ctx, query, q)
	}
	for i := 0; i < len(entities) && err == nil; i++ {
		err = s.known(ctx, entities[i].Kind)
	}
	return entities, next, err
}

// inOrder reads a page in the order of anchors.
func (s *Service) inOrder(ctx context.Context, query entity.Query, q EntityQuery) ([]*entity.Entity, entity.PUID, error) {
	return list(ctx, s, q.After.Anchor, q.Limit, func(tx resolve.Tx, after entity.PUID, limit int) ([]*entity.Entity, error) {
		at := query
		at.After, at.Limit = after, limit
		return tx.Search(ctx, at)
	}, func(e *entity.Entity) entity.PUID { return e.Anchor() })
}

// best reads a page from every cell, in the order of ranks and anchors, of which the first are the page.
func (s *Service) best(ctx context.Context, query entity.Query, after entity.Place) (page []*entity.Entity, next entity.Place, err error) {
	limit := query.Limit
	query.Points, query.After, query.Limit = entity.MaxRank, math.MinInt64, limit+1
	if after != (entity.Place{}) {
		query.Points, query.After = min(max(after.Points, 0), entity.MaxRank), after.Anchor
	}
	for _, id := range s.Map().Cells() {
		if err := s.view(ctx, id, func(tx resolve.Tx) error {
			found, err := tx.Search(ctx, query)
			page = append(page, found...)
			return err
		}); err != nil {
			return nil, next, err
		}
	}
	slices.SortFunc(page, func(a, b *entity.Entity) int {
		return cmp.Or(cmp.Compare(b.Rank.Points(), a.Rank.Points()), cmp.Compare(a.Anchor(), b.Anchor()))
	})
	if len(page) > limit {
		page = page[:limit]
		last := page[limit-1]
		next = entity.Place{Points: last.Rank.Points(), Anchor: last.Anchor()}
	}
	return page, next, nil
}

// query normalises what is asked for; none tells that nothing can match it.
func (s *Service) query(q EntityQuery) (query entity.Query, none bool, err error) {
	if query.Limit, err = checkLimit(q.Limit); err != nil {
		return query, false, err
	}
	if err := checkText("/q", q.Text); err != nil {
		return query, false, err
	}
	if n := len(q.Where) + len(q.Has) + len(q.Without); n > MaxFilters {
		return query, false, &InvalidError{[]Problem{{"/filter", "invalid", fmt.Sprintf("%d filters, at most %d are taken", n, MaxFilters)}}}
	}
	if strings.TrimSpace(q.Text) != "" {
		query.Words = match.NameTokens(q.Text)
		none = len(query.Words) == 0
	}
	if q.Kind != "" {
		if s.kind(q.Kind) == nil {
			return query, false, s.unknownKind(q.Kind)
		}
		query.Terms = append(query.Terms, entity.Term("", q.Kind))
	}
	for _, f := range q.Where {
		kind, declared, err := s.declaring("/filter", q.Kind, f.Attribute)
		if err == nil {
			err = checkText("/filter", f.Value)
		}
		if err == nil && !resolve.Exact(declared) {
			err = &InvalidError{[]Problem{{"/filter", "invalid", fmt.Sprintf("nothing is searched by its exact %s", f.Attribute)}}}
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
			if _, _, err := s.declaring(pointer, q.Kind, name); err != nil {
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
	switch q.Order {
	case OrderBest:
		query.Best = true
	case "":
		query.Best = len(query.Words)+len(query.Terms)+len(query.Without) > 0
	case OrderID:
	default:
		return query, false, &InvalidError{[]Problem{{"/order", "invalid", fmt.Sprintf("there is no order %.64q: there are best, id", q.Order)}}}
	}
	return query, none, nil
}

// declaring is the kind whose attribute is meant: the one that is named, or else the first that has such an
// attribute, that of records which name none before the others.
func (s *Service) declaring(pointer, kind, attribute string) (*resolve.Kind, match.Attribute, error) {
	rules := s.resolver.Rules()
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
	return nil, match.Attribute{}, &InvalidError{[]Problem{{pointer, "invalid", fmt.Sprintf("%s attribute %.64q", of, attribute)}}}
}
