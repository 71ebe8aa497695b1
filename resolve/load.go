// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// A load resolves all records of an installation at once. While it is held (Options.Hold), the resolver only puts: each
// record is durable with its redo entry. Load then computes the entities of all records and writes each table in the order
// of its keys:
//
//	redo sets, records ─► postings in memory, sorted ─► leaders, stop keys, names
//	                        │ written in order            │
//	                        ▼                             ▼
//	                     cells of the keys     pairs, each under its smallest shared key ─► edges ─► components
//	                                                                                                    │
//	                                redo sets are cleared ◄── edges, anchors, entities, changes ◄───────┘
//
// The redo entries go last, so a load that is killed is finished by loading again, or by the ordinary repair.

// ErrLoad means that the records cannot be resolved at once: people have decided about some, or the cells or kinds are
// being changed.
var ErrLoad = errors.New("resolve: the records cannot be resolved at once")

// errLoadMoved means that another process has written records that are being loaded.
var errLoadMoved = fmt.Errorf("%w: another process has written records during the load", ErrLoad)

// loadSizes bound what a load does at a time.
type loadSizes struct {
	page  int // redo entries and records that are read
	rows  int // rows, or records, that are written in a transaction of each cell
	nodes int // decoded records in memory while pairs are compared
}

func usualLoad() loadSizes { return loadSizes{page: 5000, rows: 20_000, nodes: 100_000} }

// LoadStep is a step of a load, in the order in which they are done.
type LoadStep string

// The steps of a load.
const (
	LoadRead    LoadStep = "read"    // records are read and normalised
	LoadPost    LoadStep = "post"    // postings are written
	LoadCompare LoadStep = "compare" // postings are looked through for pairs, which are compared
	LoadWrite   LoadStep = "write"   // edges and entities of records are written
	LoadClear   LoadStep = "clear"   // redo entries are removed
)

// LoadProgress is how far a step of a load is, in records; in postings for LoadPost and LoadCompare.
type LoadProgress struct {
	Step     LoadStep
	Done, Of int
}

// loader is a load. Records have numbers in the order of their puids. It takes about 200 bytes a record, and loadSizes.nodes
// decoded records.
type loader struct {
	*Resolver
	tell func(LoadProgress)

	puids    []entity.PUID
	versions []int64
	records  int                      // live records
	entries  []loadEntry              // the redo sets, by cell, ordered
	lostBy   map[entity.PUID][]uint64 // keys that former versions of records in the redo sets carried
	gone     []entity.PUID            // deleted records in the redo sets
	// stale reports that postings, edges and entities are stored already, maybe of other content: those of resolved records,
	// or of an attempt that was killed.
	stale bool
	lost  []derived.Posting // postings that the records no longer have

	shards   [256][]loadPosting // by the first byte of the key, each ordered by key and record
	postings int
	follows  []uint32 // for each record that follows a leader, the leader's number plus one
	stops    map[uint64]struct{}
	names    match.Names

	edges []loadEdge // both sides of each, ordered
	next  []uint32   // lists of the components, from their first record; 0 ends a list
	heads []uint32   // the first record of each component
}

// loadEntry is a redo entry.
type loadEntry struct {
	puid    entity.PUID
	version int64
}

// First reports whether Load is the shorter way to resolve what is not resolved: at least half of the records, and there
// are no decisions. It is so in an empty installation.
func (r *Resolver) First(ctx context.Context) (bool, error) {
	r.mu.Lock()
	defer r.unlock()
	var records, entries int64
	decided := false
	for _, id := range r.opts.Cells.Map().Cells() {
		if err := r.view(ctx, id, func(tx storage.Tx) error {
			counts, err := tx.Counts(ctx)
			if err != nil {
				return err
			}
			depth, err := tx.RedoDepth(ctx)
			records, entries = records+counts.Records, entries+int64(depth)
			if err == nil {
				some, e := tx.ListDecisions(ctx, entity.DecisionKey{A: math.MinInt64}, 1)
				decided, err = decided || len(some) > 0, e
			}
			return err
		}); err != nil {
			return false, fmt.Errorf("cell %v: %w", id, err)
		}
	}
	return records <= 2*entries && !decided, nil
}

// keepLease acquires or renews the lease of a resolver that only puts, so that no other process works off its records one
// by one. It returns the interval until the next call; 0 means none.
func (r *Resolver) keepLease(ctx context.Context) time.Duration {
	if r.lease == nil {
		return 0
	}
	_, _ = r.lease.Try(ctx, r.opts.Cells.Map().Epoch()) // if another process has it, that one resolves the records
	return leaseTTL / 6
}

// Release ends the holding of Options.Hold without a load: the next batch works off what was put.
func (r *Resolver) Release() {
	r.mu.Lock()
	defer r.unlock()
	r.holding = false
	r.redoLog.markDirty()
}

// Load computes the entities of all records at once, and ends the holding of Options.Hold. What is resolved already is read
// and computed again, so it pays while that is the smaller part. After an error, which is ErrLoad if the records cannot
// be resolved at once, they are in the redo sets for another Load or for the next batch. tell is called after every part.
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
	return r.drain(ctx) // what other processes have put
}

func (r *Resolver) loadAll(ctx context.Context, tell func(LoadProgress)) error {
	if err := r.clear(ctx); err != nil {
		return err
	}
	if m := r.opts.Cells.Map(); m.Current() != m.Floor() || r.Rules().change != nil {
		return fmt.Errorf("%w: cells are being added, or a kind is being migrated", ErrLoad)
	}
	l := &loader{Resolver: r, tell: tell, lostBy: map[entity.PUID][]uint64{}, stops: map[uint64]struct{}{}, names: match.Names{}}
	for _, step := range []func(context.Context) error{l.read, l.lead, l.post, l.count, l.compare, l.write, l.clear} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := r.renew(ctx); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the redo entries of what was loaded. Those of records that were written since stay.
func (l *loader) clear(ctx context.Context) error {
	done := 0
	for part := range slices.Chunk(l.entries, l.loads.rows) {
		groups := map[cell.ID][]derived.Redo{}
		for _, e := range part {
			id, err := l.home(e.puid)
			if err != nil {
				return err
			}
			groups[id] = append(groups[id], derived.Redo{PUID: e.puid, Version: e.version})
		}
		if err := l.takeOut(ctx, groups); err != nil {
			return err
		}
		done += len(part)
		l.tell(LoadProgress{LoadClear, done, len(l.entries)})
	}
	return nil
}
