// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/protocol"
)

// Source is the part of an installation that a Directory uses. Cells implements it.
type Source[T Store] interface {
	// Map returns the newest map that this process has read.
	Map() *Map
	// Refresh reads the newest map. It never goes back to an older one.
	Refresh(ctx context.Context) error
	// Cell returns the database of a cell; ErrNoCell if the map does not list it.
	Cell(c ID) (Database[T], error)
	// Lacks reports whether a loaded filter of the cell proves that it has no row of k. Such a filter covers all rows
	// of the sealed cell.
	DefinitelyAbsent(c ID, k Key) bool
	// Learn is called with the heads of cells as they are read.
	Observe(c ID, h Head)
}

// Directory finds and allocates the puids of keys, whatever maps other processes use: it drives batches of Walks over
// the cells, with one transaction per cell and step, several cells at a time. It is safe for concurrent use.
//
// A cell that cannot be reached is an error and never means that a key is absent. Errors name the cell and wrap
// ErrUnavailable if it cannot be reached, or ErrStaleMap if the cells refuse the newest available map. Every call can
// be retried.
type Directory[T Store] struct {
	src   Source[T]
	facts hintCache
	// abreast is how many cells are asked concurrently; 1 means sequentially, by the caller's goroutine.
	abreast int
	// wait delays the n-th retry with a newer map.
	wait func(ctx context.Context, n int) error
}

// NewDirectory returns the directory of an installation. A key keeps its puid for ever, so puids are cached without
// expiry.
func NewDirectory[T Store](src Source[T]) *Directory[T] {
	return &Directory[T]{src: src, abreast: abreast, wait: wait}
}

// Lookup returns the puid of each key, Nothing for keys without one. After an error there are no results.
func (d *Directory[T]) Lookup(ctx context.Context, keys []Key) ([]int64, error) {
	b := d.batch(protocol.WalkLookup, keys)
	b.drive(ctx, protocol.ActionDone)
	puids := make([]int64, len(keys))
	for i := range b.trips {
		puids[i] = b.trips[i].puid
	}
	if err := b.err("look keys up"); err != nil {
		return nil, err
	}
	return puids, nil
}

// Found is the result for one key.
type Found struct {
	// PUID of the key, Nothing if it has none.
	PUID int64
	// Cell is where the puid lives. If there is no puid, all older cells are sealed and lack the key, and Cell is the
	// only one that can allocate its puid or may have done so: call Allocate in it, if Gate admits the writer.
	Cell ID
	// Err is set if it is not known whether the key has a puid.
	Err error
}

// Find is Put without its last step, for callers that allocate in the transaction that writes the record. It returns
// which keys have puids and where the others can get theirs. It reads no cell if no older cell has to be read, for
// instance with one generation. The error is that of ctx; errors of single keys are in Found.Err.
func (d *Directory[T]) Find(ctx context.Context, keys []Key) ([]Found, error) {
	b := d.batch(protocol.WalkPut, keys)
	b.drive(ctx, protocol.ActionPut)
	found := make([]Found, len(keys))
	m := d.src.Map()
	for i := range b.trips {
		t := &b.trips[i]
		f := Found{PUID: t.puid, Err: t.err}
		switch {
		case t.err != nil:
		case t.puid == Nothing:
			f.Cell = m.Key(int(t.walk.Next().Gen), t.key.Position())
		default:
			f.Cell, f.Err = m.Puid(t.puid)
		}
		found[i] = f
	}
	return found, ctx.Err()
}

// Know caches the puid that a cell returned for a key.
func (d *Directory[T]) Know(k Key, puid int64) { d.facts.found(k, puid) }

// Forget removes a key from the cache, for when its puid leads to no record. A puid is permanent, but a cell restored
// from a backup may not know that it was allocated.
func (d *Directory[T]) Forget(k Key) { d.facts.forget(k) }

// Put allocates a puid for every key that has none, and returns the puid of each key and whether this call allocated
// it. After an error some keys may already have puids; a retry returns the same ones.
func (d *Directory[T]) Put(ctx context.Context, keys []Key) ([]Allocation, error) {
	b := d.batch(protocol.WalkPut, keys)
	b.drive(ctx, protocol.ActionDone)
	rows := make([]Allocation, len(keys))
	for i := range b.trips {
		rows[i] = Allocation{PUID: b.trips[i].puid, Fresh: b.trips[i].fresh}
	}
	if err := b.err("put keys"); err != nil {
		return nil, err
	}
	return rows, nil
}

// SealOlder seals the cells of these positions in all generations before the current one of the map. After that,
// postings may be put in the cells that Map.Home named before the call, if Gate admits the writer, and a later reader
// of the older cells sees all postings that they will ever have. If two writers put postings of one blocking key and
// then look for each other's, at least one of them finds the other.
func (d *Directory[T]) SealOlder(ctx context.Context, positions []uint32) error {
	m := d.src.Map()
	if m.Current() == m.Floor() {
		return nil
	}
	seen := map[ID]bool{}
	var keys []Key
	for _, p := range positions {
		// Segments nest: positions of one current cell share all older ones.
		if c := m.Home(p); !seen[c] {
			seen[c] = true
			keys = append(keys, Key{Ring: int64(uint64(p)<<32 ^ 1<<63)})
		}
	}
	b := d.batch(protocol.WalkPost, keys)
	b.drive(ctx, protocol.ActionPut)
	return b.err("seal older cells")
}

// Gate checks in an Update of a cell whether it takes keys and postings from a writer that routes with m. nil is valid
// until the transaction ends. On ErrFenced or ErrMoved: roll back, Refresh, and start again with Find or SealOlder.
func (d *Directory[T]) Gate(ctx context.Context, tx T, m *Map, c ID) error {
	if err := tx.Require(ctx, func(head Head) error {
		d.learn(c, head)
		switch {
		case head.admits(m.Epoch()):
			return nil
		case head.Home != Serving:
			return fmt.Errorf("it is %v: %w", head.Home, ErrMoved)
		}
		return fmt.Errorf("it is %v and wants epoch %d, the map has %d: %w", head.Keys, head.Epoch, m.Epoch(), ErrFenced)
	}); err != nil {
		return fmt.Errorf("cell %v: %w", c, err)
	}
	return nil
}

// learn caches the permanent facts of a head.
func (d *Directory[T]) learn(c ID, head Head) {
	if head.Keys != Open {
		d.facts.sealed(c)
	}
	d.src.Observe(c, head)
}

// view returns the part of the newest map that a walk for the key uses.
func (d *Directory[T]) view(op protocol.Op, k Key) protocol.View {
	m := d.src.Map()
	v := m.view()
	for gen := v.Floor; gen < v.Current; gen++ {
		c := m.Key(int(gen), k.Position())
		if op == protocol.WalkPost && d.facts.isSealed(c) || op != protocol.WalkPost && d.src.DefinitelyAbsent(c, k) {
			v.MarkSkipped(gen)
		}
	}
	return v
}
