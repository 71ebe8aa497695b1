// SPDX-License-Identifier: Apache-2.0

package changelogtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
)

func image(n int64) *changelog.Image {
	return &changelog.Image{Sources: []string{"osm"}, Attributes: entity.Attributes{"name": {fmt.Sprint("Joe's ", n)}}}
}

func imagesComeBackWhole(t tester, c Cell) {
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprint("value ", i))
	}
	awkward := []string{"", `"`, `\`, `\"`, "\x00\x1f\x7f", "a\tb\r\nc", `\u0041`, "</script>&", "\u2028\u2029",
		"寿司\U0010ffff", "e\u0301", "\ufeff", "null"}
	attributes := entity.Attributes{"": {""}, "many": many, "long": {strings.Repeat("寿", 5000)},
		"the same twice": {"a", "a"}}
	for _, name := range awkward {
		attributes[name] = awkward
	}
	images := []*changelog.Image{
		nil,
		{},
		{Sources: []string{"osm"}, Outcome: changelog.OutcomeCreated},
		{Sources: []string{"a", "b"}, Outcome: changelog.OutcomeMatched, Attributes: attributes},
		{Sources: awkward, Attributes: entity.Attributes{}},
		{Outcome: "other"},
		image(1),
	}
	var want []changelog.Change
	for i, was := range images {
		is := images[(i+1)%len(images)]
		for _, kind := range []changelog.Kind{changelog.Changed, changelog.Assigned} {
			w := change(int64(i))
			w.Kind, w.Was, w.Is = kind, was, is
			want = append(want, w)
		}
	}
	appendChanges(t, c, want...)
	got := changesAfter(t, c, 0, everything)
	wantChanges(t, got, want)
	for i, g := range got {
		if (g.Was == nil) != (want[i].Was == nil) || (g.Is == nil) != (want[i].Is == nil) {
			t.Fatalf("change %d has images %v and %v, want %v and %v", i, g.Was, g.Is, want[i].Was, want[i].Is)
		}
	}
}

func wantBounds(t tester, c Cell, want changelog.Bounds) {
	t.Helper()
	if got := boundsOf(t, c); got != want {
		t.Fatalf("the ends of the log are %+v, want %+v", got, want)
	}
}

func boundsOfTheLog(t tester, c Cell) {
	wantBounds(t, c, changelog.Bounds{})
	for n := range int64(3) {
		appendChanges(t, c, series(10*n, 1+n)...)
		all := changesAfter(t, c, 0, everything)
		wantBounds(t, c, changelog.Bounds{Last: all[len(all)-1].Seq})
	}
}

// trimsTheOldest trims in portions, and repeats a complete trim.
func trimsTheOldest(t tester, c Cell) {
	appendChanges(t, c, series(1, 10)...)
	all := changesAfter(t, c, 0, everything)
	upTo, last := all[6].Seq, all[9].Seq
	for i, want := range []struct{ n, gone int }{{3, 3}, {3, 6}, {1, 7}, {0, 7}} {
		if n := trim(t, c, upTo, 3); n != want.n {
			t.Fatalf("call %d trimmed %d changes, want %d", i, n, want.n)
		}
		wantBounds(t, c, changelog.Bounds{Trimmed: all[want.gone-1].Seq, Last: last})
		wantChanges(t, changesAfter(t, c, all[want.gone-1].Seq, everything), series(1, 10)[want.gone:])
	}
	for _, nothing := range []struct {
		upTo  changelog.Seq
		limit int
	}{{all[2].Seq, 10}, {0, 10}, {-1, 10}, {math.MinInt64, 10}, {last, 0}} {
		if n := trim(t, c, nothing.upTo, nothing.limit); n != 0 {
			t.Fatalf("at most %d changes up to %d were trimmed, and those up to %d are gone: %d", nothing.limit,
				nothing.upTo, upTo, n)
		}
		wantBounds(t, c, changelog.Bounds{Trimmed: upTo, Last: last})
	}
	conformance.Update(t, c.Update, func(ctx context.Context, s changelog.Store) error {
		n, err := s.Trim(ctx, all[7].Seq, everything)
		b, err2 := s.Bounds(ctx)
		left, err3 := s.Changes(ctx, all[7].Seq, everything)
		if n != 1 || b != (changelog.Bounds{Trimmed: all[7].Seq, Last: last}) || len(left) != 2 {
			return fmt.Errorf("in the transaction that trims one of three, %d went, the ends are %+v, %d are left", n,
				b, len(left))
		}
		return errors.Join(err, err2, err3)
	})
	if c.Reopen != nil {
		conformance.Reopen(t, c.Reopen)
		wantBounds(t, c, changelog.Bounds{Trimmed: all[7].Seq, Last: last})
	}
}

// trimmedIsAnError reads changes that were trimmed. The transaction continues after the error.
func trimmedIsAnError(t tester, c Cell) {
	appendChanges(t, c, series(1, 5)...)
	all := changesAfter(t, c, 0, everything)
	trim(t, c, all[2].Seq, everything)
	conformance.Update(t, c.Update, func(ctx context.Context, s changelog.Store) error {
		for _, after := range []changelog.Seq{math.MinInt64, -1, 0, all[0].Seq, all[2].Seq - 1} {
			if got, err := s.Changes(ctx, after, everything); !errors.Is(err, changelog.ErrTrimmed) || len(got) > 0 {
				return fmt.Errorf("%d changes after %d, %w, and those up to %d were trimmed: want ErrTrimmed", len(got), after,
					err, all[2].Seq)
			}
		}
		for i, after := range []changelog.Seq{all[2].Seq, all[3].Seq, all[4].Seq} {
			if got, err := s.Changes(ctx, after, everything); err != nil || len(got) != 2-i {
				return fmt.Errorf("%d changes after %d, %w, want %d", len(got), after, err, 2-i)
			}
		}
		return s.Append(ctx, series(6, 1))
	})
	wantChanges(t, changesAfter(t, c, all[2].Seq, everything), series(4, 3))
}

// neverTrimsAhead trims beyond the end: later changes are kept, with numbers of their own.
func neverTrimsAhead(t tester, c Cell) {
	for n, upTo := range []changelog.Seq{math.MaxInt64, math.MaxInt64, 1 << 40} {
		before := boundsOf(t, c)
		if got := trim(t, c, upTo, everything); got != min(n, 1)*3 {
			t.Fatalf("%d changes were trimmed of %d", got, min(n, 1)*3)
		}
		wantBounds(t, c, changelog.Bounds{Trimmed: before.Last, Last: before.Last})
		appendChanges(t, c, series(int64(10*n), 3)...)
		got := changesAfter(t, c, before.Last, everything)
		wantChanges(t, got, series(int64(10*n), 3))
		if got[0].Seq <= before.Last {
			t.Fatalf("number %d was given after %d, which is trimmed", got[0].Seq, before.Last)
		}
	}
}

func trimmingRollsBack(t tester, c Cell) {
	appendChanges(t, c, series(1, 5)...)
	before := boundsOf(t, c)
	conformance.Ends(t, c.Update, true, func(ctx context.Context, s changelog.Store) error {
		_, err := s.Trim(ctx, before.Last, 3)
		return err
	})
	wantBounds(t, c, before)
	wantChanges(t, changesAfter(t, c, 0, everything), series(1, 5))
}
