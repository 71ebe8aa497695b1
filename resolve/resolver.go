// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/storage"
)

// MaxBlockSize is H, the maximum block size: a blocking key carried by more records is a stop key and
// yields no candidates. Some blocking keys have a lower limit; see match.BlockLimit.
const MaxBlockSize = match.MaxBlockSize

// Options are the arguments of New. All but Owner, Peers, Cache, OnBatch and OnOthers are required.
type Options struct {
	// Cells are the databases of the installation; *cell.Cells[Tx] implements it.
	Cells cell.Source[storage.Tx]
	// Owner identifies this process among those that write to the same cells. Empty if it is the only one.
	Owner string
	// Peers, if set, forwards writes to the process that holds the lease.
	Peers Peers
	// Rules are written to an installation that has none yet. Otherwise the stored rules apply; see Reload.
	Rules *Rules
	// Mint returns a birth id for a record inside the segment. After an error that wraps cell.ErrStaleMap,
	// the cell map is refreshed and the call repeated.
	Mint func(entity.Ref, locality.Segment) (locality.ID, error)
	Now  func() time.Time
	// Hold makes the resolver only put records, which stay pending, until Load or Release. Work that a crash left
	// undone waits as well.
	Hold bool
	// Cache is the number of records cached in memory, decoded and normalised. Defaults to 50,000.
	Cache int
	// OnBatch, if set, is called after every Apply.
	OnBatch func(Batched)
	// OnOthers, if set, is called when records may have been resolved outside of Apply: by another process,
	// or by Rest and Resume.
	OnOthers func()
}

// Op is one write: put or delete a record.
type Op struct {
	entity.Ref
	// Kind of the thing; "" is the default kind of the rules.
	Kind   string
	Delete bool
	// IfVersion, if not 0, refuses a deletion with entity.ErrVersion unless the record has this version.
	IfVersion int64
	// Unless, if not nil, is called with the stored record; if it returns true, the write is refused with
	// entity.ErrRefused. It is called in the transaction of the write, possibly several times, but not for a missing or
	// deleted record.
	Unless func(stored *entity.Record) bool
	// Observed is when the source observed the content. Zero means now, unless the content is already
	// stored.
	Observed time.Time
	// Later means that the content replaces other content observed at the same time, because the source has marked it
	// as later. Otherwise the greater content wins, whatever the order of arrival.
	Later      bool
	Attributes entity.Attributes
	// Birth and Version are set for restored records to the values in the installation of the dump, and zero otherwise.
	// Birth must be an id of the record's cell.
	Birth   locality.ID
	Version int64
}

// refused returns why an op does not apply to the record that is stored, nil if it does.
func (o *Op) refused(rec *entity.Record) error {
	switch {
	case o.Delete && o.IfVersion != 0 && o.IfVersion != rec.Version:
		return fmt.Errorf("%w: %d, not %d", entity.ErrVersion, rec.Version, o.IfVersion)
	case o.Unless != nil && o.Unless(rec):
		return entity.ErrRefused
	}
	return nil
}

// Result is the result of an Op.
type Result struct {
	PUID    entity.PUID
	Version int64
	// Entity is the entity of the record after the write; for a deletion, before it. While that is not known
	// yet, it is the record's birth id, which redirects to the entity permanently.
	Entity  locality.ID
	Outcome Outcome
	// Pending marks a durable record whose resolution is not done yet: a cell that it needs does not answer,
	// or another process has the lease. It is resolved as soon as possible.
	Pending bool
	// Marks are log positions of the cells written by the Apply, at or after its writes. They are set only
	// while changes carry images, which means that a rollup reads the logs. All results of an Apply share
	// them.
	Marks map[cell.ID]changelog.Seq
	Err   error
}

// Batched reports one Apply.
type Batched struct {
	Ops, Failed, Pending int
	Put, Post, Resolve   time.Duration // durations of the three rounds
	// Compared is the number of candidates that written records were compared with.
	Compared int
	// Merges and Splits count merged and split entities, including those of earlier unfinished work.
	Merges, Splits int
	// Err is the error of the second or third round, nil if both succeeded.
	Err error
}

