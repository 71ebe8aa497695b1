// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// cellTx adapts a transaction of a cell to rollup.Tx.
type cellTx struct {
	storage.Tx
	engine *engine.Engine
}

// Wanted returns the images that changes must carry. They are stored in the head, which every transaction has read.
func (t cellTx) Wanted(ctx context.Context) (changelog.Images, error) {
	head, err := t.Head(ctx)
	if err != nil {
		return changelog.Images{}, err
	}
	return changelog.ParseImages(head.Images)
}

// Want stores images in the head. A cell that is not serving returns cell.ErrMoved.
func (t cellTx) Want(ctx context.Context, images changelog.Images) error {
	head, err := t.Head(ctx)
	switch {
	case err != nil:
		return err
	case head.Home != cell.Serving:
		return cell.ErrMoved // the head may already have been copied
	}
	head.Images = images.String()
	return t.SetHead(ctx, head)
}

// History returns the incarnation of the cell's database. A moved cell also gets a new one, so groups kept outside of
// it are rebuilt unnecessarily, which is safe.
func (t cellTx) History(ctx context.Context) (int64, error) {
	head, err := t.Head(ctx)
	return int64(head.Incarnation), err
}

// List reads entities or records in the order of their puids.
func (t cellTx) List(ctx context.Context, over rollup.Over, attributes []string, after int64,
	limit int) ([]rollup.Item, error) {
	if over == rollup.Records {
		records, err := t.ListRecords(ctx, "", entity.PUID(after), limit)
		return items(records, attributes, func(r *entity.Record) int64 { return int64(r.PUID) }, changelog.ImageOfRecord), err
	}
	entities, err := t.ListEntities(ctx, entity.PUID(after), limit)
	for _, e := range entities {
		if t.engine.Kind(e.Kind) == nil {
			return nil, fmt.Errorf("%w: the rules do not have kind %s yet", engine.ErrUnavailable, e.Kind)
		}
	}
	place := func(e *entity.Entity) int64 { return int64(e.Anchor()) }
	return items(entities, attributes, place, t.engine.Resolver.Image), err
}

func items[T any](of []T, attributes []string, place func(T) int64,
	image func(T, []string) *changelog.Image) []rollup.Item {
	all := make([]rollup.Item, len(of))
	for i, one := range of {
		all[i] = rollup.Item{Place: place(one), Image: *image(one, attributes)}
	}
	return all
}

// database returns a cell in the form that package rollup uses. It follows the cell if it moves.
func database(e *engine.Engine, id cell.ID) rollup.Database {
	type transaction = func(storage.Cell, context.Context, func(storage.Tx) error) error
	run := func(how transaction) func(context.Context, func(rollup.Tx) error) error {
		return func(ctx context.Context, fn func(rollup.Tx) error) error {
			return e.Do(ctx, id, func(c storage.Cell) error {
				return how(c, ctx, func(tx storage.Tx) error { return fn(cellTx{tx, e}) })
			})
		}
	}
	db := rollup.Database{Update: run(storage.Cell.Update), View: run(storage.Cell.View),
		Exclusive: run(storage.Cell.Exclusive)}
	if e.Documents != nil {
		db.Elsewhere = e.Documents.Groups(id.String())
	}
	return db
}
