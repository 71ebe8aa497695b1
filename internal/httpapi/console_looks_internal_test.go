// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lapse lets time pass in a synctest bubble.
func lapse(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // no request waits

// However many viewers there are, a query runs at most once a second, and a slow one less often.
func TestLooks_AreShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ took, good time.Duration }{{time.Millisecond, time.Second}, {300 * time.Millisecond, 3 * time.Second}} {
		t.Run(c.took.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked int64
				l := newLooks()
				look := func(want int64) {
					n, err := recently(t.Context(), l, "q", func(ctx context.Context) (int64, error) {
						asked++
						n := asked
						lapse(c.took)
						return n, ctx.Err()
					})
					if n != want || err != nil {
						t.Errorf("answer %d, %v; want %d", n, err, want)
					}
				}
				var all sync.WaitGroup
				for range 50 {
					all.Go(func() { look(1) })
				}
				all.Wait()
				lapse(c.good)
				look(1)
				lapse(1)
				look(2)
			})
		})
	}
}

func TestLooks_WhoLeavesDoesNotEndTheQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLooks()
		ask := func(ctx context.Context) (string, error) { lapse(time.Second); return "here", ctx.Err() }
		first, leave := context.WithCancel(t.Context())
		impatient, give := context.WithTimeout(t.Context(), time.Millisecond)
		defer give()
		var all sync.WaitGroup
		all.Go(func() {
			if got, err := recently(first, l, "q", ask); got != "here" || err != nil {
				t.Errorf("who asked got %q, %v", got, err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := recently(impatient, l, "q", ask); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("who could not wait got %v", err)
			}
		})
		leave()
		all.Wait()
		if got, err := recently(t.Context(), l, "q", ask); got != "here" || err != nil {
			t.Errorf("who came later got %q, %v", got, err)
		}
	})
}

func TestLooks_RememberFailuresAndNotTooMuch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, broken := newLooks(), errors.New("broken")
		for range 2 {
			if _, err := recently(t.Context(), l, "q", func(context.Context) (int, error) { return 0, broken }); !errors.Is(err, broken) {
				t.Errorf("err = %v", err)
			}
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = recently(t.Context(), l, "panics", func(context.Context) (int, error) { panic("bug") })
		}()
		if _, err := recently(t.Context(), l, "panics", func(context.Context) (int, error) { return 1, nil }); err == nil {
			t.Error("what panicked is taken for an answer")
		}
		for i := range 3 * maxLooks {
			if n, err := recently(t.Context(), l, fmt.Sprint(i), func(context.Context) (int, error) { return i, nil }); n != i || err != nil {
				t.Errorf("question %d: %d, %v", i, n, err)
			}
		}
		if len(l.seen) > maxLooks {
			t.Errorf("%d answers are remembered", len(l.seen))
		}
		lapse(time.Hour)
		_, _ = recently(t.Context(), l, "q", func(context.Context) (int, error) { return 0, nil })
		if len(l.seen) != 1 {
			t.Errorf("%d answers are remembered for ever", len(l.seen))
		}
	})
}
