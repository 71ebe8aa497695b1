// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// tagMany has many values, the other attributes have one.
const tagMany = "tags"

// definition is the rollup to count.
const definition = `
rollup: pets_by_tag
kind: pet
group: tags
dimension: location
measures: {count: count}
`

// locus is a cell with documents as entities, with its follower.
type locus struct {
	cells  *storage.Cells
	db     cell.Database[storage.Tx]
	ids    []locality.ID
	puids  []entity.PUID
	of     map[locality.ID]int // documents by the IDs of their entities
	number int64               // of the generation

	sights
	poke chan struct{} // a writer has committed
}

// openLocus creates a cell at a URL and writes all documents into it.
func openLocus(ctx context.Context, url string, w *world) (*locus, error) {
	cells, err := storage.Open(ctx, url, &storage.Options{Cells: 1})
	if err != nil {
		return nil, err
	}
	l := &locus{cells: cells, of: map[locality.ID]int{}, poke: make(chan struct{}, 1)}
	m := cells.Map()
	l.db, err = cells.Cell(m.Cells()[0])
	for chunk := range slices.Chunk(w.pets, 1000) {
		keys := make([]cell.Key, len(chunk))
		for i, p := range chunk {
			keys[i] = m.KeyOf(source, p.key)
			id := locality.New()
			l.ids, l.of[id] = append(l.ids, id), p.n
		}
		if err == nil {
			err = l.db.Update(ctx, func(tx storage.Tx) error { return l.load(ctx, tx, keys, chunk) })
		}
	}
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return l, nil
}

const source = "zoo"

// load writes new documents.
func (l *locus) load(ctx context.Context, tx storage.Tx, keys []cell.Key, pets []pet) error {
	given, err := tx.Allocate(ctx, keys)
	if err != nil {
		return err
	}
	l.puids = l.puids[:pets[0].n]
	entities := make([]entity.Indexed, len(pets))
	for i := range pets {
		l.puids = append(l.puids, entity.PUID(given[i].PUID))
		entities[i] = l.entity(&pets[i], 1)
	}
	if err := tx.PutEntities(ctx, entities); err != nil {
		return err
	}
	return tx.AddCounts(ctx, entity.Counts{Entities: int64(len(pets))})
}

// entity returns the current state of a document. It has no search words, because no method searches.
func (l *locus) entity(p *pet, version int64) entity.Indexed {
	value := func(v string) entity.MergedValue { return entity.MergedValue{Value: v, Members: []int{0}} }
	tags := make([]entity.MergedValue, len(p.tags))
	for i, tag := range p.tags {
		tags[i] = value(tag)
	}
	members := []entity.Member{{PUID: l.puids[p.n], Ref: entity.Ref{Source: source, Key: p.key}, Version: version}}
	return entity.Indexed{Entity: &entity.Entity{
		Kind: "pet",
		ID:   l.ids[p.n], Members: members, Stamp: entity.Stamp(members, 0),
		View: entity.View{{Name: "location", Values: []entity.MergedValue{value(p.location)}}, {Name: tagMany, Values: tags}},
	}}
}

// write commits entities whose view has changed, like resolve.
func (l *locus) write(ctx context.Context, _ int, pets []*pet) error {
	anchors := make([]entity.PUID, len(pets))
	for i, p := range pets {
		anchors[i] = l.puids[p.n]
	}
	err := l.db.Update(ctx, func(tx storage.Tx) error {
		head, err := tx.Head(ctx)
		if err != nil {
			return err
		}
		before, err := tx.Entities(ctx, anchors)
		if err != nil {
			return err
		}
		images, err := changelog.ParseImages(head.Images)
		if err != nil {
			return err
		}
		after, changes := make([]entity.Indexed, len(pets)), make([]changelog.Change, len(pets))
		now := time.Now().UTC()
		for i, p := range pets {
			was := before[i]
			after[i] = l.entity(p, was.Members[0].Version+1)
			c := changelog.Change{Time: now, Kind: changelog.Changed, Entity: was.ID, Before: versions(was),
				After: versions(after[i].Entity)}
			if images.Entities != nil {
				c.Was, c.Is = imageOf(was, images.Entities), imageOf(after[i].Entity, images.Entities)
			}
			changes[i] = c
		}
		if err := tx.PutEntities(ctx, after); err != nil {
			return err
		}
		return tx.Append(ctx, changes)
	})
	select {
	case l.poke <- struct{}{}:
	default:
	}
	return err
}

func versions(e *entity.Entity) []changelog.Version {
	return []changelog.Version{{PUID: e.Members[0].PUID, Version: e.Members[0].Version}}
}

func imageOf(e *entity.Entity, attributes []string) *changelog.Image {
	return changelog.ImageOf(e, attributes, func(attribute string) bool { return attribute == tagMany })
}

// rollupTx adapts a transaction of the cell to package rollup. It records the changes that are read.
type rollupTx struct {
	storage.Tx
	l *locus
}

// Wanted is a part of the head.
func (tx rollupTx) Wanted(ctx context.Context) (changelog.Images, error) {
	head, err := tx.Head(ctx)
	if err != nil {
		return changelog.Images{}, err
	}
	return changelog.ParseImages(head.Images)
}

// History is not needed: no groups are stored elsewhere.
func (tx rollupTx) History(context.Context) (int64, error) { return 0, nil }

// Want writes that part of the head.
func (tx rollupTx) Want(ctx context.Context, images changelog.Images) error {
	head, err := tx.Head(ctx)
	if err != nil {
		return err
	}
	head.Images = images.String()
	return tx.SetHead(ctx, head)
}

// List returns entities.
func (tx rollupTx) List(ctx context.Context, _ rollup.Over, attributes []string, after int64, limit int) ([]rollup.Item, error) {
	entities, err := tx.ListEntities(ctx, entity.PUID(after), limit)
	items := make([]rollup.Item, len(entities))
	for i, e := range entities {
		items[i] = rollup.Item{Place: int64(e.Anchor()), Image: *imageOf(e, attributes)}
	}
	return items, err
}

// Changes records the changes that were read.
func (tx rollupTx) Changes(ctx context.Context, after changelog.Seq, limit int) ([]changelog.Change, error) {
	changes, err := tx.Tx.Changes(ctx, after, limit)
	entries := make([]entry, len(changes))
	for i, c := range changes {
		entries[i] = entry{int64(c.Seq), int32(tx.l.of[c.Entity])}
	}
	tx.l.read(entries)
	return changes, err
}

// database runs transactions of the cell.
func (l *locus) database() rollup.Database {
	with := func(run func(context.Context, func(storage.Tx) error) error) func(context.Context, func(rollup.Tx) error) error {
		return func(ctx context.Context, fn func(rollup.Tx) error) error {
			return run(ctx, func(tx storage.Tx) error { return fn(rollupTx{tx, l}) })
		}
	}
	return rollup.Database{Update: with(l.db.Update), View: with(l.db.View), Exclusive: with(l.db.Exclusive)}
}
