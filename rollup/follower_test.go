// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/rollup"
)

// The owner of the lease learns that another process wants it only if that one does.
func TestFollower_SaysThatItWantsTheCell(t *testing.T) {
	t.Parallel()
	for _, wants := range []bool{false, true} {
		s := newStage(t)
		s.step(s.follower("a"))
		b := rollup.NewFollower(rollup.Options{
			Database: s.database(), Owner: "b", TTL: time.Second, Now: func() time.Time { return s.now }, Wants: func() bool { return wants },
		})
		if p, err := b.Step(t.Context(), s.catalog); err != nil || p.Held {
			t.Fatalf("b follows the cell of a: %+v, %v", p, err)
		}
		if told := s.at.leases[rollup.LeaseName].Wanted; told != wants {
			t.Errorf("b wants it: %v, a is told: %v", wants, told)
		}
	}
}

// serving returns a follower and the generation over three entities that it built and that serves.
func (s *stage) serving() (*rollup.Follower, rollup.Version) {
	s.put("a", "ears", 1, 2, 3)
	first := s.define()
	f := s.follower("a")
	s.build(f, first)
	s.cutOver(first.Generation)
	s.step(f)
	return f, first
}

// A generation frozen for the newest one continues once that one will not come any more.
func TestP05_AGenerationGoesOnAfterTheNewestIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	f, first := s.serving()
	s.put("b", "wings", 2)
	next := s.define()
	s.build(f, next)
	s.step(f)
	if !s.freeze(first.Generation, next.Generation) {
		t.Fatal("the first generation does not stand still")
	}
	s.put("c", "fur", 1, 4)
	s.step(f)
	if g := s.at.generations[first.Generation]; g.Watermark == s.at.bounds.Last {
		t.Fatalf("generation %d does not stand still: %+v", first.Generation, g)
	}
	s.catalog[0].Next = nil // it cannot be built
	s.step(f)
	s.equal(first.Generation)
}

// A watermark beyond the end of the log, which only damage explains, stops the generation before it skips a change; and
// a rebuild replaces it.
func TestP09_AWatermarkBeyondTheLogIsSaidAndRebuilt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	f, first := s.serving()
	s.update(func(c *cell) error {
		g := c.generations[first.Generation]
		g.Watermark ^= 4096
		c.generations[first.Generation] = g
		return nil
	})
	s.step(f)
	if g := s.at.generations[first.Generation]; g.State != rollup.Failed || !strings.Contains(g.Reason, "rebuild") {
		t.Errorf("generation %+v, want it failed, with the advice to rebuild it", g)
	}
	s.put("b", "wings", 2)
	next := s.define()
	s.build(f, next)
	s.step(f)
	if !s.freeze(first.Generation, next.Generation) {
		t.Fatal("the rebuilt generation is not ready to serve")
	}
	s.cutOver(next.Generation)
	s.step(f)
	s.equal(next.Generation)
}
