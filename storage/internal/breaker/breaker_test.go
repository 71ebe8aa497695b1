// SPDX-License-Identifier: Apache-2.0

package breaker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage/internal/breaker"
)

var errDown = errors.New("down")

func half() float64 { return 0.5 }

func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var answer error
		var probes []time.Duration
		begin := time.Now()
		b := breaker.New(breaker.Options{Rand: half, Probe: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			probes = append(probes, time.Since(begin))
			return answer
		}})
		down := func(err error) {
			mu.Lock()
			defer mu.Unlock()
			answer = err
		}
		at := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(probes)
		}
		defer b.Close()

		if err := b.Ask(t.Context()); err != nil || len(at()) != 1 {
			t.Fatalf("a database that answers: %v after %d probes", err, len(at()))
		}
		synctest.Wait()
		if n := len(at()); n != 1 {
			t.Fatalf("%d probes of a database that answers", n)
		}

		down(errDown)
		if err := b.Ask(t.Context()); !errors.Is(err, cell.ErrUnavailable) || !errors.Is(err, errDown) {
			t.Errorf("one that is down: %v", err)
		}
		b.Doubt() // while a probe runs: starts no second series
		time.Sleep(15 * time.Second)
		want := []time.Duration{0, 0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 7500 * time.Millisecond, 11500 * time.Millisecond}
		if got := at(); !slices.Equal(got, want) {
			t.Fatalf("probes at %v, want %v", got, want)
		}
		if b.Err() == nil {
			t.Error("closed although no probe passed")
		}
		down(nil)
		time.Sleep(4 * time.Second)
		if err := b.Err(); err != nil {
			t.Errorf("after a probe that passed: %v", err)
		}
	})
}

// The timeout of probes grows, so that a database that is merely slow recovers.
func TestBreaker_SlowDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Options{Rand: half, Probe: func(ctx context.Context) error {
			select {
			case <-time.After(3 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
		defer b.Close()
		if err := b.Ask(t.Context()); !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a database that takes 3 s: %v, want ErrUnavailable, and no deadline of the caller", err)
		}
		time.Sleep(10 * time.Second)
		if err := b.Err(); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

// A caller that knows that the database is gone opens the breaker at once; a probe closes it.
func TestBreaker_Trip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int64
		b := breaker.New(breaker.Options{Rand: half, Probe: func(context.Context) error { probes.Add(1); return nil }})
		defer b.Close()
		b.Trip(errDown)
		if err := b.Ask(t.Context()); !errors.Is(err, errDown) || probes.Load() != 0 {
			t.Errorf("tripped: %v after %d probes", err, probes.Load())
		}
		time.Sleep(time.Second)
		if err := b.Err(); err != nil || probes.Load() != 1 {
			t.Errorf("later: %v after %d probes", err, probes.Load())
		}
	})
}

func TestBreaker_Close(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(breaker.Options{Rand: half, Probe: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
		b.Doubt()
		b.Close()
		b.Doubt() // starts no probe
		b.Close()
	})
}
