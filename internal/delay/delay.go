// SPDX-License-Identifier: Apache-2.0

// Package delay waits, unless a context ends.
package delay

import (
	"context"
	"time"
)

// For waits for d and returns nil. If the context ends first, it returns the cause.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
