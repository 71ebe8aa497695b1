// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

// Errors of every handle, to be asked for with errors.Is. Unless they say otherwise nothing was applied. The errors of a
// caller's own context are wrapped by ErrOverloaded.
var (
	// ErrNotFound means that nothing was ever at an address.
	ErrNotFound = entity.ErrNotFound
	// ErrErased means that what was at an address was deleted.
	ErrErased = entity.ErrErased
	// ErrUnknownOutcome means that the work may or may not have been done: the answer of a commit was lost.
	ErrUnknownOutcome = engine.ErrUnknownOutcome
	// ErrReadOnly means that the installation was opened to read only.
	ErrReadOnly = engine.ErrReadOnly
	// ErrClosed means that the installation is closing or closed.
	ErrClosed = engine.ErrClosed
	// ErrOverloaded means that the queue of writes is full, or that there was no time left; try again later.
	ErrOverloaded = engine.ErrOverloaded
	// ErrUnavailable means that a cell cannot be reached, or that the consequences of a failed write have to be worked
	// out first.
	ErrUnavailable = engine.ErrUnavailable
	// ErrDocuments means that an installation was opened without the database of documents that it has, with another one,
	// or with that of another installation.
	ErrDocuments = engine.ErrDocuments
	// ErrTrimmed means that changes which were asked for are no longer in the log.
	ErrTrimmed = changelog.ErrTrimmed
)

// Problem is one thing wrong with an input.
type Problem = problem.Problem

// InvalidError lists why a record, a key or a query was refused. Nothing was applied.
type InvalidError = problem.InvalidError
