// SPDX-License-Identifier: Apache-2.0

package lease_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/lease"
)

const ttl = 3 * time.Second

// shelf keeps leases in memory.
type shelf struct {
	leases map[string]lease.Lease
	now    time.Time
	down   bool // nothing can be read or written
	mute   bool // the answer to the next write is lost
}

var errDown, errMute = errors.New("no answer"), errors.New("answer lost")

func newShelf() *shelf {
	return &shelf{leases: map[string]lease.Lease{}, now: time.Unix(1_700_000_000, 0)}
}

func (s *shelf) Lease(_ context.Context, name string) (lease.Lease, error) {
	return s.leases[name], nil
}

func (s *shelf) PutLease(_ context.Context, name string, l lease.Lease) error {
	s.leases[name] = l
	return nil
}

func (s *shelf) transaction(_ context.Context, fn func(lease.Store) error) error {
	if s.down {
		return errDown
	}
	before := s.leases["work"]
	if err := fn(s); err != nil {
		s.leases["work"] = before
		return err
	}
	if s.mute && s.leases["work"] != before {
		s.mute = false
		return errMute
	}
	return nil
}

func (s *shelf) holder(owner string) *lease.Holder {
	return lease.NewHolder(lease.Options{
		Name: "work", Owner: owner, TTL: ttl, Now: func() time.Time { return s.now },
		Update: s.transaction, View: s.transaction,
	})
}

// take tries once and says whether the holder has the lease.
func take(t *testing.T, h *lease.Holder) bool {
	t.Helper()
	held, err := h.Take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func TestHolder_OneAtATime(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	if !take(t, a) || take(t, b) {
		t.Fatal("a must have it and b not")
	}
	if wanted, err := a.Wanted(t.Context()); err != nil || !wanted {
		t.Fatalf("a is not told that b waits: %v, %v", wanted, err)
	}
	if err := a.Give(t.Context()); err != nil {
		t.Fatal(err)
	}
	if take(t, a) {
		t.Error("a takes it back before b has had a chance")
	}
	if !take(t, b) {
		t.Fatal("b does not get what a gave back")
	}
	if l, _ := b.Held(); l.Token != 2 || l.Fence != 0 || l.Wanted {
		t.Errorf("b has %+v: given back, so nothing has to be fenced", l)
	}
}

func TestHolder_AGiverMayHaveItBackIfNobodyComes(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	take(t, a)
	take(t, b)
	if err := a.Give(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(time.Second)
	if !take(t, a) {
		t.Error("b never came, and a waits for ever")
	}
}

func TestHolder_SilentOwnersAreReplacedAndFenced(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	take(t, a)
	take(t, b)
	s.now = s.now.Add(ttl - time.Millisecond)
	if take(t, b) {
		t.Fatal("b takes it before the TTL is over")
	}
	if !take(t, a) { // a sign of life
		t.Fatal("a lost it")
	}
	s.now = s.now.Add(ttl - time.Millisecond)
	if take(t, b) {
		t.Fatal("b takes it though a was alive")
	}
	s.now = s.now.Add(ttl)
	if !take(t, b) {
		t.Fatal("b does not take it from a silent owner")
	}
	if l, _ := b.Held(); l.Token != 2 || l.Fence != 2 {
		t.Errorf("b has %+v: tokens below its own must be refused", l)
	}
	s.now = s.now.Add(ttl)
	if _, err := a.Take(t.Context(), 1); !errors.Is(err, lease.ErrLost) {
		t.Errorf("a goes on after it was replaced: %v", err)
	}
	if _, held := a.Held(); held {
		t.Error("a believes that it holds the lease")
	}
}

func TestHolder_EpochsOnlyRise(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	if _, err := a.Take(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Take(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	if err := a.Give(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Take(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	if l, _ := b.Held(); l.Epoch != 9 {
		t.Errorf("b knows of epoch %d, a worked with 9", l.Epoch)
	}
}

func TestHolder_ErrorsLoseNothing(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a := s.holder("a")
	take(t, a)
	s.now, s.down = s.now.Add(2*ttl), true
	if held, err := a.Take(t.Context(), 1); !held || !errors.Is(err, errDown) {
		t.Errorf("an authority that does not answer: %v, %v; nobody else can take it either", held, err)
	}
	s.down, s.mute = false, true
	b := s.holder("b")
	if err := a.Give(t.Context()); !errors.Is(err, errMute) {
		t.Fatal(err)
	}
	if !take(t, b) {
		t.Error("given back with a lost answer, and b does not get it")
	}
}

// Whatever stops and starts, of two processes that believe they hold the lease the older one has a token
// below the fence of the younger one.
func TestHolder_OldOwnersAreBelowTheFence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		s := newShelf()
		var all []*lease.Holder
		for i := range 3 {
			all = append(all, s.holder(fmt.Sprint("process ", i)))
		}
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			h := all[rapid.IntRange(0, 2).Draw(t, "who")]
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1, 2:
				_, _ = h.Take(ctx, 1)
			case 3:
				_ = h.Give(ctx)
			case 4:
				_, _ = h.Wanted(ctx)
			case 5:
				s.mute = rapid.Bool().Draw(t, "the next answer is lost")
			}
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			now := s.leases["work"]
			for _, h := range all {
				if l, held := h.Held(); held && l.Token != now.Token && l.Token >= now.Fence {
					t.Fatalf("token %d still writes while the lease is %+v", l.Token, now)
				}
			}
		}
	})
}

func TestHolder_TryDoesNotAskForIt(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	ctx := t.Context()
	if held, err := b.Try(ctx, 1); !held || err != nil {
		t.Fatalf("a free lease: %v, %v", held, err)
	}
	for range 2 {
		if held, err := a.Try(ctx, 1); held || err != nil {
			t.Fatalf("a lease that is held: %v, %v", held, err)
		}
	}
	if wanted, err := b.Wanted(ctx); wanted || err != nil {
		t.Errorf("the owner is told that it is wanted: %v, %v", wanted, err)
	}
	if got := a.Seen(); got.Owner != "b" || got.Token != 1 {
		t.Errorf("seen was %+v", got)
	}
	if got := b.Seen(); got != (lease.Lease{}) {
		t.Errorf("the owner has seen %+v", got)
	}
	s.now = s.now.Add(ttl)
	if held, err := a.Try(ctx, 1); !held || err != nil {
		t.Errorf("a lease whose owner is gone: %v, %v", held, err)
	}
	if l, _ := a.Held(); l.Token != 2 || l.Fence != 2 {
		t.Errorf("it was taken over as %+v", l)
	}
}
