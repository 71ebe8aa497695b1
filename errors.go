// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

// The errors of every handle, for errors.Is. Errors of other packages that a handle returns wrap one of these, such as
// rollup.ErrBuilding, which is an ErrUnavailable; only cell.ErrDamaged and counter.ErrDamaged stand alone. Unless
// stated otherwise, nothing was applied.
var (
	// ErrNotFound means that nothing is stored at the address, or under the name.
	ErrNotFound = problem.ErrNotFound
	// ErrErased means that the record or entity at the address was deleted.
	ErrErased = problem.ErrErased
	// ErrInvalid means that the input was rejected. Most of these errors are an *InvalidError, which lists the
	// problems.
	ErrInvalid = problem.ErrInvalid
	// ErrConflict means that the operation contradicts the stored data or another running operation.
	ErrConflict = problem.ErrConflict
	// ErrTrimmed means that the requested changes are no longer in the log.
	ErrTrimmed = problem.ErrTrimmed
	// ErrUnavailable means that a cell is unavailable, that the effects of a failed write must be recovered first, or
	// that this process cannot do the operation. Retry later.
	ErrUnavailable = problem.ErrUnavailable
	// ErrOverloaded means that the write queue is full or the deadline passed. Retry later. It wraps the errors of the
	// caller's context.
	ErrOverloaded = problem.ErrOverloaded
	// ErrClosed means that the installation is closing or closed.
	ErrClosed = problem.ErrClosed
	// ErrCommitUnknown means that a commit may or may not have been applied: its reply was lost.
	ErrCommitUnknown = problem.ErrCommitUnknown
)

// Two causes of ErrUnavailable that retrying does not remove.
var (
	// ErrReadOnly means that the installation was opened read-only.
	ErrReadOnly = engine.ErrReadOnly
	// ErrDocuments means that the installation was opened without its document database, with a different one, or with
	// one that belongs to another installation.
	ErrDocuments = engine.ErrDocuments
)

// Problem is one thing wrong with an input.
type Problem = problem.Problem

// InvalidError lists the problems of a record, a hit, a query or a definition that was rejected.
type InvalidError = problem.InvalidError
