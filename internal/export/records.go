// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"iter"
	"strconv"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/records"
)

// records returns the rows of records, or of their links, which also change when a record moves to another entity.
func (b *builder) records(ctx context.Context, links bool) iter.Seq2[exchange.Row, error] {
	return func(yield func(exchange.Row, error) bool) {
		_, entities := b.at[columnEntity]
		all := b.db.Records().All(ctx,
			&records.AllOptions{Source: b.query.Source, Kind: b.query.Kind, Bare: !entities && !links})
		if b.query.Since != nil {
			all = b.changedRecords(ctx, links)
		}
		for rec, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if !b.query.sees(rec.Kind) {
				continue
			}
			if !yield(b.record(rec), nil) {
				return
			}
		}
	}
}

func (b *builder) record(rec *records.Record) exchange.Row {
	b.begin()
	b.set(columnSource, rec.Source)
	b.set(columnKey, rec.Key)
	if _, chosen := b.at[columnPUID]; chosen {
		b.set(columnPUID, rec.PUID.String())
	}
	if rec.Deleted() {
		b.set(columnOp, OpDelete)
		return b.row
	}
	b.set(columnOp, OpUpsert)
	b.set(columnKind, rec.Kind)
	if _, chosen := b.at[columnObserved]; chosen {
		b.set(columnObserved, instant(rec.Observed))
	}
	if _, chosen := b.at[columnEntity]; chosen {
		b.set(columnEntity, rec.Entity.String())
	}
	if _, chosen := b.at[columnVersion]; chosen {
		b.set(columnVersion, strconv.FormatInt(rec.Version, 10))
	}
	for name, values := range rec.Attributes {
		b.setAttribute(name, values)
	}
	return b.row
}
