// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// Image returns the image of an entity that changes carry and rollups count, nil for a nil entity.
func (r *Resolver) Image(e *entity.Entity, attributes []string) *changelog.Image {
	if e == nil {
		return nil
	}
	return changelog.ImageOf(e, attributes, r.Rules().Kind(e.Kind).Policy.Many)
}

// imagesOf returns which changes carry images, in a transaction.
func imagesOf(ctx context.Context, tx storage.Tx) (changelog.Images, error) {
	head, err := tx.Head(ctx)
	if err != nil || head.Images == "" {
		return changelog.Images{}, err
	}
	return changelog.ParseImages(head.Images)
}

// images adds images to the changes, if configured: the state that the transaction finds stored and the state that it
// is about to write, so that each new image is the old image of the next change. moved are the changes of records that
// became or ceased to be the anchor.
func (o *outcome) images(ctx context.Context, tx storage.Tx,
	r *Resolver) (images changelog.Images, moved []changelog.Change, err error) {
	if images, err = imagesOf(ctx, tx); err != nil {
		return images, nil, err
	}
	if images.Entities != nil && len(o.changed) > 0 {
		anchors := make([]entity.PUID, len(o.changed))
		for i, c := range o.changed {
			anchors[i] = c.anchor
		}
		stored, err := tx.Entities(ctx, anchors)
		if err != nil {
			return images, nil, fmt.Errorf("read entities that change: %w", err)
		}
		for i, c := range o.changed {
			o.changes[i].Was, o.changes[i].Is = r.Image(stored[i], images.Entities), r.Image(c.is, images.Entities)
		}
	}
	if images.Records != nil && len(o.assigned) > 0 {
		moved, err = o.moved(ctx, tx, images.Records)
	}
	return images, moved, err
}

// moved returns the changes of records that become the anchor of their entity or cease to be it.
func (o *outcome) moved(ctx context.Context, tx storage.Tx, attributes []string) (moved []changelog.Change, err error) {
	puids := make([]entity.PUID, len(o.assigned))
	for i, a := range o.assigned {
		puids[i] = a.PUID
	}
	stored, err := tx.Records(ctx, puids)
	if err != nil {
		return nil, fmt.Errorf("read records that are assigned: %w", err)
	}
	for i, rec := range stored {
		if rec == nil || rec.Deleted() {
			continue
		}
		is := *rec
		is.Anchor = o.assigned[i].Anchor
		if (rec.Anchor == rec.PUID) == (is.Anchor == is.PUID) {
			continue
		}
		at := []changelog.Version{{PUID: rec.PUID, Version: rec.Version}}
		moved = append(moved, changelog.Change{
			Time: o.now, Kind: changelog.Assigned, Cause: o.cause, Entity: rec.Birth, Before: at, After: at,
			Was: changelog.ImageOfRecord(rec, attributes), Is: changelog.ImageOfRecord(&is, attributes),
		})
	}
	return moved, nil
}

// end reads the end of the log if changes carry images, because the writer may wait for that position.
func (*Resolver) end(ctx context.Context, tx storage.Tx, images changelog.Images, mark *changelog.Seq) error {
	if images.None() {
		return nil
	}
	bounds, err := tx.Bounds(ctx)
	*mark = bounds.Last
	return err
}

// noteMark notes the log position after a transaction of an Apply.
func (r *Resolver) noteMark(id cell.ID, mark changelog.Seq) {
	if mark == 0 {
		return
	}
	r.asks.Lock()
	defer r.asks.Unlock()
	r.marks[id] = max(r.marks[id], mark)
}

// takeMarks returns and resets the noted positions, nil if there are none.
func (r *Resolver) takeMarks() map[cell.ID]changelog.Seq {
	r.asks.Lock()
	defer r.asks.Unlock()
	marks := r.marks
	if len(marks) == 0 {
		return nil
	}
	r.marks = map[cell.ID]changelog.Seq{}
	return marks
}

func (r *Resolver) noteCounts(counts entity.Counts) {
	r.asks.Lock()
	defer r.asks.Unlock()
	r.merges += int(counts.Merges)
	r.splits += int(counts.Splits)
}

// takeCounts returns and resets the noted merges and splits.
func (r *Resolver) takeCounts() (merges, splits int) {
	r.asks.Lock()
	defer r.asks.Unlock()
	merges, splits, r.merges, r.splits = r.merges, r.splits, 0, 0
	return merges, splits
}
