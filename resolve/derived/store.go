// SPDX-License-Identifier: Apache-2.0

package derived

import (
	"context"

	"github.com/locus-db/locus/entity"
)

// Store stores what resolution derives from the records of one cell, and the definitions that it derives them by,
// inside one transaction of that cell.
// All methods take batches; writes are idempotent. A backend proves its conformance with storagetest.Run.
type Store interface {
	// Post adds and removes postings. Adding an existing posting or removing a missing one does nothing.
	Post(ctx context.Context, add, remove []Posting) error
	// MergePostings rewrites all postings, so that nothing is left of removed ones. With mend, it leaves out the rows
	// that are damaged; the records whose postings were in them have to be posted again.
	MergePostings(ctx context.Context, mend bool) error
	// RecordsByKey returns, for each blocking key, the records that carry it: ordered by puid, at most limits[i] of
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
	// because their postings have not been removed yet. The returned entries
	// are complete after the next read of the transaction, or its commit.
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
