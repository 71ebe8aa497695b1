// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// RulesName names the code that entities are made with: normalisation, features, scoring, clustering. A backend refuses
// data whose postings and edges were made by other code. Kinds and packs are data.
const RulesName = "matcher 6"

// MaxCarriers is H: a feature that more records carry is generic and yields no candidates. Some are so
// sooner, see match.MostCarriers.
const MaxCarriers = match.GenericAbove

// Options of New. All but Owner, Cache, OnBatch and OnOthers are required.
type Options struct {
	// Cells are the databases of the installation; *cell.Cells[Tx] has them.
	Cells cell.Source[Tx]
	// Owner names this process to the others that write to the same cells. Empty: there are none.
	Owner string
	// Rules are those of an installation that has none yet. One that has works by its own: see Reload.
	Rules *Rules
	// Mint gives a record its birth id, inside the segment. After an error that wraps cell.ErrStaleMap the cell map is
	// read again.
	Mint func(entity.Ref, locality.Segment) (locality.ID, error)
	Now  func() time.Time
	// Cache is how many records are kept in memory, read and normalised. Defaults to 50,000.
	Cache int
	// OnBatch, if set, is called after every Apply.
	OnBatch func(Batched)
	// OnOthers, if set, is called when something may have been resolved for which no Apply asked: by another
	// process, or by Rest and Resume.
	OnOthers func()
}

// Op is one write: a record put, or deleted.
type Op struct {
	entity.Ref
	// Kind of the thing, one of those of the rules; "" is the first of them.
	Kind   string
	Delete bool
	// Observed is when the source saw it so; zero is now, unless the content is stored already.
	Observed   time.Time
	Attributes entity.Attributes
}

// Result is what became of an Op.
type Result struct {
	PUID    entity.PUID
	Version int64
	// Entity is the entity of the record after the write, for a deletion before it. An id leads to its
	// entity for ever, so where that is not known yet it is the record's birth id.
	Entity  locality.ID
	Outcome Outcome
	// Pending tells that the record is durable and what follows from it is not done yet: a cell that it
	// takes does not answer, or another process is at it. It is done as soon as that can be.
	Pending bool
	// Marks are places in the logs of the cells that the Apply wrote to, at or after what it wrote. They are
	// known while changes carry images, that is while somebody counts by the logs; all results of an Apply
	// share them.
	Marks map[cell.ID]changelog.Seq
	Err   error
}

// Batched reports one Apply.
type Batched struct {
	Ops, Failed, Pending int
	Put, Post, Resolve   time.Duration // the three rounds
	// Compared are the candidates that written records were compared with.
	Compared int
	// Merges and Splits of entities, with those of work that was left undone before.
	Merges, Splits int
	// Err is what kept the second or the third round from being done, nil if nothing did.
	Err error
}

// Resolver resolves the records of one installation. It serialises its writes: Apply is one batch
// at a time, parallel inside. Many small callers share a batch through a Queue.
//
// The first round of a batch makes its records durable, beside those of any other process, guarded by
// the directory of keys alone. The other two are done by one process at a time, under a lease; what one
// of them leaves undone stands in the redo set of the cells and is done by whoever has the lease next.
type Resolver struct {
	opts  Options
	rules atomic.Pointer[Rules]
	dir   *cell.Directory[Tx]
	lease *lease.Holder // nil if the process is alone

	mu      mutex
	cache   *cache
	cleared map[cell.ID][]Redo     // redo entries that are done and not taken out yet
	packs   map[string]*match.Pack // those that the rules have named, by their hashes
	known   bool                   // the rules were read, and nobody who has the lease can have changed them
	idle    time.Time              // when the last Apply ended
	slice   slice                  // how many entries are worked off at once

	token    int64          // of the lease when this process had it last
	reign    int            // counts how often another one had it before this one
	took     time.Time      // when the lease was taken
	pulse    chan struct{}  // closed to end the signs of life, nil if there are none
	telling  sync.WaitGroup // for who tells other processes what is done of what they asked for
	finished atomic.Int64   // how much of it that is
	shared   time.Time      // when other processes last asked for something
	usual    time.Duration  // how long another process took for what this one asked for
	seen     lease.Lease    // as it was when this process watched it last
	wait     time.Duration  // how long until it does so again
	born     time.Time
	moved    atomic.Int64 // how long after that the last statement under the lease ended

	dirty   bool                     // the redo set must be worked off before the next batch
	blocked map[entity.PUID]struct{} // records whose entries wait for a cell
	undone  map[entity.PUID]struct{} // records of the redo set, as far as known, of which postings may be written
	trouble error                    // why, if it is no cell that does not answer
	unread  bool                     // a cell did not say what its redo set is
	sweep   time.Time                // when the redo set is looked through again

	unsettled atomic.Bool // a cell came back from a copy of itself, see Settle

	asks   sync.Mutex        // guards what follows: cells are asked side by side
	down   map[cell.ID]bool  // the cells that did not answer
	fenced map[cell.ID]int64 // below which token the cells refuse, as far as known
	// undecided are cells in which nobody has decided anything, as far as is known.
	undecided map[cell.ID]bool
	marks     map[cell.ID]changelog.Seq // where this Apply has left their logs
	merges    int                       // since the last report
	splits    int
	compared  int // candidates of the Apply that runs
}

// mutex is a lock that is waited for as long as a context lasts.
type mutex chan struct{}

