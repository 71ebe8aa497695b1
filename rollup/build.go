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

// Variables so that tests can lower them.
var (
	// listed is the page size of a build or verification that reads entities or records.
	listed = 2000
	// written is the number of rows that a build writes, or an Erase deletes, in one transaction.
	written = 5000
	// scanned is the page size for rows and changes.
	scanned = 5000
	// falls limits the groups that one entity or record falls into, maxSlots the dimension values of a group.
	falls, maxSlots = maxProduct, MaxSlots
)

// unbuilt is the watermark of a generation whose build failed.
const unbuilt changelog.Seq = -1

// errStopped reports that the generation is no longer being filled by this build.
var errStopped = errors.New("rollup: the generation was taken over or dropped")

// Build builds a version's generation in the cell under the lease, while updates continue and the old generation
// serves. It counts one snapshot; the watermark is the snapshot's position in the log, from which Step continues. A
// build that was killed starts over, and an existing generation is left as it is. If the definition cannot be built,
// Build stores a failed generation with the reason. progress, if not nil, is called with the number of entities or
// records counted. A process must not run two builds of the same generation concurrently.
func (f *Follower) Build(ctx context.Context, v Version, progress func(counted int)) error {
	g := Generation{Number: v.Generation, Definition: v.Definition, State: Building}
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

// begin stores the generation if it is missing and requests the images that it needs. there reports whether the
// generation already exists and is not being filled.
func (f term) begin(ctx context.Context, g *Generation) (there bool, err error) {
	images := g.Definition.Images()
	carried := false
	if err := f.update(ctx, func(tx Tx) error {
		all, err := generations(ctx, tx)
		if err != nil {
			return err
		}
		if there = slices.ContainsFunc(all, func(h Generation) bool { return h.Number == g.Number && h.State != Building }); there {
			return nil
		}
		if g.Definition.external() {
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

// fill counts one snapshot and writes the result.
func (f term) fill(ctx context.Context, g Generation, progress func(int)) error {
	dl, at := newDelta(&g.Definition), g
	err := f.opts.Database.View(ctx, func(tx Tx) error {
		dl, at = newDelta(&g.Definition), g // start over if the transaction is retried
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
	if wrong == nil && groups > maxGroups {
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

// write writes the rows of a generation, in the cell or elsewhere, that is being filled.
func (f term) write(ctx context.Context, g Generation, rows []Row) error {
	for chunk := range slices.Chunk(rows, written) {
		write := func() error {
			return f.filling(ctx, g, func(tx Tx) error { return tx.PutRows(ctx, g.Number, chunk) })
		}
		if g.Definition.external() {
			write = func() error {
				in, err := f.opts.Database.elsewhere(&g)
				if err != nil {
					return err
				}
				return in.Fill(ctx, &g, chunk)
			}
		}
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// unfit is an error in a definition or the data that it counts, as opposed to a failure of the cell.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// failed marks the generation as failed if err is unfit; otherwise it returns err.
func (f term) failed(ctx context.Context, g Generation, err error) error {
	wrong, ok := errors.AsType[unfit](err)
	if !ok {
		return err
	}
	g.State, g.Watermark, g.Reason = Failed, unbuilt, wrong.Error()
	return f.filling(ctx, g, func(tx Tx) error { return tx.PutGeneration(ctx, g) })
}

// filling runs an update that requires the generation to be in state Building.
func (f term) filling(ctx context.Context, g Generation, fn func(Tx) error) error {
	return f.update(ctx, func(tx Tx) error {
		now, err := tx.Generations(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(now, func(h Generation) bool { return h.Number == g.Number && h.State == Building }) {
			return errStopped
		}
		return fn(tx)
	})
}

// recount adds every entity or record of the cell.
func (dl *delta) recount(ctx context.Context, tx Tx, progress func(int)) error {
	after, n, attributes := int64(math.MinInt64), 0, dl.Attributes()
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
		if len(dl.groups) > maxGroups {
			return unfit{tooMany(dl.Definition)}
		}
		if len(items) < listed {
			return nil
		}
		after = items[len(items)-1].Place
	}
}
