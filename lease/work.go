// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/delay"
)

// giveWithin limits how long Work tries to give the lease back. If that fails, the lease expires.
const giveWithin = time.Second

// Work calls work if this process can have the lease, renews the lease until work returns, and gives it back. It
// returns nil without calling work if another process holds the lease.
//
// The context of work ends, and the error is ErrLost, once the lease is lost or was not renewed for its TTL. token is
// the lease's. late reports whether another process may have taken the lease over already: this one was suspended, or
// cannot renew it.
func (h *Holder) Work(ctx context.Context, work func(ctx context.Context, token int64, late func() bool) error) error {
	if held, err := h.Try(ctx, 0); err != nil || !held {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveWithin)
		defer cancel()
		_ = h.Give(ctx)
	}()
	l, _ := h.Held()
	working, stop := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { h.renew(working, stop) })
	defer renewing.Wait()
	defer stop(nil)
	err := work(working, l.Token, h.late)
	if ctx.Err() == nil && working.Err() != nil {
		return context.Cause(working)
	}
	return err
}

// renew renews the lease until the context ends, or ends it with ErrLost.
func (h *Holder) renew(ctx context.Context, stop context.CancelCauseFunc) {
	for delay.For(ctx, h.opts.TTL/4) == nil {
		if err := h.Beat(ctx, 0); errors.Is(err, ErrLost) || err != nil && h.late() {
			stop(fmt.Errorf("%w: %w", ErrLost, err))
			return
		}
	}
}

func (h *Holder) late() bool { return h.age() > h.opts.TTL }
