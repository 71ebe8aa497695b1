// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/rollup"
)

// stage is a cell with followers that a test steps one by one.
type stage struct {
	*testing.T
	at      *cell
	now     time.Time
	catalog rollup.Catalog
	// before, if set, runs before each update with its number from 1, and can make it fail.
	before func(n int) error
	n      int
}

func newStage(t *testing.T) *stage { return &stage{T: t, at: newCell(), now: time.UnixMilli(0)} }

func (s *stage) database() rollup.Database {
	db := database(&s.at)
	hooked := func(ctx context.Context, fn func(rollup.Tx) error) error {
		if s.before != nil {
			s.n++
			if err := s.before(s.n); err != nil {
				return err
			}
		}
		return db.Update(ctx, fn)
	}
	return rollup.Database{Update: hooked, View: db.View, Exclusive: hooked, Elsewhere: db.Elsewhere}
}

func (s *stage) follower(owner string) *rollup.Follower {
	return rollup.NewFollower(rollup.Options{Database: s.database(), Owner: owner, TTL: time.Second, Now: func() time.Time { return s.now }})
}

func (s *stage) update(fn func(*cell) error) {
	s.Helper()
	if err := database(&s.at).Update(s.Context(), func(tx rollup.Tx) error { return fn(tx.(*cell)) }); err != nil {
		s.Fatal(err)
	}
	s.catalog = sorted(s.at.rollups)
}

func (s *stage) put(city, tag string, places ...int64) {
	s.Helper()
	s.update(func(c *cell) error {
		for _, place := range places {
			c.put(rollup.Entities, place,
				&changelog.Image{Kind: "animal", Attributes: map[string][]string{"city": {city}, "tags": {tag}}})
		}
		return nil
	})
}

// define defines or rebuilds the rollup and returns the next generation.
func (s *stage) define() rollup.Version {
	s.Helper()
	d := definitions(`{ rollup: pets, kind: animal, group: tags, dimension: city, measures: { n: count, cities: { distinct: city } } }`)[0]
	var next *rollup.Version
	s.update(func(c *cell) error {
		r, changed, err := rollup.Define(s.Context(), c, d, s.now)
		if err == nil && !changed {
			r, err = rollup.Rebuild(s.Context(), c, d.Name, s.now)
		}
		next = r.Next
		return err
	})
	return *next
}

func (s *stage) step(f *rollup.Follower) rollup.Progress {
	s.Helper()
	p, err := f.Step(s.Context(), s.catalog)
	if err != nil || !p.Held {
		s.Fatalf("Step: %+v, %v", p, err)
	}
	return p
}

func (s *stage) build(f *rollup.Follower, v rollup.Version) {
	s.Helper()
	s.step(f)
	if err := f.Build(s.Context(), v, nil); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) freeze(from, to int64) (frozenFor bool) {
	s.Helper()
	s.update(func(c *cell) (err error) { frozenFor, err = rollup.Freeze(s.Context(), c, from, to); return err })
	return frozenFor
}

func (s *stage) cutOver(to int64) {
	s.Helper()
	s.update(func(c *cell) error {
		if done, err := rollup.CutOver(s.Context(), c, "pets", to); !done || err != nil {
			s.Fatalf("CutOver(%d) = %v, %v", to, done, err)
		}
		return nil
	})
}

