// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// MaxCarriers is H: a feature that more records carry is generic and yields no candidates.
const MaxCarriers = match.GenericAbove

// Options of New. All but Cache and OnBatch are required.
type Options struct {
	Map  *cell.Map
	Cell func(cell.ID) (Cell, error)
	// Matcher holds the schema and the pack; Rules is a hash of both, and part of every stamp.
	Matcher *match.Matcher
	Rules   uint64
	Policy  entity.Policy
	// Mint gives a record its birth id, inside the segment.
	Mint func(entity.Ref, locality.Segment) (locality.ID, error)
	Now  func() time.Time
	// Cache is how many records are kept in memory, read and normalised. Defaults to 50,000.
	Cache int
	// OnBatch, if set, is called after every Apply.
	OnBatch func(Batched)
}

// Op is one write: a record put, or deleted.
type Op struct {
	entity.Ref
	Delete bool
	// Observed is when the source saw it so; zero is now, unless the content is stored already.
	Observed   time.Time
	Attributes entity.Attributes
}

// Result is what became of an Op.
type Result struct {
	PUID    entity.PUID
	Version int64
	// Entity is the entity of the record after the write, for a deletion before it.
	Entity  locality.ID
	Outcome Outcome
	Err     error
}

// Batched reports one Apply.
type Batched struct {
	Ops, Failed        int
	Put, Post, Resolve time.Duration // the three rounds
}

// Resolver resolves the records of one installation. It serialises its writes: Apply is one batch
// at a time, parallel inside. Many small callers share a batch through a Queue.
type Resolver struct {
	opts  Options
	cells map[cell.ID]Cell

	mu      sync.Mutex
	cache   *cache
	cleared map[cell.ID][]entity.PUID // redo entries that are done and not taken out yet
	dirty   bool                      // a round failed: the redo set must be drained before the next batch
}

// New makes a resolver. Drain must have returned before the first Apply, or what a crash left
// undone is taken for done.
func New(opts Options) (*Resolver, error) {
	if opts.Cache == 0 {
		opts.Cache = 50_000
	}
	r := &Resolver{opts: opts, cells: map[cell.ID]Cell{}, cache: newCache(opts.Cache), cleared: map[cell.ID][]entity.PUID{}, dirty: true}
	for _, id := range opts.Map.Cells() {
		c, err := opts.Cell(id)
		if err != nil {
			return nil, fmt.Errorf("open cell %v: %w", id, err)
		}
		r.cells[id] = c
	}
	return r, nil
}

// Apply writes a batch and resolves it. Results are in the order of ops; a key may stand in it more
// than once, and its writes happen in that order. When Apply returns, what it reports is durable in
// every cell. Its error is about the batch as a whole and wraps ErrUnknownOutcome if some of it may
// have been written; what was is finished by the next Apply, and putting it again changes nothing.
func (r *Resolver) Apply(ctx context.Context, ops []Op) ([]Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.drain(ctx); err != nil {
		return nil, fmt.Errorf("finish earlier writes: %w", err)
	}
	results := make([]Result, len(ops))
	report := Batched{Ops: len(ops)}
	for _, pass := range passes(ops) {
		b := newBatch(r, ops, pass, results)
		if err := b.run(ctx, &report); err != nil {
			r.dirty = true
			r.cache.clear()
			return nil, fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
		}
	}
	if r.opts.OnBatch != nil {
		for i := range results {
			if results[i].Err != nil {
				report.Failed++
			}
		}
		r.opts.OnBatch(report)
	}
	return results, nil
}

// passes splits a batch into lists of positions in which no key stands twice.
func passes(ops []Op) [][]int {
	var lists [][]int
	turn := make(map[entity.Ref]int, len(ops))
	for i := range ops {
		n := turn[ops[i].Ref]
		turn[ops[i].Ref]++
		if n == len(lists) {
			lists = append(lists, nil)
			if n == 0 {
				lists[0] = make([]int, 0, len(ops)) // mostly there is no other
			}
		}
		lists[n] = append(lists[n], i)
	}
	return lists
}

// home is the cell that a puid names.
func (r *Resolver) home(p entity.PUID) (cell.ID, error) { return r.opts.Map.Puid(int64(p)) }

// featureCell is the cell in which the postings of a feature lie.
func (r *Resolver) featureCell(feature uint64) cell.ID {
	return r.opts.Map.Home(cell.Position(feature))
}

// fromHomes reads about records in their home cells, the cells side by side, and hands what each of
// them answered to take, one at a time.
func fromHomes[T any](ctx context.Context, r *Resolver, puids []entity.PUID, read func(Tx, []entity.PUID) (T, error), take func([]entity.PUID, T)) error {
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
		if err := r.read(ctx, id, func(tx Tx) (err error) {
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

// read reads a cell in a transaction of the kind that writes, and writes nothing: a database that keeps pages
// in memory by connection has there what the resolver wrote last, and reads it again elsewhere.
func (r *Resolver) read(ctx context.Context, id cell.ID, fn func(Tx) error) error {
	return r.cells[id].Update(ctx, fn)
}

// eachCell runs fn for every group, side by side, and joins the errors. fn runs for different cells
// at the same time.
func eachCell[T any](groups map[cell.ID]T, fn func(cell.ID, T) error) error {
	if len(groups) == 1 {
		for id, g := range groups {
			return fn(id, g)
		}
	}
	errs := make([]error, len(groups))
	var wg sync.WaitGroup
	for i, id := range slices.SortedFunc(maps.Keys(groups), cell.ID.Compare) {
		wg.Go(func() {
			if err := fn(id, groups[id]); err != nil {
				errs[i] = fmt.Errorf("cell %v: %w", id, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
