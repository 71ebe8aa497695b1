// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
)

// rollupTx is a transaction of a cell as rollups need it.
type rollupTx struct {
	resolve.Tx
	engine *Engine
}

// Wanted is part of the head, which every transaction has read.
func (t rollupTx) Wanted(ctx context.Context) (changelog.Images, error) {
	head, err := t.Head(ctx)
	if err != nil {
		return changelog.Images{}, err
	}
	return changelog.ParseImages(head.Images)
}

// Want is part of the head too.
func (t rollupTx) Want(ctx context.Context, images changelog.Images) error {
	head, err := t.Head(ctx)
	switch {
	case err != nil:
		return err
	case head.Home != cell.Serving:
		return cell.ErrMoved // its head may have been copied already
	}
	head.Images = images.String()
	return t.SetHead(ctx, head)
}

// History is that of the database that the cell lives in. A cell that only moved also gets another one, so groups that are
// kept outside of it are counted again, which is safe.
func (t rollupTx) History(ctx context.Context) (int64, error) {
	head, err := t.Head(ctx)
	return int64(head.Incarnation), err
}

// List reads entities or records in the order of their puids.
func (t rollupTx) List(ctx context.Context, over rollup.Over, attributes []string, after int64, limit int) ([]rollup.Item, error) {
	if over == rollup.Records {
		records, err := t.ListRecords(ctx, "", entity.PUID(after), limit)
		return items(records, attributes, func(r *entity.Record) int64 { return int64(r.PUID) }, changelog.ImageOfRecord), err
	}
	entities, err := t.ListEntities(ctx, entity.PUID(after), limit)
	for _, e := range entities {
		if t.engine.Kind(e.Kind) == nil {
			return nil, fmt.Errorf("%w: the rules do not have kind %s yet", ErrUnavailable, e.Kind)
		}
	}
	return items(entities, attributes, func(e *entity.Entity) int64 { return int64(e.Anchor()) }, t.engine.Resolver.Image), err
}

func items[T any](of []T, attributes []string, place func(T) int64, image func(T, []string) *changelog.Image) []rollup.Item {
	all := make([]rollup.Item, len(of))
	for i, one := range of {
		all[i] = rollup.Item{Place: place(one), Image: *image(one, attributes)}
	}
	return all
}

// RollupCell returns a cell as rollups need it. One that has moved is looked for again.
func (e *Engine) RollupCell(id cell.ID) rollup.Database {
	run := func(how func(resolve.Cell, context.Context, func(resolve.Tx) error) error) func(context.Context, func(rollup.Tx) error) error {
		return func(ctx context.Context, fn func(rollup.Tx) error) error {
			return e.Do(ctx, id, func(c resolve.Cell) error {
				return how(c, ctx, func(tx resolve.Tx) error { return fn(rollupTx{tx, e}) })
			})
		}
	}
	db := rollup.Database{Update: run(resolve.Cell.Update), View: run(resolve.Cell.View), Exclusive: run(resolve.Cell.Exclusive)}
	if e.Documents != nil {
		db.Documents = e.Documents.Groups(id.String())
	}
	return db
}
