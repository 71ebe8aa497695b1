// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/locus-db/locus/changelog"
)

// Variables, so that tests make them small.
var (
	// listed is how many things a build or a verification reads at once.
	listed = 2000
	// written is how many rows a build writes in one transaction, and an Erase deletes.
	written = 5000
	// scanned is how many rows or changes a reader reads at once.
	scanned = 5000
	// falls is into how many groups one thing may fall, maxSlots how many values of the dimension a group may have.
	falls, maxSlots = MaxProduct, MaxSlots
)

// unbuilt is the watermark of a generation that failed before it was true anywhere.
const unbuilt changelog.Seq = -1

// errStopped says that a generation became something else while it was built.
var errStopped = errors.New("rollup: the generation was taken over or dropped")

// Build makes the generation of a version in the cell, under the lease, beside the updates that go on and
// the generation that serves: it counts one snapshot, and its watermark is the snapshot's place in the
// log, from which Step goes on. A build that was killed is begun again; a generation that the cell holds
// already is left as it is. A definition that cannot be built leaves a generation that says why. progress,
// if it is not nil, is told how many things were counted. No two Builds of a generation may run at once in
// a process.
func (f *Follower) Build(ctx context.Context, v Version, progress func(counted int)) error {
	g := Generation{Number: v.Generation, Definition: v.Definition, State: Filling}
	t := f.term()
	there, err := t.begin(ctx, &g)
	if err == nil && !there {
		err = t.fill(ctx, g, progress)
	}
	if err != nil {
		return fmt.Errorf("build generation %d of rollup %s: %w", v.Generation, v.Definition.Name, err)
	}
	return nil
}

// begin enters the generation, if it is not there, and has changes carry what it needs.
func (f term) begin(ctx context.Context, g *Generation) (there bool, err error) {
	images := g.Definition.Images()
	carried := false
	if err := f.update(ctx, func(tx Tx) error {
		all, err := generations(ctx, tx)
		if err != nil {
			return err
		}
		if there = slices.ContainsFunc(all, func(h Generation) bool { return h.Number == g.Number && h.State != Filling }); there {
			return nil
		}
		if g.Definition.apart() {
			if err := f.settle(ctx, tx, g); err != nil {
				return err
			}
		}
		bounds, err := tx.Bounds(ctx)
		if err != nil {
			return err
		}
		g.Watermark, g.At = bounds.Last, f.now() // the log is kept from here on
		wanted, err := tx.Wanted(ctx)
		carried = wanted.Contain(images)
		return errors.Join(err, tx.PutGeneration(ctx, *g))
	}); err != nil || there {
		return there, err
	}
	if err := f.dropRows(ctx, g.Number); err != nil || carried {
		return false, err
	}
	return false, f.exclusive(ctx, func(tx Tx) error {
		wanted, err := tx.Wanted(ctx)
		if err != nil {
			return err
		}
		return tx.Want(ctx, wanted.Union(images))
	})
}

func (f *Follower) now() time.Time { return f.opts.Now().UTC().Truncate(time.Millisecond) }

// fill counts a snapshot and writes what it found.
func (f term) fill(ctx context.Context, g Generation, progress func(int)) error {
	dl, at := newDelta(&g.Definition), g
	err := f.opts.Database.View(ctx, func(tx Tx) error {
		dl, at = newDelta(&g.Definition), g // anew if it runs again
		bounds, err := tx.Bounds(ctx)
		if err != nil {
			return err
		}
		at.Watermark, at.At = bounds.Last, f.now()
		return dl.recount(ctx, tx, progress)
	})
	if err != nil {
		return f.failed(ctx, g, err)
	}
	keys := dl.keys()
	rows, groups, wrong := dl.apply(keys, make([][]byte, len(keys)))
	if wrong == nil && groups > MaxGroups {
		wrong = tooMany(&g.Definition)
	}
	if wrong == nil {
		wrong = g.Definition.boundedRows(rows)
	}
	if err == nil && wrong != nil {
		return f.failed(ctx, g, unfit{wrong})
	}
	if err := f.write(ctx, at, rows); err != nil {
		return err
	}
	at.State, at.Groups = Following, groups
	return f.filling(ctx, g, func(tx Tx) error { return tx.PutGeneration(ctx, at) })
}

// write writes the rows of a generation that is being filled, or documents in their place.
func (f term) write(ctx context.Context, g Generation, rows []Row) error {
	for chunk := range slices.Chunk(rows, written) {
		write := func() error {
			return f.filling(ctx, g, func(tx Tx) error { return tx.PutRows(ctx, g.Number, chunk) })
		}
		if g.Definition.apart() {
			write = func() error { return f.fillDocuments(ctx, g, chunk) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// unfit is what is wrong with a definition, or with what it counts, and not with the cell.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// failed leaves a generation that says why it cannot be, if that is the reason.
func (f term) failed(ctx context.Context, g Generation, err error) error {
	wrong, ok := errors.AsType[unfit](err)
	if !ok {
		return err
	}
	g.State, g.Watermark, g.Reason = Failed, unbuilt, wrong.Error()
	return f.filling(ctx, g, func(tx Tx) error { return tx.PutGeneration(ctx, g) })
}

// filling runs an update that only the builder of the generation may make.
func (f term) filling(ctx context.Context, g Generation, fn func(Tx) error) error {
	return f.update(ctx, func(tx Tx) error {
		now, err := tx.Generations(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(now, func(h Generation) bool { return h.Number == g.Number && h.State == Filling }) {
			return errStopped
		}
		return fn(tx)
	})
}

// recount adds everything that the cell holds.
func (dl *delta) recount(ctx context.Context, tx Tx, progress func(int)) error {
	after, n, attributes := int64(math.MinInt64), 0, dl.attributes()
	for {
		items, err := tx.List(ctx, dl.Over, attributes, after, listed)
		if err != nil {
			return err
		}
		for i := range items {
			dl.add(&items[i].Image, 1)
		}
		if n += len(items); progress != nil {
			progress(n)
		}
		if len(dl.groups) > MaxGroups {
			return unfit{tooMany(dl.Definition)}
		}
		if len(items) < listed {
			return nil
		}
		after = items[len(items)-1].Place
	}
}
