// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

// Errors that every handle can return, for errors.Is. Unless stated otherwise, nothing was applied. ErrOverloaded wraps
// the errors of the caller's context.
var (
	// ErrNotFound means that nothing was ever stored at the address.
	ErrNotFound = entity.ErrNotFound
	// ErrErased means that the record or entity at the address was deleted.
	ErrErased = entity.ErrErased
	// ErrCommitUnknown means that a commit may or may not have been applied: its reply was lost.
	ErrCommitUnknown = engine.ErrCommitUnknown
	// ErrReadOnly means that the installation was opened read-only.
	ErrReadOnly = engine.ErrReadOnly
	// ErrClosed means that the installation is closing or closed.
	ErrClosed = engine.ErrClosed
	// ErrOverloaded means that the write queue is full or the deadline passed. Retry later.
	ErrOverloaded = engine.ErrOverloaded
	// ErrUnavailable means that a cell cannot be reached, or that the effects of a failed write must be recovered
	// first.
	ErrUnavailable = engine.ErrUnavailable
	// ErrDocuments means that the installation was opened without its document database, with a different one, or with
	// one that belongs to another installation.
	ErrDocuments = engine.ErrDocuments
	// ErrTrimmed means that the requested changes are no longer in the log.
	ErrTrimmed = changelog.ErrTrimmed
)

// Problem is one thing wrong with an input.
type Problem = problem.Problem

// InvalidError lists why a record, a key or a query was rejected. Nothing was applied.
type InvalidError = problem.InvalidError
