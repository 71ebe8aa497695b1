// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
)

// drain finishes what the redo set names. In health it reads nothing: an error, or a crash before
// this process, is what marks the resolver dirty.
func (r *Resolver) drain(ctx context.Context) error {
	if !r.dirty {
		return nil
	}
	r.cleared = map[cell.ID][]entity.PUID{}
	for _, id := range slices.SortedFunc(maps.Keys(r.cells), cell.ID.Compare) {
		for {
			n, err := r.redoCell(ctx, id)
			if err != nil {
				return fmt.Errorf("cell %v: %w", id, err)
			}
			if n == 0 {
				break
			}
		}
	}
	r.dirty = false
	return nil
}

// redoBatch is how many entries are worked off at once.
const redoBatch = 500

// redoCell does the second and third round again for entries of one cell, as if every feature of
// theirs were new and together with everyone they share one with: whichever of the rounds' writes
// were done are done again, and the others now.
func (r *Resolver) redoCell(ctx context.Context, id cell.ID) (int, error) {
	var entries []Redo
	if err := r.read(ctx, id, func(tx Tx) (err error) {
		entries, err = tx.Redo(ctx, redoBatch)
		return err
	}); err != nil || len(entries) == 0 {
		return 0, err
	}
	b := newBatch(r, nil, nil, nil)
	b.repair = true
	puids := make([]entity.PUID, len(entries))
	for i, e := range entries {
		puids[i] = e.PUID
	}
	if err := b.load(ctx, b.nodes, puids); err != nil {
		return 0, err
	}
	for _, e := range entries {
		n := b.nodes[e.PUID]
		if n == nil {
			continue
		}
		w := &write{puid: e.PUID, lost: e.Lost}
		if n.norm != nil {
			w.new = n
		}
		b.writes[e.PUID] = w
	}
	m, err := b.post(ctx)
	if err != nil {
		return 0, err
	}
	if err := b.resolve(ctx, m); err != nil {
		return 0, err
	}
	return len(entries), r.cells[id].Update(ctx, func(tx Tx) error { return tx.ClearRedo(ctx, puids) })
}

// Drain finishes what a crash left undone and takes the redo entries that are done out of the
// stores. It is called when a service starts, when it is idle, and before it stops.
func (r *Resolver) Drain(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.drain(ctx); err != nil {
		return err
	}
	if err := eachCell(r.cleared, func(id cell.ID, puids []entity.PUID) error {
		return r.cells[id].Update(ctx, func(tx Tx) error { return tx.ClearRedo(ctx, puids) })
	}); err != nil {
		r.dirty = true
		return err
	}
	clear(r.cleared)
	return nil
}
