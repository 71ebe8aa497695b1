// SPDX-License-Identifier: Apache-2.0

package lease_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	mute   bool // the reply to the next write is lost
	writes int  // update transactions
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
		Update: func(ctx context.Context, fn func(lease.Store) error) error {
			s.writes++
			return s.transaction(ctx, fn)
		},
		View: s.transaction,
	})
}

// take tries once and reports whether the holder has the lease.
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
	if !take(t, a) { // a renewal
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
		t.Errorf("an authority that does not answer: %v, %v; no other process can take it either", held, err)
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

// If two processes believe that they hold the lease, the older one has a token below the fence of the younger one,
// whatever is stopped or restarted.
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

func TestHolder_TheOwnerDoesWhatOthersAskFor(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	if number, err := a.Ask(t.Context(), 1, "x"); number != 0 || err != nil {
		t.Fatalf("no process has the lease, and a asks for %d: %v", number, err)
	}
	first, err := b.Ask(t.Context(), 1, "x y")
	second, err2 := b.Ask(t.Context(), 1, "z")
	if err := errors.Join(err, err2); err != nil || first == 0 || second <= first {
		t.Fatalf("b asks for %d and %d: %v", first, second, err)
	}
	l, free, err := a.Look(t.Context())
	if err != nil || !free {
		t.Fatalf("a looks: %v, %v", free, err)
	}
	if asks, all := l.Open(); all || !slices.Equal(asks, []string{"x y", "z"}) {
		t.Errorf("a hears %q, everything %v", asks, all)
	}
	if err := a.Finish(t.Context(), first, false); err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int64]bool{first: true, second: false} {
		if done, err := b.Wait(t.Context(), 1, number); err != nil || done != want {
			t.Errorf("number %d is done: %v, %v", number, done, err)
		}
	}
	// The owner is gone: the waiting process acquires the lease together with the pending requests.
	s.now = s.now.Add(ttl)
	if done, err := b.Wait(t.Context(), 1, second); err != nil || done {
		t.Errorf("done %v: %v", done, err)
	}
	held, mine := b.Held()
	if asks, _ := held.Open(); !mine || !slices.Equal(asks, []string{"z"}) {
		t.Errorf("b has %+v, %v", held, mine)
	}
	if err := a.Finish(t.Context(), second, false); !errors.Is(err, lease.ErrLost) {
		t.Errorf("a finishes what it does not have: %v", err)
	}
}

func TestHolder_ManyAsksAreForEverything(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	take(t, a)
	for i := range 2000 {
		if _, err := b.Ask(t.Context(), 1, fmt.Sprint("cell ", i)); err != nil {
			t.Fatal(err)
		}
	}
	l, _, err := a.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, all := l.Open(); !all || len(l.Asks) > 5000 {
		t.Errorf("everything: %v, in %d bytes", all, len(l.Asks))
	}
	if err := a.Finish(t.Context(), l.Asked, false); err != nil {
		t.Fatal(err)
	}
	if l, _ := a.Held(); l.Asks != "" || l.Done != l.Asked {
		t.Errorf("left is %+v", l)
	}
}

func TestHolder_RobbedOwnersHaveMorePatience(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	take(t, a)
	last := ttl
	for i := range 6 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		take(t, to)
		s.now = s.now.Add(last)
		if !take(t, to) {
			t.Fatalf("not taken from a silent owner after %v", last)
		}
		from.Lost()
		l, _ := to.Held()
		if want := min(2*last, lease.MaxTTL*ttl); l.TTL != want {
			t.Errorf("taken over %d times, others wait for %v, want %v", i+1, l.TTL, want)
		}
		last = l.TTL
	}
	owner := b
	if _, mine := a.Held(); mine {
		owner = a
	}
	for range 200 {
		s.now = s.now.Add(ttl / 2)
		if err := owner.Beat(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if l, _ := owner.Held(); l.TTL != ttl {
		t.Errorf("after many signs of life others wait for %v, want %v", l.TTL, ttl)
	}
}

func TestHolder_AnOwnerThatPausesSaysSo(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	take(t, a)
	a.Pause(10 * ttl)
	take(t, a)
	take(t, b)
	s.now = s.now.Add(20 * ttl)
	if take(t, b) {
		t.Fatal("b takes it from an owner that said that it would pause")
	}
	a.Pause(0)
	take(t, a)
	take(t, b)
	s.now = s.now.Add(ttl)
	if !take(t, b) {
		t.Error("b does not take it from an owner that said that it was back")
	}
}

// The lease is lost if token or owner differ: a restored cell issues tokens again.
func TestHolder_LookFindsThatItIsLost(t *testing.T) {
	t.Parallel()
	for _, l := range []lease.Lease{{Owner: "b", Token: 1}, {Owner: "a", Token: 2}, {Owner: "b", Token: 2}} {
		s := newShelf()
		a := s.holder("a")
		take(t, a)
		s.leases["work"] = l
		got, free, err := a.Look(t.Context())
		if _, mine := a.Held(); got != l || free || mine || !errors.Is(err, lease.ErrLost) {
			t.Errorf("of %+v a says %+v, free %v, mine %v: %v", l, got, free, mine, err)
		}
	}
}

// An update transaction locks the row, and the owner would wait for it.
func TestHolder_ALeaseOfAnotherIsOnlyRead(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a, b := s.holder("a"), s.holder("b")
	take(t, a)
	take(t, b) // sets Wanted
	before := s.writes
	for range 3 {
		if take(t, b) {
			t.Fatal("b has the lease of a")
		}
		if held, err := b.Try(t.Context(), 1); held || err != nil {
			t.Fatalf("b has the lease of a: %v, %v", held, err)
		}
	}
	if s.writes != before {
		t.Errorf("%d transactions that may write", s.writes-before)
	}
}
