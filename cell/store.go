// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
)

// ErrNoRoom says that a cell has given away all puids of its range. Existing
// records are not affected; new ones need a new generation of cells.
var ErrNoRoom = errors.New("cell: the cell's range of puids is used up: add a generation of cells")

// Store is the key directory of one cell, inside one transaction: which puid each
// external key of the cell has. What a transaction allocates is there for it to
// look up at once, for others when it commits, and for nobody if it does not.
// Package celltest has the suite that every implementation passes.
type Store interface {
	// Lookup answers with the puid of each key, in order, 0 where the cell has no row.
	Lookup(ctx context.Context, keys []Key) ([]int64, error)
	// Allocate gives every key that has no row the cell's next puid and answers with
	// the puid of each key, in order, and whether it was allocated by this call. A key
	// named twice in one call is allocated once, and fresh both times. The error is
	// ErrNoRoom when the range of puids is used up; the transaction must then be rolled
	// back. puids rise in the order of allocation; gaps are normal.
	Allocate(ctx context.Context, keys []Key) ([]Allocation, error)
}

// Allocation is the puid of a key, and whether this call allocated it.
type Allocation struct {
	PUID  int64
	Fresh bool
}
