// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"context"
	"fmt"
)

// CheckReached returns ErrTrimmed if the log, as far as it goes back, was never at a position. Such a position
// belongs to a history lost in a restore, after which different changes followed. A restored cell skips these
// positions, so there is no change at one of them, and none directly after it.
func CheckReached(ctx context.Context, log Store, at Seq) error {
	bounds, err := log.Bounds(ctx)
	if err != nil || at <= bounds.Trimmed || at == bounds.Last {
		return err
	}
	if at > bounds.Last {
		return fmt.Errorf("%w: the log ends at %d, and the place asked for is %d", ErrTrimmed, bounds.Last, at)
	}
	next, err := log.Changes(ctx, at-1, 1)
	if err == nil && (len(next) == 0 || next[0].Seq > at+1) {
		err = fmt.Errorf("%w: there is no change %d", ErrTrimmed, at)
	}
	return err
}
