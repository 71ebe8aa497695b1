// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
)

// openDatabase opens a snapshot of a database: after the last row of an interrupted import if its rows have positions,
// and with --since from the highest value of the last import on.
func (im *importer) openDatabase(ctx context.Context) (err error) {
	im.state.File = "database " + im.plan.Name
	// A snapshot sees every row, and the rows before a position may have changed since.
	if im.client != nil && im.snapshot == nil {
		old, err := bulk.LoadState(im.plan.File(), im.state.File, im.state.Job)
		if err != nil {
			return err
		}
		if old != nil {
			stored, err := im.stored(ctx, old)
			if err != nil {
				return err
			}
			if stored {
				im.goOn(old)
			}
		}
	}
	if im.reader, err = im.plan.OpenAfter(im.state.Position, im.done, im.state.Since); err != nil {
		return err
	}
	if im.state.Next == "" {
		im.state.Next = cmp.Or(im.reader.High(), im.state.Since)
	}
	im.keep = !im.flags.dryRun && (im.plan.Positioned() || im.plan.Since() != "")
	return nil
}

// goOn takes over the state of an earlier import: its rows if it was interrupted, and the value for --since.
func (im *importer) goOn(old *bulk.State) {
	if old.Position != nil && !im.flags.dryRun {
		im.takeOver(old)
		return
	}
	im.state.Since, im.state.Source, im.state.Key = old.Since, old.Source, old.Key
	if old.Since != "" {
		im.say("%s: rows with %s from %s on", term.Escape(im.name), term.Escape(im.plan.Since()), term.Escape(old.Since))
	}
}

// finish removes the state of a finished import, or keeps only the position at which the next one with --since begins.
// An import that ended at --limit did not read everything.
func (im *importer) finish() error {
	if !im.plan.Database || im.plan.Since() == "" {
		return bulk.RemoveState(im.plan.File())
	}
	next := &bulk.State{File: im.state.File, Job: im.state.Job, Since: im.state.Next, Source: im.state.Source,
		Key: im.state.Key, Counts: map[string]int64{}}
	if im.flags.limit > 0 {
		next.Since = im.state.Since
	}
	return next.Save(im.plan.File())
}
