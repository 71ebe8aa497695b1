// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/lease"
)

// Store keeps rollups in one cell, inside one transaction of it. It knows nothing of what it keeps: a
// generation's rows are ordered by their keys and are this package's to read. Methods take batches,
// answer in their order, read what the same transaction wrote, and are idempotent. A backend
// certifies itself with rolluptest.Run.
type Store interface {
	// Rollups answers with all rollups in the order of their names, dropped ones too. Only the cell that
	// keeps the cell map has any. In an update nobody else changes them until the transaction ends.
	Rollups(ctx context.Context) ([]Rollup, error)
	// PutRollup writes a rollup by its name.
	PutRollup(ctx context.Context, r Rollup) error

	// Generations answers with the generations that the cell holds, in the order of their numbers. In an
	// update nobody else changes them until the transaction ends.
	Generations(ctx context.Context) ([]Generation, error)
	// PutGeneration writes a generation by its number.
	PutGeneration(ctx context.Context, g Generation) error
	// DeleteGeneration removes a generation, but not its rows; one that is not there is passed over.
	DeleteGeneration(ctx context.Context, number int64) error

	// Rows answers with the body of the row under each key, nil where there is none.
	Rows(ctx context.Context, generation int64, keys [][]byte) ([][]byte, error)
	// ScanRows answers for each range with its rows.
	ScanRows(ctx context.Context, generation int64, ranges []Range) ([][]Row, error)
	// PutRows writes rows by their keys, and deletes those whose body is nil.
	PutRows(ctx context.Context, generation int64, rows []Row) error
	// DropRows deletes rows of a generation, at most limit, and answers how many.
	DropRows(ctx context.Context, generation int64, limit int) (int, error)
}

// Row is a row of a generation: keys are ordered by their bytes. A key has 1 to 2,000 bytes, a body at
// least one.
type Row struct{ Key, Body []byte }

// Range asks for rows whose keys begin with Prefix and lie after After, which is nil to begin at the
// beginning: the first Limit of them in order, or the last ones in reverse order.
type Range struct {
	Prefix, After []byte
	Limit         int
	Last          bool
}

// Rollup is an entry of the catalogue: which generations of a rollup there are to be. It has neither
// once it was dropped.
type Rollup struct {
	Name string `json:"name"`
	// Serving answers reads; nil until the first generation was built in every cell.
	Serving *Version `json:"serving,omitempty"`
	// Next takes its place as soon as it was built in every cell and is not behind it.
	Next *Version `json:"next,omitempty"`
	// Last is the highest number that a generation of the rollup ever had.
	Last int64 `json:"last"`
}

// Dropped tells whether the rollup is no more.
func (r *Rollup) Dropped() bool { return r.Serving == nil && r.Next == nil }

// Version is a definition with the number of the generation that is made by it. Numbers rise, and no two
// generations of an installation have one number.
type Version struct {
	Generation int64      `json:"generation"`
	Definition Definition `json:"definition"`
	Since      time.Time  `json:"since"` // when it was asked for
}

// Generation is what one cell holds of a version: groups, and the place in the log up to which they are
// true.
type Generation struct {
	Number     int64      `json:"number"`
	Definition Definition `json:"definition"`
	State      State      `json:"state"`
	// Watermark is the last change of the cell that the groups contain.
	Watermark changelog.Seq `json:"watermark,string"`
	// At is the time of that change, or of the snapshot that the generation began with.
	At time.Time `json:"at"`
	// Groups is how many there are.
	Groups int64 `json:"groups"`
	// Yields is the generation that this one stands still for, so that readers who go over to that one
	// do not go back in time; 0 if it goes on.
	Yields int64 `json:"yields,omitempty"`
	// Of groups in documents: Fill is the number of who filled them, Home the store that they are in, History
	// that of the cell which they are of (see Tx). Readers of a generation that stands still are at Until.
	Fill    int64         `json:"fill,omitempty,string"`
	Home    string        `json:"home,omitempty"`
	History int64         `json:"history,omitempty"`
	Until   changelog.Seq `json:"until,omitempty,string"`
	// Reason says why the generation failed.
	Reason string `json:"reason,omitempty"`
	// Verified is when it was last found equal to its recomputation, zero if never.
	Verified time.Time `json:"verified,omitzero"`
}

// State is what a generation is doing.
type State string

// The states of a generation.
const (
	Filling   State = "filling"   // rows are being written: nobody reads them
	Following State = "following" // true at its watermark, which moves on
	Failed    State = "failed"    // true at its watermark, which stands still; Reason says why
	Dropping  State = "dropping"  // no more: its rows are being deleted
)

// readable tells whether the groups are true at the watermark.
func (g *Generation) readable() bool { return g.State == Following || g.State == Failed }

// Tx is one transaction of one cell, with what a follower needs of it.
type Tx interface {
	changelog.Store
	lease.Store
	Store
	// Wanted answers which changes carry images.
	Wanted(ctx context.Context) (changelog.Images, error)
	// Want has changes carry these images, no others, from the next transaction on. It may be called in an
	// exclusive transaction only.
	Want(ctx context.Context, images changelog.Images) error
	// History tells the histories of the cell apart: it is another one, for ever, once the cell has come back
	// from a backup, since the log goes on elsewhere then than what was counted outside of the cell.
	History(ctx context.Context) (int64, error)
	// List answers with what the cell holds now, entities or records, in the order of their places, those
	// after a place only, at most limit; their images have these attributes. The first place is above
	// math.MinInt64.
	List(ctx context.Context, over Over, attributes []string, after int64, limit int) ([]Item, error)
}

// Item is an entity or a record of a cell as it is now.
type Item struct {
	Place int64
	Image changelog.Image
}

// Database runs transactions of one cell.
type Database struct {
	// Update commits what fn wrote, View reads one snapshot, Exclusive is an update that runs alone. fn
	// may run again.
	Update, View, Exclusive func(ctx context.Context, fn func(Tx) error) error
	// Documents keep the groups of rollups that say store: mongodb. Nil is none: such rollups are left alone.
	Documents Documents
}

var (
	// ErrNotFound means that there is no such rollup, or no such group.
	ErrNotFound = errors.New("rollup: not found")
	// ErrBuilding means that the rollup was defined and is being built.
	ErrBuilding = errors.New("rollup: being built")
	// ErrBehind means that the rollup did not reach the watermark that was asked for in time.
	ErrBehind = errors.New("rollup: behind the watermark asked for")
	// ErrGone means that a cell does not hold the generation any more, or not yet: look again which one
	// serves.
	ErrGone = errors.New("rollup: no such generation in the cell")
	// ErrLimit means that a rollup has more groups than it may have, or a group more values of the dimension.
	ErrLimit = errors.New("rollup: past a limit")
	// ErrNoDocuments means that the groups are in documents that this process was not given.
	ErrNoDocuments = errors.New("rollup: the groups are in documents that this process does not have")
)
