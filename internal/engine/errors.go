// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// Errors that package locus exports; its comments say what they mean.
var (
	ErrUnknownOutcome = resolve.ErrUnknownOutcome
	ErrReadOnly       = errors.New("locus: opened to read only")
	ErrClosed         = errors.New("locus: closed")
	ErrOverloaded     = errors.New("locus: overloaded")
	ErrUnavailable    = cell.ErrUnavailable
)

// Wrap returns err as one of the errors above, or as entity.ErrNotFound or one of package cell that a caller can act on.
func Wrap(err error) error {
	switch {
	case err == nil, errors.Is(err, entity.ErrNotFound):
		return err
	case errors.Is(err, resolve.ErrClosed):
		return ErrClosed
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", ErrOverloaded, err)
	case errors.Is(err, ErrUnknownOutcome), errors.Is(err, cell.ErrDamaged), errors.Is(err, cell.ErrNoRoom), errors.Is(err, cell.ErrStaleMap), errors.Is(err, ErrUnavailable):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Absent returns nil if err says that nothing is at an address, or that it was erased, and err otherwise.
func Absent(err error) error {
	if errors.Is(err, entity.ErrNotFound) || errors.Is(err, entity.ErrErased) {
		return nil
	}
	return err
}

// MaxLimit is how many items a page has at most.
const MaxLimit = 1000

// Limit returns the size of a page, 100 for 0. The error is an *problem.InvalidError.
func Limit(limit int) (int, error) {
	if limit == 0 {
		return 100, nil
	}
	if limit < 0 || limit > MaxLimit {
		return 0, problem.Invalid("/limit", "invalid", "a page has 1 to %d items", MaxLimit)
	}
	return limit, nil
}

// CheckID refuses an id that Locus has never given to anything: it is another system's.
func CheckID(pointer string, id locality.ID) error {
	if id.Version() == 0xb {
		return nil
	}
	return problem.Invalid(pointer, "invalid", "%v is not an entity id: its version is %x, not b", id, id.Version())
}
