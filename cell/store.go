// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
)

// ErrNoRoom says that a cell has given away all puids of its range. Existing
// records are not affected; new ones need a new generation of cells.
var ErrNoRoom = errors.New("cell: the cell's range of puids is used up: add a generation of cells")

// Nothing stands where a key has no puid. It is never one: a range begins after its base.
const Nothing = 0

// Store is the key directory of one cell, and what the cell knows about itself,
// inside one transaction. What a transaction writes is there for it to read at
// once, for others when it commits, and for nobody if it does not. Methods take
// batches, answer in their order, and cost a fixed number of statements where the
// database can. Package celltest has the suite that every implementation passes.
type Store interface {
	// Head answers with the head of the cell. In an Update what it says holds until
	// the transaction ends: nothing seals, retires or moves the cell in between.
	Head(ctx context.Context) (Head, error)
	// SetHead writes the head. It may be called in an Exclusive only. The error is ErrIdentity if the database has
	// become another cell (Identity.Takes) since it was identified by the caller's handle.
	SetHead(ctx context.Context, head Head) error

	// Lookup answers with the row of each key: its puid, or Nothing.
	Lookup(ctx context.Context, keys []Key) ([]int64, error)
	// Allocate gives every key that has no puid the cell's next one and answers with
	// the puid of each key, and whether it was allocated by this call. A key named
	// twice in one call is allocated once, and fresh both times. The error is
	// ErrNoRoom when the range of puids is used up; the transaction must then be rolled
	// back. puids rise in the order of allocation; gaps are normal. Whether the cell
	// may take keys at all is for the caller to ask: Head.
	Allocate(ctx context.Context, keys []Key) ([]Allocation, error)
	// Copy writes rows of older cells; a key that has a row here keeps it.
	Copy(ctx context.Context, rows []Row) error
	// Scan answers with rows in the order of the ring and then of the digests, those after
	// the key only, at most limit. nil begins at the beginning.
	Scan(ctx context.Context, after *Key, limit int) ([]Row, error)
	// Drop deletes at most limit rows of keys and answers how many it deleted.
	Drop(ctx context.Context, limit int) (int, error)
	// Skip makes the cell pass over its next n puids, and over as many numbers of its log of
	// changes: for a cell that came back from a copy of itself, and cannot know which ones
	// the other has given away.
	Skip(ctx context.Context, n uint64) error

	// CellMap answers with the newest version of the cell map that this cell has: its
	// epoch and its text. Epoch 0 is none.
	CellMap(ctx context.Context) (epoch uint64, text []byte, err error)
	// CellMaps answers with all versions that the cell has kept, the oldest first.
	CellMaps(ctx context.Context) ([][]byte, error)
	// PutCellMap adds a version, which must be newer than the newest one; ErrConflict
	// if it is not. It takes the place of the newest one if it Supersedes that: there
	// would be no end of them. Two transactions that add the same version never both
	// commit.
	PutCellMap(ctx context.Context, epoch uint64, text []byte) error

	// Witnesses returns the pulses of other cells that this one was told, the highest of each.
	Witnesses(ctx context.Context) (map[ID]Pulse, error)
	// Attest keeps pulses of other cells, except where a higher one is known.
	Attest(ctx context.Context, pulses map[ID]Pulse) error
	// Mark writes a text that Driver.Marked reads: a URL leads to this database if what was just
	// marked here is read there.
	Mark(ctx context.Context, text string) error
	// Rename makes the cell one of the map with this id. It may be called in an Exclusive only.
	Rename(ctx context.Context, mapID string) error

	// Filter answers with the filter of the cell's keys, nil if it has none.
	Filter(ctx context.Context) ([]byte, error)
	// SetFilter keeps a filter; nil removes it.
	SetFilter(ctx context.Context, filter []byte) error
}

// ErrConflict says that somebody else wrote a newer version of the cell map first:
// read it and begin again.
var ErrConflict = errors.New("cell: a newer cell map was written meanwhile: read it and begin again")

// Allocation is the puid of a key, and whether this call allocated it.
type Allocation struct {
	PUID  int64
	Fresh bool
}

// Row is a row of a key directory.
type Row struct {
	Key  Key
	PUID int64
}
