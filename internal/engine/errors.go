// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
)

// ErrReadOnly is exported and documented by package locus.
var ErrReadOnly = problem.Class(problem.ErrUnavailable, "locus: opened to read only")

// ErrUnavailable is the error of a cell. problem.ErrUnavailable, which it wraps, also has other causes.
var ErrUnavailable = cell.ErrUnavailable

// Wrap returns err with a class that package locus exports: unchanged if it has one that a caller can act on,
// ErrOverloaded for an error of the caller's context, ErrUnavailable for everything else.
func Wrap(err error) error {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	switch {
	case err == nil, is(problem.ErrNotFound, problem.ErrErased, problem.ErrInvalid, problem.ErrConflict, problem.ErrClosed):
		return err
	case is(context.DeadlineExceeded, context.Canceled):
		return fmt.Errorf("%w: %w", problem.ErrOverloaded, err)
	case is(problem.ErrCommitUnknown, cell.ErrDamaged, cell.ErrNoRoom, cell.ErrStaleMap, ErrUnavailable):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Absent returns nil if err says that an address is empty or was erased, and err otherwise.
func Absent(err error) error {
	if errors.Is(err, entity.ErrNotFound) || errors.Is(err, entity.ErrErased) {
		return nil
	}
	return err
}

// ErrBadAfter rejects the cursor of a page.
var ErrBadAfter = problem.Invalid("/after", "invalid", "it is not the cursor of a previous page")

// MaxLimit is the maximum number of items in a page.
const MaxLimit = 1000

// Limit returns the page size, 100 for 0. The error is a *problem.InvalidError.
func Limit(limit int) (int, error) {
	if limit == 0 {
		return 100, nil
	}
	if limit < 0 || limit > MaxLimit {
		return 0, problem.Invalid("/limit", "invalid", "a page has 1 to %d items", MaxLimit)
	}
	return limit, nil
}

// CheckID rejects an id that Locus cannot have minted.
func CheckID(pointer string, id locality.ID) error {
	if id.Version() == 0xb {
		return nil
	}
	return problem.Invalid(pointer, "invalid", "%v is not an entity id: its version is %x, not b", id, id.Version())
}
