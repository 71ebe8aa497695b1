// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"time"
)

// Sleep waits for d, until wake receives, or until the context ends. A nil wake never receives.
func Sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// Wake wakes the goroutine sleeping on c, or the next one to sleep on it. c must have a buffer of one.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Every calls do, pausing before each call, until the context ends. It reports the first of consecutive failures.
func Every(ctx context.Context, pause time.Duration, do func(context.Context) error, report func(error)) {
	for failed := false; ; {
		Sleep(ctx, pause, nil)
		if ctx.Err() != nil {
			return
		}
		err := do(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			report(err)
		}
		failed = err != nil
	}
}
