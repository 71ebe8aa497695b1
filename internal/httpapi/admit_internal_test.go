// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func newLane(slots int, queue int64, wait time.Duration) (l *lane, refused, waiting *int) {
	refused, waiting = new(int), new(int)
	l = &lane{slots: make(chan struct{}, slots), queue: queue, wait: wait}
	l.refused = func() { *refused++ }
	l.waits = func(delta int) { *waiting += delta }
	return l, refused, waiting
}

func overloaded(err error) bool {
	var f *Fault
	return errors.As(err, &f) && f.Code == CodeOverloaded
}

func TestLane_RefusesAtOnceWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	l, refused, _ := newLane(2, 0, time.Hour)
	var leave []func()
	for range 2 {
		out, err := l.enter(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, out)
	}
	if _, err := l.enter(context.Background()); !overloaded(err) || *refused != 1 {
		t.Errorf("third: %v, %d refused", err, *refused)
	}
	leave[0]()
	out, err := l.enter(context.Background())
	if err != nil {
		t.Errorf("after one left: %v", err)
	}
	out()
	leave[1]()
	if len(l.slots) != 0 || l.waiting.Load() != 0 {
		t.Errorf("%d slots are taken, %d wait", len(l.slots), l.waiting.Load())
	}
}

func TestLane_WaitsForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, refused, waiting := newLane(1, 1, 250*time.Millisecond)
		leave, err := l.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := l.enter(t.Context()); !overloaded(err) || time.Since(start) != 250*time.Millisecond {
			t.Errorf("refused after %v: %v", time.Since(start), err)
		}
		time.AfterFunc(100*time.Millisecond, leave)
		start = time.Now()
		leave, err = l.enter(t.Context())
		if err != nil || time.Since(start) != 100*time.Millisecond {
			t.Errorf("admitted after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := l.enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("client that left: %v", err)
		}
		leave()
		if *refused != 1 || *waiting != 0 || l.waiting.Load() != 0 || len(l.slots) != 0 {
			t.Errorf("%d refused, %d waiting, %d slots", *refused, *waiting, len(l.slots))
		}
	})
}
