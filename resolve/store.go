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

// Posting says that a record carries a feature. Features are the keys under which records that
// may be the same thing meet. A posting lies in the cell that the feature's hash names.
type Posting struct {
	Feature uint64
	PUID    entity.PUID
}

// Edge says that two records are the same thing, and by how much. It is stored twice, once in the
// home cell of either side; A is the side that the row stands under.
type Edge struct {
	A, B   entity.PUID
	Vector match.Vector
	Score  match.Score
}

// mirror is the row of the other side.
func (e Edge) mirror() Edge { e.A, e.B = e.B, e.A; return e }

// Pair names an edge without its content.
type Pair struct{ A, B entity.PUID }

// Redo says that a record was written, or something decided about it, and that what follows from it may
// not have been. It is written in the record's own transaction and removed once everything that follows is
// durable.
type Redo struct {
	PUID entity.PUID
	// Version is the version of the record that was written.
	Version int64
	// Decided is when the last decision under the record was made, in milliseconds since 1970, if what follows
	// from that may be missing, and else 0.
	Decided int64
	// Lost are the features that the record carried before this version and carries no more.
	Lost []uint64
}

// Store keeps what resolution derives from the records of one cell, inside one transaction of that
// cell. All methods take batches and are idempotent. A backend certifies itself with
// resolvetest.Run.
type Store interface {
	// Post adds and removes postings; adding one that is there, or removing one that is not, does
	// nothing.
	Post(ctx context.Context, add, remove []Posting) error
	// Carriers answers for each feature with the records that carry it, in the order of their
	// puids, at most limits[i] of them.
	Carriers(ctx context.Context, features []uint64, limits []int) ([][]entity.PUID, error)

	// Edges answers with all edges whose side A is one of these records, ordered by A and then B.
	Edges(ctx context.Context, puids []entity.PUID) ([]Edge, error)
	// PutEdges writes edges by (A, B).
	PutEdges(ctx context.Context, edges []Edge) error
	// DeleteEdges removes edges; one that is not there is passed over.
	DeleteEdges(ctx context.Context, pairs []Pair) error

	// Unsure answers with the edges that do not cluster and are no relation either, whose score is at least 0
	// and below match.Threshold: each pair once, with A < B, the best score first, then by A and B, those
	// after the given one only, at most limit. Edge{Score: match.Threshold} is before all.
	Unsure(ctx context.Context, after Edge, limit int) ([]Edge, error)

	// PutRedo enters records in the redo set, and answers with the entries as they are now, in order.
	// One that is there takes the higher version and the later decision, and keeps its lost features beside
	// the new ones: nobody has removed their postings yet.
	PutRedo(ctx context.Context, entries []Redo) ([]Redo, error)
	// Redo answers with entries in the order of their puids, those after the given puid only, at
	// most limit. after is below every puid of the cell at the beginning: math.MinInt64.
	Redo(ctx context.Context, after entity.PUID, limit int) ([]Redo, error)
	// ClearRedo takes entries out of the redo set, but for those whose version is higher than the one given,
	// or whose decision is later: somebody wrote the record again meanwhile, or decided about it.
	ClearRedo(ctx context.Context, entries []Redo) error
	// RedoDepth is the number of entries.
	RedoDepth(ctx context.Context) (int, error)

	// Definition answers with what was put under a name, nil if nothing was. The cell that keeps the
	// cell map has the definitions of the installation: its Rules, and packs.
	Definition(ctx context.Context, name string) ([]byte, error)
	// PutDefinition writes a body, which is not empty, under its name.
	PutDefinition(ctx context.Context, name string, body []byte) error
}

// Tx is one transaction of one cell: the union of the Stores that commit together.
type Tx interface {
	cell.Store
	entity.Store
	changelog.Store
	lease.Store
	rollup.Store
	counter.Store
	Store
	// Copier reads and writes the cell as rows, when it moves.
	cell.Copier
}

// Cell is one database.
type Cell = cell.Database[Tx]
