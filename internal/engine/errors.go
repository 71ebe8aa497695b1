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

// These errors are exported and documented by package locus.
var (
	ErrCommitUnknown = resolve.ErrCommitUnknown
	ErrReadOnly      = errors.New("locus: opened to read only")
	ErrClosed        = errors.New("locus: closed")
	ErrOverloaded    = errors.New("locus: overloaded")
	ErrUnavailable   = cell.ErrUnavailable
)

// Wrap maps err to one of the errors above. It returns entity.ErrNotFound and the errors of package cell that a caller
// can act on unchanged.
func Wrap(err error) error {
	switch {
	case err == nil, errors.Is(err, entity.ErrNotFound):
		return err
	case errors.Is(err, resolve.ErrClosed):
		return ErrClosed
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", ErrOverloaded, err)
	case errors.Is(err, ErrCommitUnknown), errors.Is(err, cell.ErrDamaged), errors.Is(err, cell.ErrNoRoom), errors.Is(err, cell.ErrStaleMap), errors.Is(err, ErrUnavailable):
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
