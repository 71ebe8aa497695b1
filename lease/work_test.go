// SPDX-License-Identifier: Apache-2.0

package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/lease"
)

// Work renews the lease beyond its TTL and gives it back. It ends with ErrLost when another process has taken the lease, and when
// nothing could be written for the TTL.
func TestWork_LastsAsLongAsTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, mu := newShelf(), sync.Mutex{}
		transaction := func(ctx context.Context, fn func(lease.Store) error) error {
			mu.Lock()
			defer mu.Unlock()
			return s.transaction(ctx, fn)
		}
		holder := func(owner string) *lease.Holder {
			return lease.NewHolder(lease.Options{Name: "work", Owner: owner, TTL: ttl, Now: time.Now, Update: transaction, View: transaction})
		}
		held := func(owner string, down bool) error {
			return transaction(t.Context(), func(lease.Store) error {
				l := s.leases["work"]
				l.Owner, s.down = owner, down
				s.leases["work"] = l
				return nil
			})
		}
		a, b, works := holder("a"), holder("b"), 0
		if err := a.Work(t.Context(), func(ctx context.Context, token int64, late func() bool) error {
			time.Sleep(5 * ttl)
			synctest.Wait()
			if works++; token != 1 || late() || ctx.Err() != nil {
				t.Errorf("token %d, late %v, %v", token, late(), context.Cause(ctx))
			}
			return b.Work(ctx, func(context.Context, int64, func() bool) error { works++; return nil })
		}); err != nil || works != 1 {
			t.Fatalf("%d work, %v", works, err)
		}
		end := func(then func()) error {
			return b.Work(t.Context(), func(ctx context.Context, _ int64, _ func() bool) error {
				then()
				<-ctx.Done()
				return ctx.Err()
			})
		}
		if err := end(func() { _ = held("c", false) }); !errors.Is(err, lease.ErrLost) {
			t.Errorf("taken by another: %v", err)
		}
		_ = held("", false)
		begun := time.Now()
		if err := end(func() { _ = held("b", true) }); !errors.Is(err, lease.ErrLost) || !errors.Is(err, errDown) || time.Since(begun) < ttl {
			t.Errorf("not renewed: %v after %v", err, time.Since(begun))
		}
	})
}
