// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"iter"
	"slices"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/locality"
)

// decisions returns the decisions in force, in the form that an import takes. Decisions about a deleted record are left
// out, because only its puid remains.
func (b *builder) decisions(ctx context.Context) iter.Seq2[exchange.Row, error] {
	return func(yield func(exchange.Row, error) bool) {
		for after, more := "", true; more; {
			page, err := b.db.Decisions().List(ctx, decisions.Query{After: after, Limit: locus.MaxLimit})
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Decisions {
				d := &page.Decisions[i]
				if d.RefA == (entity.Ref{}) || d.Pair() && d.RefB == (entity.Ref{}) {
					continue
				}
				if !b.query.sees(d.Kind) || slices.Contains(b.query.Hide, d.Attribute) {
					continue // without its value it could not be imported
				}
				if !yield(b.decision(d), nil) {
					return
				}
			}
			after, more = page.Next, page.Next != ""
		}
	}
}

func (b *builder) decision(d *decisions.Decided) exchange.Row {
	b.begin()
	b.set("verdict", string(d.Verdict))
	b.set("a", d.RefA.String())
	if d.Pair() {
		b.set("b", d.RefB.String())
	}
	b.set("attribute", d.Attribute)
	b.set("value", d.Value)
	b.set("author", d.Author)
	b.set("reason", d.Reason)
	b.set("by", d.By)
	b.set("at", instant(d.At))
	for column, id := range map[string]locality.ID{"entity_a": d.EntityA, "entity_b": d.EntityB} {
		if !id.IsZero() {
			b.set(column, id.String())
		}
	}
	return b.row
}
