// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// outcomes collects what each cell has to write.
type outcomes struct {
	*Resolver
	now   time.Time
	cause changelog.Cause
	cells map[cell.ID]*outcome
	// positions are the positions of the blocking keys that records gain.
	positions []uint32
	err       error
}

func newOutcomes(b *batch) *outcomes {
	return &outcomes{Resolver: b.Resolver, now: b.now, cause: b.assigns(), cells: map[cell.ID]*outcome{}}
}

// assigns returns the cause of changed memberships: the cause of the batch if it has one, otherwise
// CausePut if any record was put, otherwise CauseDelete.
func (b *batch) assigns() changelog.Cause {
	if b.cause != "" {
		return b.cause
	}
	for _, w := range b.writes {
		if w.new != nil {
			return changelog.CausePut
		}
	}
	return changelog.CauseDelete
}

// at returns the outcome of a record's cell. If no cell has the address, err is set and stops the commit.
func (o *outcomes) at(p entity.PUID) *outcome {
	id, err := o.home(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return o.in(id)
}

// in returns the outcome of a cell.
func (o *outcomes) in(id cell.ID) *outcome {
	if o.cells[id] == nil {
		o.cells[id] = &outcome{now: o.now, cause: o.cause}
	}
	return o.cells[id]
}

// link writes the row of an edge, and with both also the row of the other side. Without outcomes it does nothing.
func (o *outcomes) link(e derived.Edge, both bool) {
	if o == nil {
		return
	}
	a := o.at(e.A)
	a.edges = append(a.edges, e)
	if both {
		b := o.at(e.B)
		b.edges = append(b.edges, e.Mirror())
	}
}

// cut removes the rows that link writes.
func (o *outcomes) cut(p, q entity.PUID, both bool) {
	if o == nil {
		return
	}
	a := o.at(p)
	a.cut = append(a.cut, derived.Pair{A: p, B: q})
	if both {
		b := o.at(q)
		b.cut = append(b.cut, derived.Pair{A: q, B: p})
	}
}

// commit writes everything. A cell takes new postings only once the older cells are sealed.
func (o *outcomes) commit(ctx context.Context) error {
	if err := o.dir.SealOlder(ctx, o.positions); err != nil {
		return fmt.Errorf("seal older cells: %w", err)
	}
	return eachCell(o.cells, func(id cell.ID, out *outcome) error {
		err := o.Resolver.write(ctx, id, func(tx storage.Tx) error {
			if err := out.post.store(ctx, tx, o.Resolver, id); err != nil {
				return err
			}
			return out.store(ctx, tx, o.Resolver)
		})
		if err == nil {
			o.noteMark(id, out.mark)
			o.noteCounts(out.counts)
		}
		return err
	})
}

func (p *postings) store(ctx context.Context, tx storage.Tx, r *Resolver, id cell.ID) error {
	if len(p.add) > 0 {
		if err := r.dir.Gate(ctx, tx, r.opts.Cells.Map(), id); err != nil {
			return err
		}
	}
	if err := tx.Post(ctx, p.add, p.remove); err != nil {
		return fmt.Errorf("post blocking keys: %w", err)
	}
	return nil
}

func (o *outcome) store(ctx context.Context, tx storage.Tx, r *Resolver) error {
	images, moved, err := o.images(ctx, tx, r)
	if err != nil {
		return err
	}
	if err := tx.DeleteEdges(ctx, o.cut); err != nil {
		return fmt.Errorf("delete edges: %w", err)
	}
	if err := tx.PutEdges(ctx, o.edges); err != nil {
		return fmt.Errorf("put edges: %w", err)
	}
	if err := tx.Assign(ctx, o.assigned); err != nil {
		return fmt.Errorf("assign records: %w", err)
	}
	if err := tx.DeleteEntities(ctx, o.retired); err != nil {
		return fmt.Errorf("delete entities: %w", err)
	}
	if err := tx.PutEntities(ctx, o.entities); err != nil {
		return fmt.Errorf("put entities: %w", err)
	}
	if err := tx.Append(ctx, slices.Concat(o.changes, moved)); err != nil {
		return fmt.Errorf("append changes: %w", err)
	}
	if o.counts != (entity.Counts{}) {
		if err := tx.AddCounts(ctx, o.counts); err != nil {
			return err
		}
	}
	return r.end(ctx, tx, images, &o.mark)
}
