// SPDX-License-Identifier: Apache-2.0

// Package sourcetest has the conformance suite of source.Stream, and a broker and an installation in memory. A driver
// calls Run from its own test with a function that opens an empty stream.
package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/source"
)

// Harness is a stream of one partition, 0, that a test can write to.
type Harness struct {
	// Publish appends a message.
	Publish func(ctx context.Context, key, value string) error
	// Open begins to read.
	Open func(ctx context.Context, at source.Position) (source.Stream, error)
	// Trim drops all messages before an offset.
	Trim func(ctx context.Context, before int64) error

	ctx context.Context //nolint:containedctx // of one case
}

// Run checks a driver. open is called once per case and registers its cleanup with t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	cases.Run(t, func(t *testing.T) Harness {
		t.Helper()
		h := open(t)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		t.Cleanup(cancel)
		connect := h.Open
		h.ctx = ctx
		h.Open = func(ctx context.Context, at source.Position) (source.Stream, error) {
			s, err := connect(ctx, at)
			if err == nil {
				t.Cleanup(func() { _ = s.Close() })
			}
			return s, err
		}
		return h
	})
}

type tester = conformance.TB

var cases = conformance.Suite[Harness]{
	{Name: "ReadsEverythingInOrder", Run: readsEverythingInOrder},
	{Name: "GoesOnAtThePosition", Run: goesOnAtThePosition},
	{Name: "WaitsWithoutLoss", Run: waitsWithoutLoss},
	{Name: "ReadsOneAgain", Run: readsOneAgain},
	{Name: "AnotherLogIsAGap", Run: anotherLogIsAGap},
	{Name: "TheFutureIsAGap", Run: theFutureIsAGap},
	{Name: "TrimmedMessagesAreAGap", Run: trimmedMessagesAreAGap},
}

// patience limits a case.
const patience = 20 * time.Second

func publish(ctx context.Context, t tester, h Harness, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := h.Publish(ctx, fmt.Sprint("k", i), fmt.Sprint("v", i)); err != nil {
			t.Fatal(err)
		}
	}
}

func open(ctx context.Context, t tester, h Harness, at source.Position) source.Stream {
	t.Helper()
	s, err := h.Open(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// take reads n messages, which must begin at a number, and returns the position after them.
func take(ctx context.Context, t tester, s source.Stream, from, n int) source.Position {
	t.Helper()
	at, last := s.Position(), int64(-1)
	for i := 0; i < n; {
		batch, err := s.Fetch(ctx, 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) == 0 || len(batch) > 7 {
			t.Fatalf("a batch of %d, want 1 to 7", len(batch))
		}
		for _, m := range batch {
			if at.Pass(m); m.Marker {
				continue
			}
			if string(m.Value) != fmt.Sprint("v", from+i) || m.Offset <= last || m.Time.IsZero() {
				t.Fatalf("message %d is %+v", from+i, m)
			}
			last = m.Offset
			i++
		}
	}
	return at
}

func readsEverythingInOrder(t tester, h Harness) {
	ctx := h.ctx
	publish(ctx, t, h, 0, 30)
	s := open(ctx, t, h, source.Position{})
	at := take(ctx, t, s, 0, 30)
	ends, err := s.Ends(ctx)
	if err != nil || at.Lag(ends) != 0 {
		t.Errorf("after everything the lag is %d: %v of %v, %v", at.Lag(ends), at, ends, err)
	}
	publish(ctx, t, h, 30, 33)
	if ends, err = s.Ends(ctx); err != nil || at.Lag(ends) != 3 {
		t.Errorf("three more are a lag of %d, %v", at.Lag(ends), err)
	}
	take(ctx, t, s, 30, 3)
	if err := s.Mark(ctx, at); err != nil {
		t.Error(err)
	}
}

func goesOnAtThePosition(t tester, h Harness) {
	ctx := h.ctx
	publish(ctx, t, h, 0, 14)
	s := open(ctx, t, h, source.Position{})
	batch, err := s.Fetch(ctx, 5)
	if err != nil || len(batch) == 0 {
		t.Fatal(batch, err)
	}
	at := s.Position()
	at.Pass(batch[0])
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(ctx, t, h, at)
	if got := s.Position(); got.Log != at.Log || got.Next[0] != at.Next[0] {
		t.Errorf("reading began at %v, want %v", got, at)
	}
	take(ctx, t, s, 1, 13)
}

func waitsWithoutLoss(t tester, h Harness) {
	ctx := h.ctx
	publish(ctx, t, h, 0, 1)
	s := open(ctx, t, h, source.Position{})
	take(ctx, t, s, 0, 1)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if batch, err := s.Fetch(short, 7); len(batch) > 0 && !batch[0].Marker || err == nil && len(batch) == 0 {
		t.Fatalf("nothing was published: %v, %v", batch, err)
	}
	publish(ctx, t, h, 1, 4)
	take(ctx, t, s, 1, 3)
}

func readsOneAgain(t tester, h Harness) {
	ctx := h.ctx
	publish(ctx, t, h, 0, 3)
	s := open(ctx, t, h, source.Position{})
	var offsets []int64
	for len(offsets) < 3 {
		batch, err := s.Fetch(ctx, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch {
			offsets = append(offsets, m.Offset)
		}
	}
	for range 2 {
		m, err := s.Read(ctx, 0, offsets[1])
		if err != nil || string(m.Value) != "v1" || m.Offset != offsets[1] {
			t.Fatalf("message %d is %+v, %v", offsets[1], m, err)
		}
	}
	if m, err := s.Read(ctx, 0, offsets[2]+100); !errors.Is(err, source.ErrGone) {
		t.Errorf("a message after the end is %+v, %v", m, err)
	}
	publish(ctx, t, h, 3, 5)
	take(ctx, t, s, 3, 2)
}

func anotherLogIsAGap(t tester, h Harness) {
	ctx := h.ctx
	publish(ctx, t, h, 0, 1)
	at := open(ctx, t, h, source.Position{}).Position()
	if at.Log = "x" + at.Log; at.Log == "x" {
		t.Skip("the broker does not tell streams apart")
	}
	if _, err := h.Open(ctx, at); !errors.Is(err, source.ErrGap) {
		t.Errorf("another log: %v", err)
	}
}

func theFutureIsAGap(t tester, h Harness) {
	ctx := h.ctx
	publish(ctx, t, h, 0, 3)
	s := open(ctx, t, h, source.Position{})
	at := take(ctx, t, s, 0, 3)
	at.Next[0] += 10
	if _, err := h.Open(ctx, at); !errors.Is(err, source.ErrGap) {
		t.Errorf("a position after the end: %v", err)
	}
}

func trimmedMessagesAreAGap(t tester, h Harness) {
	ctx := h.ctx
	publish(ctx, t, h, 0, 9)
	s := open(ctx, t, h, source.Position{})
	at := s.Position()
	batch, err := s.Fetch(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	at.Pass(batch[0])
	if err := h.Trim(ctx, at.Next[0]); err != nil {
		t.Fatal(err)
	}
	open(ctx, t, h, at)
	if err := h.Trim(ctx, at.Next[0]+3); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Open(ctx, at); !errors.Is(err, source.ErrGap) {
		t.Errorf("messages after the position were trimmed: %v", err)
	}
	take(ctx, t, open(ctx, t, h, source.Position{}), 4, 5)
}