func (m mutex) Lock()   { m <- struct{}{} }
func (m mutex) Unlock() { <-m }

func (m mutex) lockIn(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the batch that is being written: %w", context.Cause(ctx))
	}
}

// New makes a resolver. What a crash left undone is done before its first batch.
func New(opts Options) (*Resolver, error) {
	if opts.Cache == 0 {
		opts.Cache = 50_000
	}
	r := &Resolver{
		opts: opts, mu: make(mutex, 1), dir: cell.NewDirectory[Tx](opts.Cells),
		cache: newCache(opts.Cache), cleared: map[cell.ID][]Redo{}, packs: map[string]*match.Pack{}, fenced: map[cell.ID]int64{},
		dirty: true, blocked: map[entity.PUID]struct{}{}, undone: map[entity.PUID]struct{}{}, down: map[cell.ID]bool{}, marks: map[cell.ID]changelog.Seq{},
		undecided: map[cell.ID]bool{}, slice: slice{size: sliceFirst}, born: opts.Now(),
	}
	r.rules.Store(opts.Rules)
	if opts.Owner != "" {
		r.lease = r.newLease(opts.Owner)
	}
	return r, nil
}

// Directory is the directory of keys that the resolver allocates puids by.
func (r *Resolver) Directory() *cell.Directory[Tx] { return r.dir }

// Apply writes a batch and resolves it. Results are in the order of ops; a key may stand in it more
// than once, and its writes happen in that order. When Apply returns, what it reports is durable in
// every cell, but for what follows from a record that is Pending. Putting the same again changes
// nothing.
func (r *Resolver) Apply(ctx context.Context, ops []Op) []Result {
	return r.apply(ctx, ops, func(int, Result) {})
}

// apply is Apply that tells what the first round has made of each op as soon as that is durable, or refused. tell is
// called by many goroutines.
func (r *Resolver) apply(ctx context.Context, ops []Op, tell func(i int, r Result)) []Result {
	r.mu.Lock()
	defer r.unlock()
	results := make([]Result, len(ops))
	report := Batched{Ops: len(ops)}
	for _, pass := range passes(ops) {
		b := newBatch(r, ops, pass, results)
		b.tell = tell
		b.run(ctx, &report)
	}
	marks := r.takeMarks()
	report.Merges, report.Splits = r.takeCounts()
	report.Compared, r.compared = r.compared, 0
	for i := range results {
		results[i].Marks = marks
		if results[i].Err != nil {
			report.Failed++
		}
		if results[i].Pending {
			report.Pending++
		}
	}
	r.yield(ctx, leaseTurn)
	r.idle = r.opts.Now()
	if r.opts.OnBatch != nil {
		r.opts.OnBatch(report)
	}
	return results
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

// Rules are those that the resolver works by now.
func (r *Resolver) Rules() *Rules { return r.rules.Load() }

// home is the cell that a puid names.
func (r *Resolver) home(p entity.PUID) (cell.ID, error) { return r.opts.Cells.Map().Puid(int64(p)) }

// featureCell is the cell that takes new postings of a feature.
func (r *Resolver) featureCell(feature uint64) cell.ID {
	return r.opts.Cells.Map().Home(cell.Position(feature))
}

// featureCells are the cells in which postings of a feature may lie: that of the current generation
// first, which takes new ones.
func (r *Resolver) featureCells(feature uint64) []cell.ID {
	m, at := r.opts.Cells.Map(), cell.Position(feature)
	ids := make([]cell.ID, 0, m.Current()-m.Floor()+1)
	for g := m.Current(); g >= m.Floor(); g-- {
		ids = append(ids, m.Key(g, at))
	}
	return ids
}

// asking is how a cell is asked: Resolver.read, or by who works beside it.
type asking func(ctx context.Context, id cell.ID, fn func(Tx) error) error

// fromHomes reads about records in their home cells, the cells side by side, and hands what each of
// them answered to take, one at a time.
func fromHomes[T any](ctx context.Context, r *Resolver, ask asking, puids []entity.PUID, read func(Tx, []entity.PUID) (T, error), take func([]entity.PUID, T)) error {
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
		if err := ask(ctx, id, func(tx Tx) (err error) {
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

// read reads a cell as it is now.
func (r *Resolver) read(ctx context.Context, id cell.ID, fn func(Tx) error) error {
	c, err := r.open(ctx, id)
	if err == nil {
		err = c.Read(ctx, fn)
	}
	r.moves()
	return r.asked(id, err)
}

// view reads a cell beside whatever the resolver does.
func (r *Resolver) view(ctx context.Context, id cell.ID, fn func(Tx) error) error {
	c, err := r.opts.Cells.Cell(id)
	if err != nil {
		return err
	}
	return c.View(ctx, fn)
}

// write writes in a cell what is only written under the lease, if there is one.
func (r *Resolver) write(ctx context.Context, id cell.ID, fn func(Tx) error) error {
	c, err := r.open(ctx, id)
	if err == nil {
		err = c.Update(ctx, func(tx Tx) error {
			if err := r.holds(ctx, tx); err != nil {
				return err
			}
			return fn(tx)
		})
	}
	r.moves()
	return r.asked(id, err)
}

// asked notes which cells do not answer.
func (r *Resolver) asked(id cell.ID, err error) error {
	if errors.Is(err, ErrUnavailable) {
		r.asks.Lock()
		defer r.asks.Unlock()
		r.down[id] = true
	}
	return err
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
