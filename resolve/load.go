// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// A load resolves many records at once. While it is held (Options.Hold), the resolver only puts: each record is durable
// with its redo entry. Load then computes the entities of all records, or of the new ones and those that share keys
// with them (see partial), and writes each table in the order of its keys, several cells at a time:
//
//	redo sets, records ─► postings, sorted in files ─► leaders, stop keys, names
//	          │             │ written in order            │
//	          ▼             ▼                             ▼
//	        spill        cells of the keys     pairs, each once ─► edges ─► components
//	                                                                 │          │
//	              redo sets are cleared ◄── anchors ◄── entities, changes ◄── edges are written
//
// The redo entries go last, so the work of a killed load is finished by loading again, or by the ordinary repair.

// ErrLoad means that the records cannot be resolved at once: a decision about some is not processed yet, or the cells
// or kinds are being changed.
var ErrLoad = problem.Class(problem.ErrConflict, "resolve: the records cannot be resolved at once")

// loadSizes limits how much a load processes at a time.
type loadSizes struct {
	page  int // records that are read, or whose entities are written in a transaction
	rows  int // other rows that are written in a transaction
	nodes int // decoded records in memory while pairs are compared
	pairs int // pairs in memory
	part  int // records whose edges are in memory
	chunk int // bytes of each bucket in memory
	// if this percentage of the records is unresolved, a load processes all records, and not only those that the
	// unresolved ones share keys with
	whole int
}

func usualLoad() loadSizes {
	return loadSizes{page: 10_000, rows: 20_000, nodes: 50_000, pairs: 1 << 20, part: 128 << 10, chunk: 32 << 10, whole: 50}
}

// LoadStep is a step of a load. The constants are in the order of execution.
type LoadStep string

// The steps of a load.
const (
	LoadRead    LoadStep = "read"    // records are read and normalised
	LoadPost    LoadStep = "post"    // postings are written
	LoadCompare LoadStep = "compare" // compares records that share a key
	LoadLink    LoadStep = "link"    // edges are written
	LoadWrite   LoadStep = "write"   // entities are written
	LoadAssign  LoadStep = "assign"  // records are assigned to entities
	LoadClear   LoadStep = "clear"   // redo entries are removed
)

// LoadProgress reports how far a step of a load is, in the units that the step reads or writes; LoadWrite counts
// records.
type LoadProgress struct {
	Step     LoadStep
	Done, Of int
}

// loader is a load. Records have numbers in the order of their puids. It uses about 60 bytes of memory per record, plus
// what loadSizes allows; records, postings, pairs and edges are in temporary files.
type loader struct {
	*Resolver
	spill *spill // records
	forms *spill // the fields of each record that comparisons need
	// memory that emit and compared reuse
	pieces []loadPiece
	norms  []*match.Record

	mu    sync.Mutex // guards calls of tell, and steps
	tell  func(LoadProgress)
	steps map[LoadStep]int // units done, by step

	puids   []entity.PUID
	births  []locality.ID
	ranges  []loadRange              // ordered by puid
	parts   []loadRange              // the same, divided
	records int                      // live records
	redo    []uint32                 // the version of each record in the redo set; 0 if it is not there
	lostBy  map[entity.PUID][]uint64 // keys that former versions of records in the redo sets carried
	gone    []loadEntry              // deleted records in the redo sets
	// stale reports that postings, edges and entities are stored already, by resolved records or by an attempt that was
	// killed. They may be outdated.
	stale bool
	lost  []derived.Posting // postings that the records no longer have
	part  *partial          // nil if all records are loaded

	decided map[entity.PUID][]entity.Decision // without withdrawn decisions

	shards   *buckets[loadPosting] // by the first byte of the key, each ordered by key and record
	postings int
	pairs    int // in all shards; a pair in several shards counts several times
	names    match.Names
	// the position, plus one, of each record among those that are compared next; 0 if it is not among them
	at     []uint32
	order  []uint32 // the records as they are compared
	places []uint32 // their places in order

	edges  *buckets[loadEdge] // both sides of each, by the part of its first record
	linked int                // edges
	within *buckets[loadEdge] // edges inside a component, by the part of its earliest record
	// the components; once all edges are known, maps each record to the earliest one of its component
	groups loadForest
	// lists of the components, from their earliest record: the number of the next one plus one, 0 ends a list
	next     []uint32
	leads    []uint32 // the earliest record of each component
	assigned map[cell.ID][]entity.Assignment
}

