// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
)

// Posting maps a blocking key to a record that carries it. Blocking keys are blocking keys: records that share one
// are compared. A posting is stored in the cell that the blocking key's hash selects.
type Posting struct {
	Key  uint64
	PUID entity.PUID
}

// Edge is the scored comparison of two records. It is stored twice, once in the home cell of each record; A
// is the record that the row is stored under.
type Edge struct {
	A, B   entity.PUID
	Vector match.Vector
	Weight match.Weight
}

// mirror returns the edge as it is stored under the other record.
func (e Edge) mirror() Edge { e.A, e.B = e.B, e.A; return e }

// Pair identifies an edge without its content.
type Pair struct{ A, B entity.PUID }

// Redo marks a record that was written or decided about and whose consequences may be missing. It is
// written in the transaction of the record or decision, and removed once all consequences are durable.
type Redo struct {
	PUID entity.PUID
	// Version is the record version that was written.
	Version int64
	// Decided is the time of the last decision under the record whose consequences may be missing, in
	// milliseconds since 1970; 0 if there is none.
	Decided int64
	// LostKeys are blocking keys that earlier versions of the record carried and this version does not.
	LostKeys []uint64
}

// Store stores what resolution derives from the records of one cell, inside one transaction of that cell.
// All methods take batches; writes are idempotent. A backend proves its conformance with resolvetest.Run.
type Store interface {
	// Post adds and removes postings. Adding an existing posting or removing a missing one does nothing.
	Post(ctx context.Context, add, remove []Posting) error
	// Carriers returns, for each blocking key, the records that carry it: ordered by puid, at most limits[i] of
	// them.
	RecordsByKey(ctx context.Context, keys []uint64, limits []int) ([][]entity.PUID, error)

	// Edges returns all edges whose A is one of these records, ordered by A, then B.
	Edges(ctx context.Context, puids []entity.PUID) ([]Edge, error)
	// PutEdges writes edges by (A, B).
	PutEdges(ctx context.Context, edges []Edge) error
	// DeleteEdges removes edges. Missing edges are skipped.
	DeleteEdges(ctx context.Context, pairs []Pair) error

	// PossibleMatches returns up to limit possible matches: edges with 0 <= Weight < match.Threshold that are not
	// relations. Each pair appears once, with A < B, ordered by descending weight, then A, then B, after the
	// given edge. Edge{Weight: match.Threshold} precedes all.
	PossibleMatches(ctx context.Context, after Edge, limit int) ([]Edge, error)

	// PutRedo adds records to the redo set and returns the stored entries in order. An existing entry takes
	// the higher version and the later decision, and keeps its lost blocking keys in addition to the new ones,
	// because their postings have not been removed yet.
	PutRedo(ctx context.Context, entries []Redo) ([]Redo, error)
	// Redo returns up to limit entries with puids above after, ordered by puid. Start with math.MinInt64.
	Redo(ctx context.Context, after entity.PUID, limit int) ([]Redo, error)
	// ClearRedo removes entries from the redo set, except those with a higher version or a later decision
	// than given: the record was written or decided about again since.
	ClearRedo(ctx context.Context, entries []Redo) error
	// RedoDepth returns the number of entries.
	RedoDepth(ctx context.Context) (int, error)

	// Definition returns the body stored under a name, nil if there is none. The authority of the cell map
	// holds the definitions of the installation: its Rules and term-frequency tables.
	Definition(ctx context.Context, name string) ([]byte, error)
	// PutDefinition stores a non-empty body under its name.
	PutDefinition(ctx context.Context, name string, body []byte) error
}

// Tx is one transaction of one cell: all stores that commit together.
type Tx interface {
	cell.Store
	entity.Store
	changelog.Store
	lease.Store
	rollup.Store
	counter.Store
	Store
	// Copier reads and writes the cell as rows when it moves.
	cell.Copier
}

// Cell is the database of one cell.
type Cell = cell.Database[Tx]
