// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"
)

// Source is what a Directory needs of an installation. Cells is one.
type Source[T Store] interface {
	// Map returns the newest map that this process knows.
	Map() *Map
	// Refresh reads the newest map there is. It never goes back to an older one.
	Refresh(ctx context.Context) error
	// Cell returns the database of a cell; ErrNoCell if the map does not list it.
	Cell(c ID) (Database[T], error)
	// Lacks reports whether a filter of the cell is at hand, which was made of all its rows
	// when it was sealed already, and proves that k is none of them.
	Lacks(c ID, k Key) bool
	// Learn is told the heads of cells as they are met.
	Learn(c ID, h Head)
}

// Directory finds and gives out the puids of keys, wherever and however old the maps of
// those who do: it drives batches of Walks over the cells, one transaction a cell and
// step, several cells at a time. It is safe for many goroutines.
//
// A cell that cannot be asked makes an error, which says that nothing was found out,
// never an absent key. Errors name the cell and wrap ErrUnavailable if it cannot be
// asked, ErrStaleMap if the newest map to be had is too old for the cells. Everything
// may be tried again.
type Directory[T Store] struct {
	src   Source[T]
	facts facts
	// abreast is how many cells are asked at a time: in turn, by the caller itself, if 1.
	abreast int
	// wait lets time pass before the n-th try with a newer map.
	wait func(ctx context.Context, n int) error
}

// NewDirectory returns the directory of an installation. Keys keep their puids for ever: a
// puid that was found once need not be looked up again.
func NewDirectory[T Store](src Source[T]) *Directory[T] {
	return &Directory[T]{src: src, abreast: abreast, wait: wait}
}

// Lookup answers with the puid of each key, Nothing for keys that have none. After an
// error there is no answer.
func (d *Directory[T]) Lookup(ctx context.Context, keys []Key) ([]int64, error) {
	b := d.batch(WalkLookup, keys)
	b.drive(ctx, DoDone)
	puids := make([]int64, len(keys))
	for i := range b.trips {
		puids[i] = b.trips[i].puid
	}
	if err := b.err("look keys up"); err != nil {
		return nil, err
	}
	return puids, nil
}

// Found is what came of a key.
type Found struct {
	// PUID of the key, Nothing if it has none.
	PUID int64
	// Cell is where the puid lives. Without puid, all older cells are sealed and lack the
	// key, and Cell is the one that gives it a puid, or did: Allocate tells, if Gate lets
	// the writer in.
	Cell ID
	// Err says why it is not known whether the key has a puid.
	Err error
}

// Find is Put but for its last step, for who takes that in a transaction of its own, with
// the record: which keys have puids, and where the others may get theirs. If no older
// cell has to be asked, as with one generation, none is. The error is that of ctx; those
// of keys stand with them.
func (d *Directory[T]) Find(ctx context.Context, keys []Key) ([]Found, error) {
	b := d.batch(WalkPut, keys)
	b.drive(ctx, DoPut)
	found := make([]Found, len(keys))
	m := d.src.Map()
	for i := range b.trips {
		t := &b.trips[i]
		f := Found{PUID: t.puid, Err: t.err}
		switch {
		case t.err != nil:
		case t.puid == Nothing:
			f.Cell = m.Key(int(t.walk.Want().Gen), t.key.Position())
		default:
			f.Cell, f.Err = m.Puid(t.puid)
		}
		found[i] = f
	}
	return found, ctx.Err()
}

// Know takes note of the puid that a cell has told of a key, which is not looked for again then.
func (d *Directory[T]) Know(k Key, puid int64) { d.facts.found(k, puid) }

// Forget lets go of what is remembered of a key: where it leads to, nothing is. A puid is for ever, but a
// cell that came back from a backup may not know that it was given away.
func (d *Directory[T]) Forget(k Key) { d.facts.forget(k) }

// Put gives every key that has none a puid, and answers with the puid of each key and
// whether this call gave it. After an error some keys may have got theirs; trying again
// gives them no other.
func (d *Directory[T]) Put(ctx context.Context, keys []Key) ([]Allocation, error) {
	b := d.batch(WalkPut, keys)
	b.drive(ctx, DoDone)
	rows := make([]Allocation, len(keys))
	for i := range b.trips {
		rows[i] = Allocation{PUID: b.trips[i].puid, Fresh: b.trips[i].fresh}
	}
	if err := b.err("put keys"); err != nil {
		return nil, err
	}
	return rows, nil
}

// SealOlder makes sure that the cells of these positions are sealed in all generations
// before the current one of the map: postings may then be put in the cells that Map.Home
// named before the call, if Gate lets the writer in, and whoever reads the older cells
// afterwards sees all postings that they will ever hold. Of two who put postings of one
// feature, and then look for each other's, one at least finds the other.
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
	b := d.batch(WalkPost, keys)
	b.drive(ctx, DoPut)
	return b.err("seal older cells")
}

// Gate says in an Update of a cell whether it takes keys and postings from who routes
// with m: nil until the transaction ends, or ErrFenced or ErrMoved: roll back, Refresh,
// and begin again with Find or SealOlder.
func (d *Directory[T]) Gate(ctx context.Context, tx T, m *Map, c ID) error {
	head, err := tx.Head(ctx)
	if err != nil {
		return fmt.Errorf("cell %v: %w", c, err)
	}
	d.learn(c, head)
	switch {
	case head.Admits(m.Epoch()):
		return nil
	case head.Home != Serving:
		return fmt.Errorf("cell %v is %v: %w", c, head.Home, ErrMoved)
	}
	return fmt.Errorf("cell %v is %v and wants epoch %d, the map has %d: %w", c, head.Keys, head.Epoch, m.Epoch(), ErrFenced)
}

// learn keeps what a head says that stays true.
func (d *Directory[T]) learn(c ID, head Head) {
	if head.Keys != Open {
		d.facts.sealed(c)
	}
	d.src.Learn(c, head)
}

// view returns what a walk for the key sees of the newest map.
func (d *Directory[T]) view(op Op, k Key) View {
	m := d.src.Map()
	v := m.View()
	for gen := v.Floor; gen < v.Current; gen++ {
		c := m.Key(int(gen), k.Position())
		if op == WalkPost && d.facts.isSealed(c) || op != WalkPost && d.src.Lacks(c, k) {
			v.skip(gen)
		}
	}
	return v
}