// loadEntry is a redo entry.
type loadEntry struct {
	puid    entity.PUID
	version int64
}

// First reports whether Load processes all records because at least half of them are unresolved, as in an empty
// installation.
func (r *Resolver) First(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.unlock()
	var records, entries int64
	for _, id := range r.opts.Cells.Map().Cells() {
		if err := r.view(ctx, id, func(tx storage.Tx) error {
			counts, err := tx.Counts(ctx)
			if err != nil {
				return err
			}
			depth, err := tx.RedoDepth(ctx)
			records, entries = records+counts.Records, entries+int64(depth)
			return err
		}); err != nil {
			return false, fmt.Errorf("cell %v: %w", id, err)
		}
	}
	return 100*entries >= int64(r.loads.whole)*records, nil
}

// keepLease acquires or renews the lease of a resolver that only puts, so that no other process works off its records
// one by one. It returns the interval until the next call; 0 means none.
func (r *Resolver) keepLease(ctx context.Context) time.Duration {
	if r.lease == nil {
		return 0
	}
	_, _ = r.lease.Try(ctx, r.opts.Cells.Map().Epoch()) // if another process has it, that one resolves the records
	return leaseTTL / 6
}

// Release ends Options.Hold without a load: the next batch resolves what was put.
func (r *Resolver) Release() {
	r.mu.Lock()
	defer r.unlock()
	r.holding = false
	r.redoLog.markDirty()
}

// Load resolves all unresolved records in one go, and ends Options.Hold. If they are at least
// half of all records, all entities are computed again, otherwise only those that may change. After an error the
// records are still in the redo sets, for another Load or for the next batch. The error is ErrLoad if the records
// cannot be resolved at once. tell is called after every part.
func (r *Resolver) Load(ctx context.Context, tell func(LoadProgress)) error {
	r.mu.Lock()
	defer r.unlock()
	defer r.others()
	r.holding = false
	if err := r.acquireLease(ctx, leasePatience); err != nil {
		return err
	}
	defer r.releaseIfContended(ctx, 0)
	if err := r.loadAll(ctx, tell); err != nil {
		return errors.Join(err, r.recover(ctx, err))
	}
	r.invalidateCaches()
	return r.drain(ctx) // records that other processes have put
}

func (r *Resolver) loadAll(ctx context.Context, tell func(LoadProgress)) error {
	if err := r.clear(ctx); err != nil {
		return err
	}
	if m := r.opts.Cells.Map(); m.Current() != m.Floor() || r.Rules().change != nil {
		return fmt.Errorf("%w: cells are being added, or a kind is being migrated", ErrLoad)
	}
	l := &loader{
		Resolver: r, tell: tell, steps: map[LoadStep]int{}, lostBy: map[entity.PUID][]uint64{}, names: match.Names{},
		assigned: map[cell.ID][]entity.Assignment{}, decided: map[entity.PUID][]entity.Decision{},
	}
	var err error
	if l.spill, err = newSpill(); err != nil {
		return err
	}
	defer l.spill.close()
	if l.forms, err = newSpill(); err != nil {
		return err
	}
	defer l.forms.close()
	if l.shards, err = newBuckets[loadPosting](256, r.loads.chunk); err != nil {
		return err
	}
	defer l.shards.close()
	defer func() { l.edges.close(); l.within.close(); l.part.close() }()
	for _, step := range []func(context.Context) error{l.read, l.lead, l.post, l.compare, l.affect, l.writeEdges, l.write, l.assign, l.clear} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := r.renew(ctx); err != nil {
			return err
		}
	}
	return nil
}

// abreast calls fn for the numbers from 0 to n, several at a time: while one waits for its disk, another one computes.
func (l *loader) abreast(n int, fn func(i int) error) error {
	var failed atomic.Pointer[error]
	divide(n, 2*runtime.GOMAXPROCS(0), func(i int) {
		if failed.Load() != nil {
			return
		}
		if err := fn(i); err != nil {
			failed.CompareAndSwap(nil, &err)
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// done adds to what a step has done, and reports the progress.
func (l *loader) done(ctx context.Context, step LoadStep, n, of int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps[step] += n
	l.tell(LoadProgress{step, l.steps[step], of})
	return l.renew(ctx)
}