// equal compares a generation that has caught up with the oracle.
func (s *stage) equal(number int64) {
	s.Helper()
	g := s.at.generations[number]
	part, err := s.database().Read(s.Context(), rollup.Query{Generation: number}, nil)
	if err != nil {
		s.Fatal(err)
	}
	groups, _ := rollup.Merge(&g.Definition, []*rollup.Part{part}, 0)
	got, want := shown(&g.Definition, groups), naive(&g.Definition, sorted(s.at.things[rollup.Entities]))
	if !slices.Equal(got, want) {
		s.Errorf("generation %d at %d of %d is\n%s\nwant\n%s", number, g.Watermark, s.at.bounds.Last, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	if v, err := s.database().Verify(s.Context(), number, nil); err != nil || v.Differs != 0 {
		s.Errorf("Verify = %+v, %v", v, err)
	}
}

// A build that was paused while its lease expired and was reacquired does not continue: another process has
// restarted the build in between.
func TestP05_ABuildDoesNotOutliveItsLease(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("a", "ears", 1, 2, 3)
	s.put("b", "wings", 4, 5, 6)
	s.put("c", "fur", 7)
	v := s.define()
	a, b := s.follower("a"), s.follower("b")
	s.step(a)
	away := func() {
		s.before = nil
		if err := a.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.put("b", "feathers", 1, 2, 3, 7)
		s.step(b)
		s.n, s.before = 0, func(n int) error {
			if n > 3 { // the rows are written, the generation is still filling
				return errors.New("killed")
			}
			return nil
		}
		if err := b.Build(t.Context(), v, nil); err == nil {
			t.Fatal("the second build came to its end")
		}
		s.before = nil
		if err := b.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.step(a)
	}
	s.before = func(n int) error {
		if n == 4 { // it has stored the generation, dropped rows and requested images, and would write next
			away()
		}
		return nil
	}
	if err := a.Build(t.Context(), v, nil); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the first build says %v", err)
	}
	if p := s.step(a); len(p.Missing) == 1 {
		s.build(a, p.Missing[0])
	}
	s.step(a)
	s.equal(v.Generation)
}

// Changes committed during a build stay in the log until the generation has applied them.
func TestP05_TheLogIsKeptWhileAGenerationIsBuilt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("a", "ears", 1, 2, 3)
	v := s.define()
	f := s.follower("a")
	s.step(f)
	s.before = func(n int) error {
		if n > 3 { // the snapshot was counted
			s.put("b", "ears", 1)
			s.put("c", "wings", int64(n))
			s.update(func(c *cell) error {
				_, err := rollup.Trim(s.Context(), c, s.now.AddDate(1, 0, 0), nil, 100)
				return err
			})
		}
		return nil
	}
	if err := f.Build(t.Context(), v, nil); err != nil {
		t.Fatal(err)
	}
	if bounds := s.at.bounds; bounds.Trimmed == 0 || bounds.Trimmed == bounds.Last {
		t.Errorf("the log was trimmed up to %d of %d", bounds.Trimmed, bounds.Last)
	}
	s.before = nil
	s.step(f)
	s.equal(v.Generation)
}

// A process with an old catalogue does not freeze a generation for one that is no longer planned.
func TestP05_AnOldCatalogueStopsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("a", "ears", 1, 2)
	f := s.follower("a")
	first := s.define()
	s.build(f, first)
	s.cutOver(first.Generation)
	second := s.define()
	s.build(f, second)
	third := s.define()
	s.build(f, third)
	if !s.freeze(first.Generation, third.Generation) {
		t.Error("the first generation does not stand still for the third")
	}
	if s.freeze(first.Generation, second.Generation) {
		t.Error("the first generation stands still for the second, which is not to come any more")
	}
	s.put("b", "ears", 1)
	s.step(f)
	s.cutOver(third.Generation)
	if g, h := s.at.generations[first.Generation], s.at.generations[third.Generation]; g.Watermark > h.Watermark {
		t.Errorf("the first generation is at %d, the third at %d", g.Watermark, h.Watermark)
	}
	s.equal(third.Generation)
}

// A generation that no longer serves stays frozen until it is erased, so that a reader with an old catalogue is
// not ahead.
func TestP05_WhatServedIsNotAheadOfWhatServes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("a", "ears", 1, 2)
	f := s.follower("a")
	for range 4 {
		v := s.define()
		s.build(f, v)
		if !s.freeze(v.Generation-1, v.Generation) {
			t.Fatal("it is not frozen")
		}
		if v.Generation < 4 {
			s.cutOver(v.Generation)
		}
	}
	s.put("b", "ears", 1)
	s.step(f)
	serves := s.at.generations[3]
	for _, number := range []int64{1, 2} {
		if g := s.at.generations[number]; g.Watermark > serves.Watermark {
			t.Errorf("generation %d, which served, is at %d; what serves is at %d", number, g.Watermark, serves.Watermark)
		}
	}
	s.cutOver(4)
	if p := s.step(f); !slices.Equal(p.Left, []int64{1, 2, 3}) {
		t.Errorf("left are %v", p.Left)
	}
}

// A process that has just acquired the lease rereads the catalogue before it builds: the generation may have been
// built, served and erased by the previous owner.
func TestP05_AnOldCatalogueBuildsNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.put("a", "ears", 1, 2)
	a, b := s.follower("a"), s.follower("b")
	first := s.define()
	old := s.catalog
	s.build(a, first)
	s.cutOver(first.Generation)
	s.build(a, s.define())
	s.cutOver(2)
	if err := a.Erase(t.Context(), first.Generation); err != nil {
		t.Fatal(err)
	}
	if err := a.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.catalog = append(rollup.Catalog{{Name: "another", Last: 2}}, old...) // new enough to name the number 2
	if p := s.step(b); !p.Old || len(p.Missing) > 0 {
		t.Errorf("the new owner is to build %+v", p)
	}
	s.catalog = sorted(s.at.rollups)
	if p := s.step(b); p.Old || len(p.Missing) > 0 {
		t.Errorf("with the new catalogue: %+v", p)
	}
}
