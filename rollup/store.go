// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/lease"
)

// Store keeps rollups in one cell, inside one transaction of it. Rows are opaque to it and ordered by their keys.
// Methods take batches, return results in the same order, read the transaction's own writes, and are idempotent.
// A backend runs rolluptest.Run to certify itself.
type Store interface {
	// Rollups returns all rollups in the order of their names, including dropped ones. Only the cell that keeps
	// the cell map has any. In an update, no other transaction changes them until this one ends.
	Rollups(ctx context.Context) ([]Rollup, error)
	// PutRollup writes a rollup by its name.
	PutRollup(ctx context.Context, r Rollup) error

	// Generations returns the generations of the cell in the order of their numbers. In an update, no other
	// transaction changes them until this one ends.
	Generations(ctx context.Context) ([]Generation, error)
	// PutGeneration writes a generation by its number.
	PutGeneration(ctx context.Context, g Generation) error
	// DeleteGeneration deletes a generation without its rows. A missing one is not an error.
	DeleteGeneration(ctx context.Context, number int64) error

	// Rows returns the body of the row under each key, nil if there is none.
	Rows(ctx context.Context, generation int64, keys [][]byte) ([][]byte, error)
	// ScanRows returns the rows of each range.
	ScanRows(ctx context.Context, generation int64, ranges []Range) ([][]Row, error)
	// PutRows writes rows by their keys and deletes rows whose body is nil.
	PutRows(ctx context.Context, generation int64, rows []Row) error
	// DropRows deletes at most limit rows of a generation and returns how many.
	DropRows(ctx context.Context, generation int64, limit int) (int, error)
}

// Row is a row of a generation. Rows are ordered by the bytes of their keys. A key has 1 to 2,000 bytes, a body
// at least one.
type Row struct{ Key, Body []byte }

// Range selects rows whose keys have the prefix Prefix and are greater than After (nil is no bound): the first
// Limit rows in order or, if Last is set, the last ones in reverse order.
type Range struct {
	Prefix, After []byte
	Limit         int
	Last          bool
}

// Rollup is an entry of the catalogue. A dropped rollup has neither Serving nor Next.
type Rollup struct {
	Name string `json:"name"`
	// Serving answers reads; nil until the first generation has been built in every cell.
	Serving *Version `json:"serving,omitempty"`
	// Next replaces Serving once it is built and caught up in every cell.
	Next *Version `json:"next,omitempty"`
	// Last is the highest generation number that the rollup ever used.
	Last int64 `json:"last"`
}

// Dropped reports whether the rollup was dropped.
func (r *Rollup) Dropped() bool { return r.Serving == nil && r.Next == nil }

// Newest returns the version that was defined last: Next, else Serving, nil of a dropped rollup.
func (r *Rollup) Newest() *Version {
	if r.Next != nil {
		return r.Next
	}
	return r.Serving
}

// Version is a definition with the number of its generation. Numbers increase and are unique in an installation.
type Version struct {
	Generation int64      `json:"generation"`
	Definition Definition `json:"definition"`
	Since      time.Time  `json:"since"` // time of the request
}

// Generation is a version's groups in one cell, with the log position up to which they are true.
type Generation struct {
	Number     int64      `json:"number"`
	Definition Definition `json:"definition"`
	State      State      `json:"state"`
	// Watermark is the last change of the cell that the groups contain.
	Watermark changelog.Seq `json:"watermark,string"`
	// At is the time of that change, or of the snapshot that the generation began with.
	At time.Time `json:"at"`
	// Groups is the number of groups.
	Groups int64 `json:"groups"`
	// FrozenFor is the generation for which this one is frozen, so that readers that switch to it do not go back in
	// time; 0 if it is not frozen.
	FrozenFor int64 `json:"frozen_for,omitempty"`
	// For groups elsewhere: BuildID is the number of the build that filled them, StoreID the database, History the
	// cell history that they belong to (see Tx). Readers of a frozen generation read at FrozenAt.
	BuildID  int64         `json:"build_id,omitempty,string"`
	StoreID  string        `json:"store_id,omitempty"`
	History  int64         `json:"history,omitempty"`
	FrozenAt changelog.Seq `json:"frozen_at,omitempty,string"`
	// Reason is why the generation failed.
	Reason string `json:"reason,omitempty"`
	// Verified is when it was last found equal to its recomputation, zero if never.
	Verified time.Time `json:"verified,omitzero"`
}

// State is the state of a generation.
type State string

// The states of a generation.
const (
	Building  State = "building"  // rows are being written: not readable
	Following State = "following" // true at its watermark, which advances
	Failed    State = "failed"    // true at its watermark, which no longer advances; see Reason
	Dropping  State = "dropping"  // its rows are being deleted
)

// readable reports whether the groups are true at the watermark.
func (g *Generation) readable() bool { return g.State == Following || g.State == Failed }

// Tx is one transaction of one cell with everything that a follower needs.
type Tx interface {
	changelog.Store
	lease.Store
	Store
	// Wanted returns which images changes carry.
	Wanted(ctx context.Context) (changelog.Images, error)
	// Want sets which images changes carry from the next transaction on. It may only be called in an exclusive
	// transaction.
	Want(ctx context.Context, images changelog.Images) error
	// History returns an ID that changes permanently when the cell is restored from a backup, so that state
	// outside the cell derived from the lost part of the log is detected.
	History(ctx context.Context) (int64, error)
	// List returns at most limit entities or records of the cell after a place, in the order of their places,
	// with images that have the given attributes. All places are above math.MinInt64.
	List(ctx context.Context, over Over, attributes []string, after int64, limit int) ([]Item, error)
}

// Item is an entity or a record of a cell in its current state.
type Item struct {
	Place int64
	Image changelog.Image
}

// Database runs transactions of one cell.
type Database struct {
	// Update commits what fn wrote, View reads one snapshot, Exclusive is an update without concurrent updates.
	// fn may run more than once.
	Update, View, Exclusive func(ctx context.Context, fn func(Tx) error) error
	// Elsewhere keeps the groups of rollups with store: mongodb. If nil, such rollups are skipped.
	Elsewhere Elsewhere
}

var (
	// ErrNotFound means that the rollup or group does not exist.
	ErrNotFound = problem.Class(problem.ErrNotFound, "rollup: not found")
	// ErrBuilding means that the rollup is defined but its first generation is still being built.
	ErrBuilding = problem.Class(problem.ErrUnavailable, "rollup: being built")
	// ErrBehind means that the rollup did not reach the requested watermark in time.
	ErrBehind = problem.Class(problem.ErrUnavailable, "rollup: behind the requested watermark")
	// ErrGone means that a cell no longer has the generation, or not yet: look up again which one serves.
	ErrGone = problem.Class(problem.ErrUnavailable, "rollup: no such generation in the cell")
	// ErrLimit means that a rollup has too many groups, or a group too many dimension values.
	ErrLimit = problem.Class(problem.ErrConflict, "rollup: limit exceeded")
	// ErrNoDocuments means that the groups are in documents to which this process has no access.
	ErrNoDocuments = problem.Class(problem.ErrUnavailable,
		"rollup: the groups are in a MongoDB database that this process has not opened")
)
