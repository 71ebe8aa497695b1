// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"context"
	"fmt"
)

// CheckReached returns ErrTrimmed if a log has never been at a place, as far as it goes back. Such a place belongs to a history that
// was lost to a restore: what followed it then is not what follows it now. A restored cell skips those places, so there is no change
// at one of them, and none right after it.
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