// Resolver resolves the records of one installation. Apply runs one batch at a time, with parallelism
// inside the batch. Many small callers share a batch through a Queue.
//
// The first round makes records durable. Several processes may run it concurrently, coordinated by the
// directory of keys. The other two rounds run in one process at a time, under a lease. Unfinished work
// stays in the redo sets of the cells and is done by the next lease holder.
type Resolver struct {
	opts  Options
	rules atomic.Pointer[Rules]
	dir   *cell.Directory[storage.Tx]
	lease *lease.Holder // nil if this process is the only one

	mu           mutex
	holding      bool // see Options.Hold
	loads        loadSizes
	cache        *cache
	decoded      decodedRules
	rulesCurrent bool      // the rules were read and no other lease holder can have changed them
	idle         time.Time // end of the last Apply
	latest       int64     // the latest birth of earlier batches; see awaitBirths
	slice        slice     // number of entries worked off at a time

	token      int64          // lease token when this process had it last
	reign      int            // counts takeovers of the lease from another process
	acquiredAt time.Time      // when the lease was acquired
	pulse      chan struct{}  // closed to stop lease renewal, nil if there is none
	telling    sync.WaitGroup // goroutines that report finished requests
	finished   atomic.Int64   // number of the last finished request
	shared     time.Time      // last request of another process
	usual      time.Duration  // usual time that another process takes for a request
	seen       lease.Lease    // the lease as last read by watch
	wait       time.Duration  // interval until the next look at the lease
	born       time.Time
	moved      atomic.Int64 // end of the last statement under the lease, as an offset from born

	redoLog   *redoLog
	notes     *cellNotes
	unsettled atomic.Bool // a cell was restored from a copy; see Settle

	asks     sync.Mutex                // guards the following fields: cells are queried concurrently
	marks    map[cell.ID]changelog.Seq // log positions after this Apply
	merges   int                       // since the last report
	splits   int
	compared int // candidates compared by the running Apply
}

// mutex is a lock with a context-aware Lock.
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

// New returns a Resolver. Its first batch also finishes the work that a crash left undone.
func New(opts Options) (*Resolver, error) {
	if opts.Cache == 0 {
		opts.Cache = 50_000
	}
	r := &Resolver{
		opts: opts, mu: make(mutex, 1), holding: opts.Hold, loads: usualLoad(), dir: cell.NewDirectory[storage.Tx](opts.Cells),
		cache: newCache(opts.Cache), decoded: newDecodedRules(),
		redoLog: newRedoLog(), notes: newCellNotes(), marks: map[cell.ID]changelog.Seq{}, slice: slice{size: sliceFirst}, born: opts.Now(),
	}
	r.rules.Store(opts.Rules)
	if opts.Owner != "" {
		r.lease = r.newLease(opts.Owner)
	}
	return r, nil
}

// Directory returns the directory of keys that the resolver allocates puids with.
func (r *Resolver) Directory() *cell.Directory[storage.Tx] { return r.dir }

// Apply writes a batch and resolves it. Results are in the order of ops. A key may occur more than once;
// its writes happen in that order. When Apply returns, everything reported is durable in every cell, except
// the consequences of Pending records. Putting the same content again changes nothing.
func (r *Resolver) Apply(ctx context.Context, ops []Op) []Result {
	return r.apply(ctx, ops, func(int, Result) {})
}

// apply is Apply with a callback: it calls tell, concurrently, with the first-round result of each op as soon as the op
// is durable or refused.
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
	r.releaseIfContended(ctx, leaseTurn)
	r.idle = r.opts.Now()
	if r.opts.OnBatch != nil {
		r.opts.OnBatch(report)
	}
	return results
}

// passes splits a batch into lists of positions with distinct keys.
func passes(ops []Op) [][]int {
	var lists [][]int
	turn := make(map[entity.Ref]int, len(ops))
	for i := range ops {
		n := turn[ops[i].Ref]
		turn[ops[i].Ref]++
		if n == len(lists) {
			lists = append(lists, nil)
			if n == 0 {
				lists[0] = make([]int, 0, len(ops)) // usually there is only one pass
			}
		}
		lists[n] = append(lists[n], i)
	}
	return lists
}

// Rules returns the current rules.
func (r *Resolver) Rules() *Rules { return r.rules.Load() }
