// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/changelog"
)

// Erase deletes a generation that has no more readers, its rows in several transactions. After a crash it can be
// run again. Once no generation needs images, changes stop carrying them.
func (f *Follower) Erase(ctx context.Context, number int64) error {
	if err := f.term().erase(ctx, number); err != nil {
		return fmt.Errorf("erase generation %d: %w", number, err)
	}
	return nil
}

func (f term) erase(ctx context.Context, number int64) error {
	apart := Generation{}
	err := f.update(ctx, func(tx Tx) error {
		now, err := tx.Generations(ctx)
		if err != nil {
			return err
		}
		for _, g := range now {
			if g.Number == number {
				apart = g
				g.State = Dropping
				return tx.PutGeneration(ctx, g)
			}
		}
		return nil
	})
	if err == nil {
		err = f.dropRows(ctx, number)
	}
	if err == nil && apart.Definition.external() {
		err = f.dropElsewhere(ctx, &apart)
	}
	if err == nil {
		err = f.unwant(ctx) // before the generation is deleted, so that a crash does not skip this
	}
	if err == nil {
		err = f.update(ctx, func(tx Tx) error { return tx.DeleteGeneration(ctx, number) })
	}
	return err
}

func (f term) dropRows(ctx context.Context, number int64) error {
	for {
		n := 0
		if err := f.update(ctx, func(tx Tx) (err error) {
			n, err = tx.DropRows(ctx, number, written)
			return err
		}); err != nil || n < written {
			return err
		}
	}
}

// unwant limits the images in changes to the ones that the remaining generations need.
func (f term) unwant(ctx context.Context) error {
	needed := func(tx Tx) (need, have changelog.Images, err error) {
		all, err := tx.Generations(ctx)
		for _, g := range all {
			if g.State == Dropping {
				continue
			}
			need = need.Union(g.Definition.Images())
		}
		if err == nil {
			have, err = tx.Wanted(ctx)
		}
		return need, have, err
	}
	var need, have changelog.Images
	err := f.opts.Database.View(ctx, func(tx Tx) (err error) { need, have, err = needed(tx); return err })
	if err != nil || need.String() == have.String() {
		return err
	}
	return f.exclusive(ctx, func(tx Tx) error {
		need, _, err := needed(tx)
		if err != nil {
			return err
		}
		return tx.Want(ctx, need)
	})
}
