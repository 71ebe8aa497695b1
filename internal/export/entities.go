// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"iter"
	"slices"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

func (b *builder) entities(ctx context.Context) iter.Seq2[exchange.Row, error] {
	return func(yield func(exchange.Row, error) bool) {
		if b.query.Since != nil {
			b.changedEntities(ctx, yield)
			return
		}
		for e, err := range b.db.Entities().All(ctx, &entities.AllOptions{Kind: b.query.Kind}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !b.query.sees(e.Kind) || b.query.Source != "" && !hasSource(e.Members, b.query.Source) {
				continue
			}
			b.begin()
			b.entity(e.ID, e.Kind, e.Members)
			schema := b.db.Kinds().Schema(e.Kind)
			for _, a := range e.View {
				b.shown(schema, a.Name, a.Values)
			}
			if !yield(b.row, nil) {
				return
			}
		}
	}
}

func hasSource(members []entity.Member, source string) bool {
	return slices.ContainsFunc(members, func(m entity.Member) bool { return m.Source == source })
}

// entity sets the columns of an entity that are not attributes.
func (b *builder) entity(id locality.ID, kind string, members []entity.Member) {
	b.set(columnEntity, id.String())
	b.set(columnOp, OpUpsert)
	b.set(columnKind, kind)
	if i, chosen := b.at[columnRecords]; chosen {
		refs := make([]string, len(members))
		for n, m := range members {
			refs[n] = m.Ref.String()
		}
		b.row[i] = refs
	}
}

// shown sets what an entity shows of an attribute: all values of a list, otherwise the one that won.
func (b *builder) shown(schema *match.Schema, name string, values []entity.MergedValue) {
	if i, known := b.of[name]; !known || i < 0 {
		return
	}
	if declared, ok := schema.Attribute(name); !ok || !declared.Many {
		values = values[:1]
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.Value
	}
	b.setAttribute(name, texts)
}
