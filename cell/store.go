// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/protocol"
)

// ErrNoRoom means that a cell has allocated all puids of its range. Existing records are not affected; new ones need a
// new generation of cells.
var ErrNoRoom = problem.Class(problem.ErrUnavailable,
	"cell: the cell's range of puids is used up: add a generation of cells")

// ErrDiskFull is the ErrNoRoom of a disk: adding cells elsewhere does not free it.
var ErrDiskFull = problem.Class(ErrNoRoom, "the disk is full")

// Nothing is returned for a key without a puid. It is never a puid: a range begins after its base.
const Nothing = protocol.Nothing

// Store is the key directory of one cell, and the cell's metadata, inside one transaction. A transaction reads its own
// writes; others see them when it commits. Methods take batches, return results in their order, and cost a fixed number
// of statements where the database allows it. Package celltest has the conformance suite.
type Store interface {
	// Head returns the head of the cell. In an Update it stays valid until the transaction ends: the cell is not
	// sealed, retired or moved in between.
	Head(ctx context.Context) (Head, error)
	// Require has check examine the head before anything that the transaction reads is returned and before it commits.
	// A store that reads the head together with the next rows calls check then, so the method that reads the rows, or
	// the commit, returns the error. After an error of check the transaction must be rolled back.
	Require(ctx context.Context, check func(Head) error) error
	// SetHead writes the head. It may be called in an Exclusive only. The error is ErrIdentity if the database has
	// become another cell (Identity.Takes) since it was identified by the caller's handle.
	SetHead(ctx context.Context, head Head) error

	// Lookup returns the puid of each key, or Nothing.
	Lookup(ctx context.Context, keys []Key) ([]int64, error)
	// Allocate gives every key without a puid the cell's next one. It returns the puid of each key, and whether this
	// call allocated it. A key given twice in one call is allocated once, and fresh both times. The error is ErrNoRoom
	// when the range of puids is used up; the transaction must then be rolled back. Puids rise in the order of
	// allocation; gaps are normal. Whether the cell may take keys at all is for the caller to check: Head.
	Allocate(ctx context.Context, keys []Key) ([]Allocation, error)
	// Copy inserts rows of older cells; a key that already has a row keeps it.
	Copy(ctx context.Context, rows []Row) error
	// Scan returns up to limit rows ordered by ring position, then by digest, those after the given key only; nil
	// starts at the first row.
	Scan(ctx context.Context, after *Key, limit int) ([]Row, error)
	// Drop deletes up to limit rows of keys and returns how many it deleted.
	Drop(ctx context.Context, limit int) (int, error)
	// Skip makes the cell skip its next n puids, and as many sequence numbers of its changelog: for a cell that was
	// restored from a copy and cannot know which ones the original has allocated since.
	Skip(ctx context.Context, n uint64) error

	// CellMap returns the newest version of the cell map that this cell has: its epoch and its text. Epoch 0 means that
	// it has none.
	CellMap(ctx context.Context) (epoch uint64, text []byte, err error)
	// CellMaps returns all versions that the cell has kept, the oldest first.
	CellMaps(ctx context.Context) ([][]byte, error)
	// PutCellMap adds a version, which must be newer than the newest one, otherwise ErrConflict. It replaces the newest
	// one if it Supersedes that, so that the number of versions stays bounded. Of two transactions that add the same
	// version, at most one commits.
	PutCellMap(ctx context.Context, epoch uint64, text []byte) error

	// Witnesses returns the pulses of other cells that this one has stored, the highest of each.
	Witnesses(ctx context.Context) (map[ID]Pulse, error)
	// Attest stores pulses of other cells, except where a higher one is known.
	Attest(ctx context.Context, pulses map[ID]Pulse) error
	// Mark writes a text that Driver.Marked reads. If that returns the text for a URL, the URL leads to this database.
	Mark(ctx context.Context, text string) error
	// Rename makes the cell part of the map with this ID. It may be called in an Exclusive only.
	Rename(ctx context.Context, mapID string) error

	// Filter returns the stored filter of the cell's keys, nil if it has none.
	Filter(ctx context.Context) ([]byte, error)
	// SetFilter stores a filter; nil removes it.
	SetFilter(ctx context.Context, filter []byte) error
}

// ErrConflict means that another process wrote a newer version of the cell map first: read it and begin again.
var ErrConflict = problem.Class(problem.ErrConflict, "cell: concurrent change of the cell map: read it and try again")

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
