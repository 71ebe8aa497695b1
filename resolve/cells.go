// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

func (r *Resolver) home(p entity.PUID) (cell.ID, error) { return r.opts.Cells.Map().Puid(int64(p)) }

func (r *Resolver) keyCell(key uint64) cell.ID {
	return r.opts.Cells.Map().Home(cell.Position(key))
}

// keyCells returns the cells that may hold postings of a blocking key, starting with that of the current
// generation, which takes new ones.
func (r *Resolver) keyCells(key uint64) []cell.ID {
	m, at := r.opts.Cells.Map(), cell.Position(key)
	ids := make([]cell.ID, 0, m.Current()-m.Floor()+1)
	for g := m.Current(); g >= m.Floor(); g-- {
		ids = append(ids, m.Key(g, at))
	}
	return ids
}

// asking reads from a cell: it is Resolver.read under the lease, and Resolver.view in readers that run concurrently
// with the resolver.
type asking func(ctx context.Context, id cell.ID, fn func(storage.Tx) error) error

// fromHomes reads about records in their home cells concurrently, and passes each result to take, one at a
// time.
func fromHomes[T any](ctx context.Context, r *Resolver, ask asking, puids []entity.PUID,
	read func(storage.Tx, []entity.PUID) (T, error), take func([]entity.PUID, T)) error {
	groups := map[cell.ID][]entity.PUID{}
	for _, p := range puids {
		id, err := r.home(p)
		if err != nil {
			return err
		}
		groups[id] = append(groups[id], p)
	}
	var mu sync.Mutex
	return eachCell(groups, func(id cell.ID, group []entity.PUID) error {
		var answer T
		if err := ask(ctx, id, func(tx storage.Tx) (err error) {
			answer, err = read(tx, group)
			return err
		}); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		take(group, answer)
		return nil
	})
}

// read reads the current state of a cell and fences earlier lease holders first.
func (r *Resolver) read(ctx context.Context, id cell.ID, fn func(storage.Tx) error) error {
	c, err := r.open(ctx, id)
	if err == nil {
		err = c.Read(ctx, fn)
	}
	r.moves()
	return r.asked(id, err)
}

// view reads a cell concurrently with the resolver, without the lease.
func (r *Resolver) view(ctx context.Context, id cell.ID, fn func(storage.Tx) error) error {
	c, err := r.opts.Cells.Cell(id)
	if err != nil {
		return err
	}
	return c.View(ctx, fn)
}

// write updates a cell under the lease, if there is one.
func (r *Resolver) write(ctx context.Context, id cell.ID, fn func(storage.Tx) error) error {
	c, err := r.open(ctx, id)
	if err == nil {
		err = c.Update(ctx, func(tx storage.Tx) error {
			if err := r.checkLease(ctx, tx); err != nil {
				return err
			}
			return fn(tx)
		})
	}
	r.moves()
	return r.asked(id, err)
}

// asked notes cells that do not answer and returns err.
func (r *Resolver) asked(id cell.ID, err error) error {
	if errors.Is(err, cell.ErrUnavailable) {
		r.redoLog.noteDown(id)
	}
	return err
}

// eachCell is forCells for the groups of cells.
func eachCell[T any](groups map[cell.ID]T, fn func(cell.ID, T) error) error {
	return forCells(slices.Collect(maps.Keys(groups)), func(id cell.ID) error { return fn(id, groups[id]) })
}

// forCells runs fn for all cells concurrently. It joins the errors of all cells, where engine.Parallel, above this
// package, returns the first: a cell that has moved asks for a newer map also if another one is unavailable.
func forCells(ids []cell.ID, fn func(cell.ID) error) error {
	if len(ids) == 1 {
		return fn(ids[0])
	}
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range slices.SortedFunc(slices.Values(ids), cell.ID.Compare) {
		ask := func() {
			if err := fn(id); err != nil {
				errs[i] = fmt.Errorf("cell %v: %w", id, err)
			}
		}
		if i < len(ids)-1 {
			wg.Go(ask)
		} else {
			ask() // the caller would only wait
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// authority runs in the cell that stores the rules and the lease, found by open, and again with a newer cell map
// while that cell has moved.
func (r *Resolver) authority(ctx context.Context, open func(context.Context, cell.ID) (storage.Cell, error),
	run func(storage.Cell) error) error {
	for {
		c, err := open(ctx, r.opts.Cells.Map().Authority())
		if err == nil {
			err = run(c)
		}
		if !errors.Is(err, cell.ErrMoved) {
			return err
		}
		if err := r.refresh(ctx, err); err != nil {
			return err
		}
	}
}
