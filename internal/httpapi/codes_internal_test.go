// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/tokens"
)

// TestCodeOf has the code of every error of the libraries that a client may see. Codes are stable.
func TestCodeOf(t *testing.T) {
	t.Parallel()
	for code, errs := range map[Code][]error{
		CodeCommitUnknown: {
			cell.ErrCommitUnknown, counter.ErrCommitUnknown,
		},
		CodeDamaged: {
			cell.ErrDamaged, counter.ErrDamaged,
		},
		CodeNotFound: {
			entity.ErrNotFound, rollup.ErrNotFound, counter.ErrNotFound, cell.ErrNoCell, kinds.ErrNoKind,
			kinds.ErrNoTerms,
		},
		CodeErased: {
			entity.ErrErased,
		},
		CodeTrimmed: {
			changelog.ErrTrimmed,
		},
		CodeUnavailable: {
			rollup.ErrBuilding, rollup.ErrBehind, rollup.ErrGone, rollup.ErrNoDocuments, counter.ErrConflict,
			counter.ErrForgotten, cell.ErrClock, cell.ErrCopy, cell.ErrWentBack, locus.ErrDocuments, locus.ErrReadOnly,
			resolve.ErrFormat, resolve.ErrBusy, resolve.ErrNewer, resolve.ErrUpgrading, locus.ErrUnavailable,
			cell.ErrUnavailable, cell.ErrMissing,
			cell.ErrIdentity, cell.ErrFormat, cell.ErrPreflight, context.DeadlineExceeded, context.Canceled,
		},
		CodeConflict: {
			rollup.ErrLimit, counter.ErrSequence, cell.ErrConflict, cell.ErrTooMany, cell.ErrOccupied,
			kinds.ErrOtherKind, resolve.ErrMigrating, resolve.ErrOutdated,
		},
		CodeTooOld: {
			counter.ErrTooOld,
		},
		CodeInFuture: {
			counter.ErrInFuture,
		},
		CodeOverflow: {
			counter.ErrOverflow,
		},
		CodeInvalid: {
			counter.ErrKind, cell.ErrID, resolve.ErrRules, cell.ErrURL, resolve.ErrTooMany, resolve.ErrDecision,
		},
		CodeNoRoom: {
			counter.ErrQuota, cell.ErrNoRoom,
		},
		CodeKeyReused: {
			counter.ErrKeyReused,
		},
		CodeRange: {
			counter.ErrRange, kinds.ErrTooMany,
		},
		CodeOverloaded: {
			counter.ErrOverloaded, locus.ErrOverloaded,
		},
		CodeDraining: {
			counter.ErrClosed, locus.ErrClosed, resolve.ErrClosed,
		},
		CodeInternal: {
			locality.ErrMalformed, locality.ErrSegment, locality.ErrOptions, locality.ErrDate, cell.ErrMap,
			match.ErrTermFrequencies,
		},
		CodeStaleMap: {
			cell.ErrStaleMap, locality.ErrSegmentOver, cell.ErrMoved, cell.ErrFenced,
		},
		CodeLeaseLost: {
			lease.ErrLost,
		},
		CodeUnauthenticated: {
			tokens.ErrUnknown,
		},
		CodeForbidden: {
			tokens.ErrLacks,
		},
	} {
		for _, err := range errs {
			if got := CodeOf(fmt.Errorf("read: %w", err)); got != code {
				t.Errorf("%v: %s, want %s", err, got, code)
			}
		}
	}
}

// An error can wrap several codes: the outcome comes first, then the specific one, then the class.
func TestCodeOf_Several(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b error
		code Code
	}{
		{locus.ErrUnavailable, counter.ErrCommitUnknown, CodeCommitUnknown},
		{cell.ErrUnavailable, cell.ErrMoved, CodeStaleMap},
		{cell.ErrUnavailable, lease.ErrLost, CodeLeaseLost},
		{cell.ErrUnavailable, cell.ErrTooMany, CodeConflict},
		{cell.ErrUnavailable, cell.ErrURL, CodeUnavailable},
		{locus.ErrOverloaded, context.Canceled, CodeOverloaded},
		{locus.ErrUnavailable, &cell.DamagedError{Err: entity.ErrNotFound}, CodeDamaged},
	} {
		if got := CodeOf(fmt.Errorf("%w: %w", c.a, c.b)); got != c.code {
			t.Errorf("%v and %v: %s, want %s", c.a, c.b, got, c.code)
		}
	}
}
