// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

const (
	awaitPatience = 5 * time.Second
	awaitPoll     = 20 * time.Millisecond
)

// ErrBehind means that the databases that are read did not reach a watermark in time: a standby lags, or the watermark
// is of another installation or of a history that a restored backup lacks.
var ErrBehind = problem.Class(problem.ErrUnavailable, "changes: data is behind the requested watermark")

// Await waits until the cells that this process reads contain a watermark, such as that of a write by another process,
// for up to five seconds. A primary contains them at once, a standby later. A nil watermark is reached at once. The
// errors are ErrBehind and cell.ErrNoCell.
func (h *Handle) Await(ctx context.Context, least changelog.Watermark) error {
	if len(least) == 0 {
		return nil
	}
	cells := slices.Collect(maps.Keys(least))
	give, cancel := context.WithTimeoutCause(ctx, awaitPatience, ErrBehind)
	defer cancel()
	for {
		tail, err := h.Tail(ctx, cells)
		if err != nil {
			return err
		}
		behind := ""
		for id, seq := range least {
			if tail[id] < seq {
				behind = fmt.Sprintf("cell %v is at %d, the watermark at %d", id, tail[id], seq)
			}
		}
		if behind == "" {
			return nil
		}
		if engine.Sleep(give, awaitPoll, nil); give.Err() != nil {
			return engine.Wrap(fmt.Errorf("%w: %s", context.Cause(give), behind))
		}
	}
}
